"""Files that are never half written: under a lock, replaced at once, broken ones set aside."""

import contextlib
import fcntl
import json
import os
import stat
import time
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, cast

from callboard.errors import StoreBusy, StoreCorrupt, StoreError

LOCK_WITHIN: Final = 30.0
"""Seconds after which we say that somebody does not let go."""
_LOOK_AGAIN: Final = 0.001
_BURST: Final = 0.5


@contextlib.contextmanager
def locked(file: Path) -> Generator[None]:
    """Be the only one who changes a file, among all who ask."""
    lock = file.with_name(file.name + ".lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _refused(lock, error) from error
    try:
        _take(opened, lock)
        yield
    finally:
        os.close(opened)


def _take(opened: int, lock: Path) -> None:
    until = time.monotonic() + LOCK_WITHIN
    while True:
        try:
            return fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise StoreBusy(
                    f"{lock} has been locked for {LOCK_WITHIN:g} s. Another process changes the "
                    "status files and does not end.",
                    path=str(lock),
                ) from None
            time.sleep(_LOOK_AGAIN)


def read(file: Path) -> dict[str, Any] | None:
    """What stands in the file; None when there is none. StoreCorrupt when it is no workflow."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(file, error) from error
    try:
        found = json.loads(text)
    except ValueError as error:
        raise broken(file, str(error)) from error
    if missing := _missing(found):
        raise broken(file, missing)
    return found


def _missing(found: Any) -> str | None:
    """What a workflow must have that this does not."""
    if not isinstance(found, dict):
        return "it holds no object"
    workflow = cast("dict[str, Any]", found)
    for field in ("id", "task", "status", "phases"):
        if field not in workflow:
            return f"there is no {field!r} in it"
    if not isinstance(workflow["phases"], list):
        return "its phases are no list"
    for number, phase in enumerate(cast("list[Any]", workflow["phases"])):
        if not isinstance(phase, dict) or not {"id", "title", "status"} <= set(phase):  # pyright: ignore[reportUnknownArgumentType]
            return f"phase {number} has no id, title or status"
    return None


def broken(file: Path, why: str) -> StoreCorrupt:
    """The error for a file that cannot be understood; it is left as it is."""
    return StoreCorrupt(
        f"{file} cannot be understood: {why}. Mend it, or move it away and begin anew; nothing was "
        "changed.",
        path=str(file),
    )


def set_aside(file: Path) -> Path:
    """Give a broken file another name, and say so."""
    for number in range(1, 10_000):
        aside = file.with_name(f"{file.name}.broken-{number}")
        if not aside.exists():
            file.rename(aside)
            warnings.warn(f"{file} was broken and is now {aside.name}.", stacklevel=4)
            return aside
    raise StoreError(f"There are too many broken files beside {file}. Remove them.")


def write(file: Path, text: str, *, lasting: bool = True) -> None:
    """Put the text in the file's place at once, whatever happens meanwhile.

    lasting: also when the power fails. What can be made again need not wait for the disk, nor
    does one of many writes in the same moment: there, an earlier state may be what is left.
    """
    target = file.resolve()  # Whoever made it a link wants it to stay one.
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    data = text.encode("utf-8", "replace")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _check_writable(target)
        with draft.open("wb") as opened:
            if not lasting:
                _reserve(opened.fileno(), len(data))
            opened.write(data)
            if lasting and not _is_burst(target):
                opened.flush()
                os.fsync(opened.fileno())
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise _refused(file, error) from error


def _reserve(opened: int, size: int) -> None:
    """Have room on the disk. ext4 writes out at once what takes a file's place without any."""
    if size and hasattr(os, "posix_fallocate"):
        with contextlib.suppress(OSError):  # Not every file system can.
            os.posix_fallocate(opened, 0, size)


def _is_burst(target: Path) -> bool:
    """Whether it was written just now."""
    try:
        return 0 <= time.time() - target.stat().st_mtime < _BURST  # noqa: TID251 - stands alone
    except OSError:
        return False


def _check_writable(target: Path) -> None:
    """A file that somebody made read-only is not replaced behind their back."""
    if target.exists() and not target.stat().st_mode & stat.S_IWUSR:
        raise PermissionError(13, "it is read-only")


def dumped(workflow: dict[str, Any]) -> str:
    """The workflow as it stands in the file."""
    text = json.dumps(workflow, indent=2, ensure_ascii=False) + "\n"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # Half a character, which only JSON's own way of writing can keep.
        return json.dumps(workflow, indent=2) + "\n"
    return text


def _refused(file: Path, error: Exception) -> StoreError:
    why = getattr(error, "strerror", None) or str(error)
    return StoreError(f"{file}: {why}. Nothing was changed.", path=str(file))
