"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

Of the libraries that fnmf cannot do without, and of those that test it; extras come in whatever
versions go with these.
"""

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))


def lowest(requirement: str) -> str | None:
    """``numpy==2.0.*`` from ``numpy>=2.0``; nothing without a bound."""
    found = re.fullmatch(r"([\w.-]+)>=([\d.]+)", requirement)
    return f"{found[1]}=={found[2]}.*" if found else None


if __name__ == "__main__":
    wanted = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["test"]
    print(*filter(None, map(lowest, wanted)), sep="\n")
