"""Files in a project's `.claude` folder, which a repository may have filled with anything.

A link in a file's place is followed only to a file of the project. Any other is refused when read,
and replaced when written. Pipes, devices and huge files are errors right away.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Generator

from callboard.disk import files, folders

File = str | os.PathLike[str]

LARGEST = 16 * 1_048_576
"""In bytes; anything larger is not a status file."""

UNUSABLE = (errno.EINVAL, errno.EFBIG, errno.EXDEV)
"""The errors for a file that is not regular, too large, or outside of the project."""

_MARK = "/.claude/"


@contextlib.contextmanager
def folder_of(file: File, *, make: bool = False) -> Generator[tuple[int, str]]:
    """A file's folder, open, and the file's name in it."""
    root, parts = _split(os.fspath(file))
    opened = folders.open_inside(root, parts[:-1], make=make)
    try:
        yield opened, parts[-1]
    finally:
        os.close(opened)


def read(file: File) -> bytes | None:
    """A file's bytes; None if it doesn't exist or is a dangling link."""
    try:
        with _target(file) as (folder, name):
            return files.read(name, LARGEST, folder=folder)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP):
            return None
        raise


def write(file: File, data: bytes, *, lasting: bool) -> None:
    """Atomically replace a file's content; its mode stays.

    lasting: it is on disk when this returns, and a link is followed. Without it, for what can be
    recreated, neither: a link is replaced.
    """
    where = _target(file, make=True) if lasting else folder_of(file, make=True)
    with where as (folder, name):
        found = _stat(name, folder)
        mode = stat.S_IMODE(found.st_mode) if found and stat.S_ISREG(found.st_mode) else None
        if mode is not None and not mode & stat.S_IWUSR:
            # Don't replace what someone made read-only.
            raise PermissionError(errno.EACCES, "it is read-only")
        files.replace(name, data, mode=mode, lasting=lasting, folder=folder)


def found(file: File) -> os.stat_result | None:
    """The regular file with this name, not behind a link; None if it doesn't exist."""
    try:
        with folder_of(file) as (folder, name):
            told = _stat(name, folder)
    except OSError:
        return None
    return told if told is not None and stat.S_ISREG(told.st_mode) else None


def is_there(file: File) -> bool:
    """Whether anything has this name, even a dangling link."""
    try:
        with folder_of(file) as (folder, name):
            return _stat(name, folder) is not None
    except OSError:
        return False


def move(file: File, suffix: str, *, to: str) -> None:
    """Rename a file in its folder: its name and `suffix` become its name and `to`."""
    with folder_of(file) as (folder, name):
        os.rename(name + suffix, name + to, src_dir_fd=folder, dst_dir_fd=folder)


def keep_copy(file: File, suffix: str) -> bool:
    """Give a file a second name next to it; returns whether that worked."""
    try:
        with folder_of(file) as (folder, name):
            os.link(
                name, name + suffix, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False
            )
    except OSError:
        return False
    return True


def remove(file: File) -> None:
    """Remove a file or a link, if it exists."""
    with contextlib.suppress(FileNotFoundError), folder_of(file) as (folder, name):
        os.unlink(name, dir_fd=folder)


def names_in(path: str) -> list[str]:
    """The names in a folder of the project; empty if it doesn't exist."""
    try:
        with folder_of(f"{path}/.") as (folder, _):
            return os.listdir(folder)
    except OSError:
        return []


@contextlib.contextmanager
def _target(file: File, *, make: bool = False) -> Generator[tuple[int, str]]:
    """The file itself, or the target of a link in its place, within the project."""
    with folder_of(file, make=make) as (folder, name):
        told = _stat(name, folder)
        # Follow a link only to an existing file: otherwise it could make us create one that gets
        # run.
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
    """The project, and the parts of the path below it."""
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
