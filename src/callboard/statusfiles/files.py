"""Files that are never half written: locked, replaced atomically, and set aside if broken."""

import contextlib
import json
import os
import time
from collections.abc import Callable, Generator

from callboard.disk import project_files
from callboard.disk.files import open_shared
from callboard.disk.locks import try_lock
from callboard.errors import StoreBusy, StoreCorrupt, StoreError
from callboard.statusfiles.phases import Phase, Workflow

File = str | os.PathLike[str]

LOCK_WITHIN = 30.0  # Seconds to wait for the lock before reporting that it is taken.
SAFE = ".safe"  # Suffix of the copy that survives a power failure.
_LISTS = dict.fromkeys(("deliverables", "depends_on"), list | None)
_OF_PHASE = {"id": str, "title": str, "status": str, "attempts": int | None, **_LISTS}
_LOOK_AGAIN = 0.001
_LONGEST_PAUSE = 0.016  # Seconds. Fifty processes polling every millisecond would stall everything.
_BURST = 0.5


@contextlib.contextmanager
def locked(file: File) -> Generator[None]:
    """Hold the lock for changing a file."""
    lock = f"{os.fspath(file)}.lock"
    try:
        with project_files.folder_of(lock, make=True) as (folder, name):
            opened = open_shared(name, mode=0o644, folder=folder)
    except OSError as error:
        raise _refused(lock, error) from error
    try:
        _take(opened, lock)
        yield
    finally:
        os.close(opened)


def _take(opened: int, lock: str) -> None:
    until = time.monotonic() + LOCK_WITHIN
    pause = _LOOK_AGAIN
    while time.monotonic() < until:
        if try_lock(opened):
            return
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    why = f"{lock} has been locked for {LOCK_WITHIN:g} s by a process that does not release it."
    raise StoreBusy(why, path=lock)


def read(file: File) -> Workflow | None:
    """The workflow in the file, or None without a file. StoreCorrupt if it isn't a workflow."""
    data = data_of(file)
    try:
        return None if data is None else _checked(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise broken(file, str(error)) from error


def data_of(file: File) -> bytes | None:
    """A file's bytes; None if it doesn't exist."""
    try:
        return project_files.read(file)
    except OSError as error:
        if error.errno in project_files.UNUSABLE:
            raise broken(file, error.strerror or str(error)) from error
        raise _refused(file, error) from error


def _checked(workflow: Workflow) -> Workflow:
    _check("it", workflow, {"id": str, "task": str, "status": str, "phases": list})
    for number, phase in enumerate(workflow["phases"]):
        _check(f"phase {number}", phase, _OF_PHASE)
    return workflow


def _check(name: str, told: Phase | None, kinds: Phase) -> None:
    for field, kind in kinds.items():
        if not isinstance(told, dict) or not isinstance(told.get(field), kind):
            raise ValueError(f"{name} has no {field!r}, or one of the wrong type")


def broken(file: File, why: str) -> StoreCorrupt:
    """The error for a file that cannot be read or parsed. The file is left as it is."""
    safe = f"{os.fspath(file)}{SAFE}"
    why += ". Repair it, or move it away and start over. Nothing was changed."
    why += f" An earlier state is in {safe}." if project_files.found(safe) else ""
    return StoreCorrupt(f"{file} can't be read: {why}", path=str(file))


def set_aside(file: str) -> None:
    """Rename a broken file and its copy, and warn about it."""
    number = 1
    while project_files.is_there(f"{file}.broken-{number}"):
        number += 1
    aside = f".broken-{number}"
    project_files.move(file, "", to=aside)
    with contextlib.suppress(FileNotFoundError):
        project_files.move(file, SAFE, to=aside + SAFE)
    warn(f"{file} was broken and is now {os.path.basename(file)}{aside}.")


def warn(text: str) -> None:
    """Warn the caller about a problem that didn't stop us."""
    import warnings  # Rarely needed, and slow to import.

    warnings.warn(text, stacklevel=5)


def write(file: File, text: str, *, lasting: bool = True) -> None:
    """Replace the file's content atomically.

    lasting: it also survives a power failure. A file that can be regenerated doesn't have to wait
    for the disk, and replaces a symlink: a repository may contain one that points anywhere.
    """
    try:
        project_files.write(file, text.encode("utf-8", "replace"), lasting=lasting)
    except OSError as error:
        raise _refused(file, error) from error


def write_often(file: str, text: str) -> None:
    """Like `write`, for a file that may change a thousand times a second.

    Writes within half a second of the last synced one don't wait for the disk. Some file systems
    could lose such a file in a power failure, so a copy of the last synced version is kept.
    """
    copy, now = project_files.found(file + SAFE), project_files.found(file)
    waited = copy or now
    is_new = waited is not None and 0 <= time.time() - waited.st_mtime < _BURST
    # With a symlink, or where hard links aren't supported, every write waits for the disk.
    is_new = is_new and now is not None and bool(copy or project_files.keep_copy(file, SAFE))
    write(file, text, lasting=not is_new)
    if copy and not is_new:
        project_files.remove(file + SAFE)


def dumped(workflow: Workflow) -> str:
    """The workflow as written to the file, with a line for each field, also within phases."""
    text = _laid_out(workflow, json.JSONEncoder(ensure_ascii=False).encode)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # A lone surrogate, which only JSON's own escapes can represent.
        text = _laid_out(workflow, json.dumps)
    return text + "\n"


def _laid_out(told: Workflow, encode: Callable[[object], str], margin: str = "") -> str:
    # By hand, because json's own indentation is several times slower.
    lines: list[str] = []
    for name, value in told.items():
        shown = encode(value)
        if name == "phases" and value and not margin:
            phases = ",\n    ".join(_laid_out(phase, encode, "    ") for phase in value)
            shown = f"[\n    {phases}\n  ]"
        lines.append(f"{margin}  {encode(name)}: {shown}")
    return "{\n" + ",\n".join(lines) + f"\n{margin}}}"


def _refused(file: File, error: OSError) -> StoreError:
    return StoreError(f"{file}: {error.strerror or error}. Nothing was changed.", path=str(file))
