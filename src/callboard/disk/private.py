"""Files and folders that no one else may open, regardless of the umask."""

import errno
import os
import stat

from callboard.disk.files import OPENS_FOLDERS, PRIVATE, open_shared, open_to_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_OTHERS = 0o077


def open_private(path: "Path", flags: int = 0) -> int:
    """Open a file for reading and writing, creating it with mode 0600; returns its descriptor.

    A link in its place is not followed, but an error.
    """
    file = open_shared(path, flags)
    # On Windows, a person's folders are private, and files have no mode of their own.
    if OPENS_FOLDERS and os.fstat(file).st_mode & 0o777 != PRIVATE:
        os.fchmod(file, PRIVATE)
    return file


def open_own(path: "str | Path") -> int:
    """Open a regular file of our user to read it; returns its descriptor.

    A link in its place is not followed, but an error, and so is another user's file.
    """
    file = open_to_read(path)
    try:
        if not is_own(os.fstat(file)):
            raise OSError(errno.EPERM, "it belongs to another user", str(path))
    except BaseException:
        os.close(file)
        raise
    return file


def is_own(found: os.stat_result) -> bool:
    """Whether it belongs to our user. Windows doesn't say, but has private folders."""
    return not OPENS_FOLDERS or found.st_uid == os.geteuid()


def make_private_folder(path: "Path") -> None:
    """Create a folder with mode 0700, and its parents, if it doesn't exist."""
    if not path.is_dir():
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)


def make_own_folder(path: "Path") -> None:
    """The same for a folder with a predictable name.

    A link in its place is refused, and so is another user's folder. Others lose their permissions.
    """
    if not path.is_symlink():
        make_private_folder(path)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise OSError(
            errno.ELOOP, "it is a link to somewhere else. Remove the link, and try again", str(path)
        )
    if not is_own(found):
        raise OSError(errno.EPERM, "it belongs to another user", str(path))
    if OPENS_FOLDERS and found.st_mode & _OTHERS:
        path.chmod(0o700)
