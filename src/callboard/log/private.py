"""Files and folders that nobody else may open, whatever the umask says."""

import os
from pathlib import Path


def open_private(path: Path, flags: int = 0) -> int:
    """Open a file for reading and writing, created with mode 0600; returns its descriptor."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)
    if os.fstat(file).st_mode & 0o777 != 0o600:
        os.fchmod(file, 0o600)
    return file


def make_private_folder(path: Path) -> None:
    """Make a folder with mode 0700, and those above it, unless it is there."""
    if not path.is_dir():
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
