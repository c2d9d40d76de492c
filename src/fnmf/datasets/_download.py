"""Fetching an original public file: cut transfers are continued, the checksum is proved."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fnmf.datasets._files import MAX_BYTES, DataFileError

ATTEMPTS = 3
TIMEOUT_SECONDS = 20
_PIECE = 2**16


class DownloadError(OSError):
    """A file could not be brought here."""


def _part(target: Path, url: str) -> Path:
    # One part for each address: bytes of two servers are never joined.
    tag = hashlib.sha256(url.encode()).hexdigest()[:8]
    return target.with_name(f"{target.name}.{tag}.part")


def _transfer(url: str, part: Path) -> None:
    """Append to the part what is still missing."""
    import requests

    have = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_SECONDS) as response:
        if response.status_code == 416:  # the part is longer than the file: start again
            part.unlink()
            raise requests.exceptions.ConnectionError("the server refused to continue the transfer")
        response.raise_for_status()
        continued = response.status_code == 206
        written = have if continued else 0
        with part.open("ab" if continued else "wb") as stream:
            for piece in response.iter_content(_PIECE):
                written += len(piece)
                if written > MAX_BYTES:
                    raise DataFileError(f"{url} sends more than {MAX_BYTES} bytes; stopped.")
                stream.write(piece)


def _resuming(target: Path) -> Callable[[str, str, Any], None]:
    """A downloader for pooch that continues where the last transfer was cut."""

    def download(url: str, output_file: str, _pooch: Any) -> None:
        import requests

        part = _part(target, url)
        for attempt in range(ATTEMPTS):
            try:
                _transfer(url, part)
                break
            except requests.exceptions.HTTPError:
                raise
            except requests.exceptions.RequestException:
                if attempt == ATTEMPTS - 1:
                    raise
        shutil.move(part, output_file)

    return download


def fetch(url: str, target: Path, sha256: str | None) -> None:
    """Bring one file to ``target``, unharmed.

    Raises
    ------
    DownloadError
        With the address and the reason.
    """
    try:
        import pooch
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'downloading needs pooch; install it with: pip install "fnmf[data]"'
        ) from error
    import requests

    pooch.get_logger().setLevel("WARNING")
    try:
        pooch.retrieve(
            url,
            known_hash=None if sha256 is None else f"sha256:{sha256}",
            fname=target.name,
            path=target.parent,
            downloader=_resuming(target),
        )
    except requests.exceptions.ConnectionError as error:
        raise DownloadError(f"{url}: no connection") from error
    except (requests.exceptions.RequestException, ValueError, OSError) as error:
        raise DownloadError(f"{url}: {error}") from error
