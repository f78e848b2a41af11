"""Another program's settings file: read whole, replaced whole, keeping its mode and links."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.disk import files as disk
from callboard.disk.folders import LeadsOutside, inside
from callboard.errors import SettingsUnusable

LARGEST: Final = 8 * 1_048_576
"""Bytes; a larger file isn't a settings file."""

BACKUPS: Final = 3
"""The number of backups to keep next to a file."""

_BACKUP = ".callboard-backup-"
_NEW_MODE = 0o600
_ANYONE_WRITES = 0o222


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file as it was found.

    path: as the client names it. target: the file itself, behind all links. text: None if it
    doesn't exist.
    """

    path: Path
    target: Path
    text: str | None
    mode: int = _NEW_MODE


def read(path: Path) -> SettingsFile:
    """The exact content of the file; an error says what to do."""
    target = _target(path)
    try:
        found = target.stat()
        if stat.S_ISDIR(found.st_mode):
            raise _unusable(path, "is a folder, not a file", "Move it away")
        if found.st_size > LARGEST:
            raise SettingsUnusable(
                f"{path} has {found.st_size} bytes, too many for a settings file. Check it.",
                path=str(path),
            )
        data = disk.read(target, LARGEST)
    except FileNotFoundError:
        return SettingsFile(path, target, None)
    except OSError as error:
        raise _from_system(path, error) from error
    return SettingsFile(path, target, _decoded(path, data), stat.S_IMODE(found.st_mode))


def check_inside(project: Path, path: Path) -> None:
    """Refuse a project's settings file that links out of the project, as a clone might contain."""
    try:
        inside(str(project), str(path))
    except LeadsOutside as error:
        raise SettingsUnusable(f"{path}: {error.strerror}", path=str(path)) from error


def write(file: SettingsFile, text: str, mode: int) -> list[Path]:
    """Replace the text that was read; returns the folders that had to be created.

    Nothing is written if the file has changed since.
    """
    _check_writable(file)
    with _told(file.path):
        made = _make_folders(file.target.parent)

        def ready(handle: int) -> None:
            _take_after(handle, file)
            _check_same(file)

        data = text.encode("utf-8", "surrogatepass")
        disk.replace(file.target, data, mode=mode, ready=ready)
    return made


def remove(file: SettingsFile, made: list[Path]) -> None:
    """Delete the file, and the folders that were created for it if they are empty."""
    _check_writable(file)
    with _told(file.path):
        _check_same(file)
        file.target.unlink()
        for folder in sorted(made, key=lambda one: len(one.parts), reverse=True):
            try:
                folder.rmdir()
            except OSError:  # It isn't empty, or is gone.
                break


def back_up(file: SettingsFile) -> Path | None:
    """Copy what was read to a private file next to it; the oldest backup is removed."""
    if file.text is None:
        return None
    there = backups(file.target)
    number = int(there[-1].name.rpartition("-")[2]) + 1 if there else 1
    copy = file.target.with_name(f"{file.target.name}{_BACKUP}{number}")
    with _told(file.path):
        disk.add(copy, file.text.encode("utf-8", "surrogatepass"))
        for old in there[: max(0, len(there) + 1 - BACKUPS)]:
            old.unlink(missing_ok=True)
    return copy


def backups(target: Path) -> list[Path]:
    """The backups next to a file, oldest first."""
    start = target.name + _BACKUP
    try:
        beside = list(target.parent.iterdir())
    except OSError:
        return []
    found = [one for one in beside if one.name.startswith(start)]
    numbered = [one for one in found if one.name.removeprefix(start).isdecimal()]
    return sorted(numbered, key=lambda one: int(one.name.removeprefix(start)))


def _target(path: Path) -> Path:
    """The file behind all links. A broken link isn't ours to fix."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except FileNotFoundError as error:
        if path.is_symlink():
            raise _unusable(
                path, f"is a link to {path.readlink()}, which is not there", "Repair or remove it"
            ) from error
        return Path(os.path.realpath(path))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _unusable(path, "is a link that leads back to itself", "Remove it") from error
        raise _from_system(path, error) from error


def _decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise SettingsUnusable(
            f"{path}, line {line}, column {column}: this is not UTF-8. Save the file as UTF-8 and "
            "try again; nothing was changed.",
            path=str(path),
            line=line,
            column=column,
        ) from error


def _check_writable(file: SettingsFile) -> None:
    """A read-only file is read-only on purpose, even for root, who could write it."""
    folder = file.target.parent
    if file.text is not None and not file.mode & _ANYONE_WRITES:
        raise _unusable(file.path, "is read-only", f"To change that: chmod u+w {file.target}")
    if not folder.exists():
        return
    if not folder.stat().st_mode & _ANYONE_WRITES or not os.access(folder, os.W_OK):
        raise _unusable(
            file.path, "is in a read-only folder", f"To change that: chmod u+w {folder}"
        )


def _check_same(file: SettingsFile) -> None:
    if read(file.path).text != file.text:
        raise _unusable(file.path, "was just changed by another program", "Try again")


def _take_after(handle: int, file: SettingsFile) -> None:
    """Give the new file the owner of the old one."""
    if file.text is None:
        return
    old, new = file.target.stat(), os.fstat(handle)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        os.fchown(handle, old.st_uid, old.st_gid)


def _make_folders(folder: Path) -> list[Path]:
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(mode=0o755)
    return missing


@contextmanager
def _told(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise _from_system(path, error) from error


def _from_system(path: Path, error: OSError) -> SettingsUnusable:
    said = (error.strerror or "cannot be used").lower()
    return _unusable(path, f"cannot be used: {said}", "Fix that")


def _unusable(path: Path, said: str, todo: str) -> SettingsUnusable:
    return SettingsUnusable(f"{path} {said}. {todo}; nothing was changed.", path=str(path))
