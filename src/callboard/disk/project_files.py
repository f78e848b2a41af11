"""Files that a project keeps in its `.claude`, which a repository may have filled with anything.

A link in the place of a file is followed only to a file of the project; elsewhere it is refused
when it is read, and replaced when it is written. Pipes, devices and huge files are errors at once.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Generator

from callboard.disk import files, folders

File = str | os.PathLike[str]

LARGEST = 16 * 1_048_576
"""Bytes; what is larger is not a status file."""

UNUSABLE = (errno.EINVAL, errno.EFBIG, errno.EXDEV)
"""What is wrong with a file that is not a regular file, too large, or outside of the project."""

_MARK = "/.claude/"


@contextlib.contextmanager
def folder_of(file: File, *, make: bool = False) -> Generator[tuple[int, str]]:
    """The folder of a file, open, and the file's name in it."""
    root, parts = _split(os.fspath(file))
    opened = folders.open_inside(root, parts[:-1], make=make)
    try:
        yield opened, parts[-1]
    finally:
        os.close(opened)


def read(file: File) -> bytes | None:
    """The bytes of a file; None when there is none, or a link to nothing."""
    try:
        with _target(file) as (folder, name):
            return files.read(name, LARGEST, folder=folder)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP):
            return None
        raise


def write(file: File, data: bytes, *, lasting: bool) -> None:
    """Put data in the file's place, at once; its mode stays.

    lasting: on the disk when this returns, and a link is followed. What can be made again need
    not wait, and takes the place of a link.
    """
    where = _target(file, make=True) if lasting else folder_of(file, make=True)
    with where as (folder, name):
        found = _stat(name, folder)
        mode = stat.S_IMODE(found.st_mode) if found and stat.S_ISREG(found.st_mode) else None
        if mode is not None and not mode & stat.S_IWUSR:
            # What someone made read-only is not replaced behind their back.
            raise PermissionError(errno.EACCES, "it is read-only")
        files.replace(name, data, mode=mode, lasting=lasting, folder=folder)


def found(file: File) -> os.stat_result | None:
    """The regular file of this name, not behind a link; None when there is none."""
    try:
        with folder_of(file) as (folder, name):
            told = _stat(name, folder)
    except OSError:
        return None
    return told if told is not None and stat.S_ISREG(told.st_mode) else None


def is_there(file: File) -> bool:
    """Whether anything has the name, be it a link to nothing."""
    try:
        with folder_of(file) as (folder, name):
            return _stat(name, folder) is not None
    except OSError:
        return False


def move(file: File, suffix: str, *, to: str) -> None:
    """Rename a file beside itself: its name and `suffix` become its name and `to`."""
    with folder_of(file) as (folder, name):
        os.rename(name + suffix, name + to, src_dir_fd=folder, dst_dir_fd=folder)


def keep_copy(file: File, suffix: str) -> bool:
    """Give a file a second name beside it; whether that could be done."""
    try:
        with folder_of(file) as (folder, name):
            os.link(
                name, name + suffix, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False
            )
    except OSError:
        return False
    return True


def remove(file: File) -> None:
    """Remove a file, or a link, if it is there."""
    with contextlib.suppress(FileNotFoundError), folder_of(file) as (folder, name):
        os.unlink(name, dir_fd=folder)


def names_in(path: str) -> list[str]:
    """The names in a folder of the project; none when it is not there."""
    try:
        with folder_of(f"{path}/.") as (folder, _):
            return os.listdir(folder)
    except OSError:
        return []


@contextlib.contextmanager
def _target(file: File, *, make: bool = False) -> Generator[tuple[int, str]]:
    """The file itself, or the one that a link in its place leads to, within the project."""
    with folder_of(file, make=make) as (folder, name):
        told = _stat(name, folder)
        # A link is followed only to what is there: else it could have us make what its owner runs.
        is_link = told is not None and stat.S_ISLNK(told.st_mode) and os.path.exists(file)
        if not is_link:
            yield folder, name
            return
    root, _ = _split(os.fspath(file))
    parts = folders.inside(root, os.fspath(file))
    there = folders.open_inside(os.path.realpath(root), parts[:-1])
    try:
        yield there, parts[-1]
    finally:
        os.close(there)


def _split(path: str) -> tuple[str, list[str]]:
    """The project, and the parts of the path in it."""
    root, mark, rest = path.rpartition(_MARK)
    if not mark:
        folder, slash, name = path.rpartition("/")
        return folder or slash or ".", [name]
    return root or "/", [".claude", *rest.split("/")]


def _stat(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
