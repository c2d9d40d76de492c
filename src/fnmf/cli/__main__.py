"""``python -m fnmf.cli`` is the ``fnmf`` command."""

from fnmf.cli import main

main()
