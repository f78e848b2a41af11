"""Write, create, lock and read one file, whatever someone else has put in its place.

A new file has a random name and is opened with O_EXCL and O_NOFOLLOW, so that no one can plant a
link there. Only built-in modules are imported: a hook has ten milliseconds.
"""

import errno
import sys

try:
    import posix
except ImportError:  # Windows. There, `os` has most of the same.
    import os as posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    File = str | PathLike[str]

PRIVATE = 0o600
"""The mode of files that no one else may open."""

# Windows has only the last one: without it, it would change the ends of lines. Its files are closed
# in new programs anyway, and people need a right of their own to make links.
NOFOLLOW: int = getattr(posix, "O_NOFOLLOW", 0)
NONBLOCK: int = getattr(posix, "O_NONBLOCK", 0)
CLOEXEC: int = getattr(posix, "O_CLOEXEC", 0)
DIRECTORY: int = getattr(posix, "O_DIRECTORY", 0)
BINARY: int = getattr(posix, "O_BINARY", 0)

OPENS_FOLDERS = DIRECTORY != 0
"""Whether a folder can be open, so that no one can swap it for another: not on Windows."""

_NEW = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | NOFOLLOW | CLOEXEC | BINARY
# NONBLOCK: opening a pipe must not block. It has no effect on regular files.
_SHARED = posix.O_RDWR | posix.O_CREAT | NOFOLLOW | NONBLOCK | CLOEXEC | BINARY
_READ = posix.O_RDONLY | NONBLOCK | CLOEXEC | BINARY
_FOLDER = posix.O_RDONLY | DIRECTORY | CLOEXEC
_KIND, _REGULAR = 0o170000, 0o100000
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_PART = 1_048_576


def replace(
    file: "File",
    data: bytes,
    *,
    mode: int | None = PRIVATE,
    lasting: bool = True,
    folder: int | None = None,
    ready: "Callable[[int], object] | None" = None,
) -> None:
    """Atomically replace whatever has this name with a file. A link is replaced, not followed.

    Args:
        file: the path; with `folder`, the name inside it.
        data: the complete content.
        mode: the mode, regardless of the umask; None leaves it to the umask.
        lasting: whether it is on disk when this returns. Not needed for what can be recreated.
        folder: an open folder, so that no one can swap it for another in the meantime.
        ready: called with the descriptor before the file gets its name; an error keeps the old
            file.
    """
    with _Folder(file, folder) as (opened, name):
        draft = _draft(name)
        _written(draft, opened, data, mode, lasting, ready)
        try:
            _rename(draft, name, opened, lasting)
        except BaseException:
            _drop(draft, opened)
            raise


def put_in_place(draft: "File", file: "File") -> None:
    """Rename a finished draft to a file in the same folder; it is on disk when this returns."""
    with _Folder(file, None) as (opened, name):
        there = posix.fspath(draft)
        _rename(there.rpartition("/")[2] if OPENS_FOLDERS else there, name, opened, True)


def add(file: "File", data: bytes) -> None:
    """Create a complete file with mode 0600, on disk; FileExistsError if the name is taken."""
    with _Folder(file, None) as (opened, name):
        draft = _draft(name)
        _written(draft, opened, data)
        try:
            _link(draft, name, opened)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # No hard links on this disk: a crash may leave half a file, but nothing is overwritten.
            _written(name, opened, data)
        finally:
            _drop(draft, opened)
        if opened is not None:
            flush(opened)


def open_shared(
    file: "File", flags: int = 0, *, mode: int = PRIVATE, folder: int | None = None
) -> int:
    """Open a permanent file to read, write or lock it; creates it if necessary.

    A link, a pipe or a device in its place is an error.
    """
    with _Folder(file, folder) as (opened, name):
        found = posix.open(name, _SHARED | flags, mode, dir_fd=opened)
    try:
        _check_regular(found, file)
    except BaseException:
        posix.close(found)
        raise
    return found


