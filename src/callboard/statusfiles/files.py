"""Files that are never half written: under a lock, replaced at once, broken ones set aside."""

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

LOCK_WITHIN = 30.0  # Seconds after which we say that someone does not let go.
SAFE = ".safe"  # What the copy of a file is called that a power failure cannot harm.
_LISTS = dict.fromkeys(("deliverables", "depends_on"), list | None)
_OF_PHASE = {"id": str, "title": str, "status": str, "attempts": int | None, **_LISTS}
_LOOK_AGAIN = 0.001
_LONGEST_PAUSE = 0.016  # Seconds. Fifty processes that look every millisecond stop all work.
_BURST = 0.5


@contextlib.contextmanager
def locked(file: File) -> Generator[None]:
    """Be the only one who changes a file, among all who ask."""
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
    why = f"{lock} has been locked for {LOCK_WITHIN:g} sby a process that does not release it."
    raise StoreBusy(why, path=lock)


def read(file: File) -> Workflow | None:
    """What stands in the file; None when there is none. StoreCorrupt when it is not a workflow."""
    data = data_of(file)
    try:
        return None if data is None else _checked(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise broken(file, str(error)) from error


def data_of(file: File) -> bytes | None:
    """The bytes of a file; None when there is none."""
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
    """The error for a file that cannot be understood; it is left as it is."""
    safe = f"{os.fspath(file)}{SAFE}"
    why += ". Repair it, or move it away and start over. Nothing was changed."
    why += f" An earlier state is in {safe}." if project_files.found(safe) else ""
    return StoreCorrupt(f"{file} cannot be understood: {why}", path=str(file))


def set_aside(file: str) -> None:
    """Give a broken file another name, and its copy with it, and say so."""
    number = 1
    while project_files.is_there(f"{file}.broken-{number}"):
        number += 1
    aside = f".broken-{number}"
    project_files.move(file, "", to=aside)
    with contextlib.suppress(FileNotFoundError):
        project_files.move(file, SAFE, to=aside + SAFE)
    warn(f"{file} was broken and is now {os.path.basename(file)}{aside}.")


def warn(text: str) -> None:
    """Warn the caller about something that did not stop us."""
    import warnings  # Hardly ever needed, and it takes its time.

    warnings.warn(text, stacklevel=5)


def write(file: File, text: str, *, lasting: bool = True) -> None:
    """Put the text in the file's place at once, whatever happens meanwhile.

    lasting: nor is it empty after a power failure. What can be made again need not wait for that,
    and takes the place of a link, which a repository may have brought, and which leads anywhere.
    """
    try:
        project_files.write(file, text.encode("utf-8", "replace"), lasting=lasting)
    except OSError as error:
        raise _refused(file, error) from error


def write_often(file: str, text: str) -> None:
    """The same for a file that may change a thousand times a second.

    What follows within half a second does not wait for the disk. Some file systems could lose it
    when the power fails, and the file with it: so a copy of what did wait stands beside it.
    """
    copy, now = project_files.found(file + SAFE), project_files.found(file)
    waited = copy or now
    is_new = waited is not None and 0 <= time.time() - waited.st_mtime < _BURST
    # Behind a link, and where a file can have only one name, every write waits.
    is_new = is_new and now is not None and bool(copy or project_files.keep_copy(file, SAFE))
    write(file, text, lasting=not is_new)
    if copy and not is_new:
        project_files.remove(file + SAFE)


def dumped(workflow: Workflow) -> str:
    """The workflow as it stands in the file: a line for each field, of each phase too."""
    text = _laid_out(workflow, json.JSONEncoder(ensure_ascii=False).encode)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # Half a character, which only JSON's own way of writing can keep.
        text = _laid_out(workflow, json.dumps)
    return text + "\n"


def _laid_out(told: Workflow, encode: Callable[[object], str], margin: str = "") -> str:
    # By hand, because the library's own indentation takes several times as long.
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