def read(file: "File", largest: int, *, follow: bool = False, folder: int | None = None) -> bytes:
    """Read a regular file of at most `largest` bytes; anything else is an error right away.

    follow: whether the name may be a link.
    """
    opened = open_to_read(file, follow=follow, folder=folder)
    try:
        if posix.fstat(opened).st_size > largest:
            raise _too_large(file, largest)
        parts: list[bytes] = []
        left = largest + 1
        while left > 0 and (part := posix.read(opened, min(left, _PART))):
            parts.append(part)
            left -= len(part)
    finally:
        posix.close(opened)
    if left <= 0:  # The file grew while it was read.
        raise _too_large(file, largest)
    return b"".join(parts)


def open_to_read(file: "File", *, follow: bool = False, folder: int | None = None) -> int:
    """Open a regular file to read it; anything else is an error right away.

    follow: whether the name may be a link.
    """
    opened = posix.open(file, _READ if follow else _READ | NOFOLLOW, dir_fd=folder)
    try:
        _check_regular(opened, file)
    except BaseException:
        posix.close(opened)
        raise
    return opened


def read_end(file: "File", most: int) -> bytes:
    """The last bytes of a regular file, which may be behind a link."""
    opened = open_to_read(file, follow=True)
    try:
        start = max(0, posix.fstat(opened).st_size - most)
        posix.lseek(opened, start, 0)
        return posix.read(opened, most)
    finally:
        posix.close(opened)


def flush(opened: int) -> None:
    """Write an open file or folder to the disk itself, and not only to the memory of the drive."""
    if sys.platform == "darwin":
        import fcntl  # Only here: no other system needs it for this.

        try:
            fcntl.fcntl(opened, fcntl.F_FULLFSYNC)
        except OSError:  # Some network drives don't know it.
            posix.fsync(opened)
    else:
        posix.fsync(opened)


class _Folder:
    """A file's folder, open, and the file's name in it; without open folders, the whole path."""

    def __init__(self, file: "File", folder: int | None) -> None:
        path = self._path = posix.fspath(file)
        parent, slash, self._name = path.rpartition("/")
        self._parent = parent or slash or "."
        self._given = folder
        self._opened = -1
        if folder is not None and slash:
            raise ValueError(f"{path} is not a name in a folder")

    def __enter__(self) -> tuple[int | None, str]:
        if self._given is not None:
            return self._given, self._name
        if not OPENS_FOLDERS:
            return None, self._path
        self._opened = posix.open(self._parent, _FOLDER)
        return self._opened, self._name

    def __exit__(self, *_: object) -> None:
        if self._opened >= 0:
            posix.close(self._opened)


def _draft(name: str) -> str:
    """A new name for a file in the same folder."""
    start = max(name.rfind("/"), name.rfind("\\")) + 1 if not OPENS_FOLDERS else 0
    return f"{name[:start]}.callboard-{posix.urandom(8).hex()}.part"


def _link(draft: str, name: str, folder: int | None) -> None:
    if folder is None:
        posix.link(draft, name)
    else:
        posix.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)


def _written(
    name: str,
    folder: int | None,
    data: bytes,
    mode: int | None = PRIVATE,
    lasting: bool = True,
    ready: "Callable[[int], object] | None" = None,
) -> None:
    file = posix.open(name, _NEW, 0o666 if mode is None else PRIVATE, dir_fd=folder)
    try:
        left = memoryview(data)
        while left:
            left = left[posix.write(file, left) :]
        if mode is not None and mode != PRIVATE and OPENS_FOLDERS:
            posix.fchmod(file, mode)
        if ready is not None:
            ready(file)
        if lasting:
            flush(file)
    except BaseException:
        _drop(name, folder)
        raise
    finally:
        posix.close(file)


def _rename(draft: str, name: str, folder: int | None, lasting: bool) -> None:
    # Not `rename`, which replaces nothing on Windows.
    posix.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    if lasting and folder is not None:
        flush(folder)


def _drop(name: str, folder: int | None) -> None:
    try:
        posix.unlink(name, dir_fd=folder)
    except OSError:
        return


def _check_regular(opened: int, file: "File") -> None:
    if posix.fstat(opened).st_mode & _KIND != _REGULAR:
        raise OSError(errno.EINVAL, "it is not a regular file", posix.fspath(file))


def _too_large(file: "File", largest: int) -> OSError:
    said = f"it has more than {largest} bytes"
    return OSError(errno.EFBIG, said, posix.fspath(file))
