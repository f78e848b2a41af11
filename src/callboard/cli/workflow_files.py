"""Finding a workflow in a Python file: `FILE[:NAME]`."""

import importlib
import importlib.util
import re
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Final

from callboard.engine.sessions import SessionInfo
from callboard.engine.workflow import Workflow
from callboard.errors import CallboardError, DefinitionError, WorkflowNotFound

OURS: Final[Mapping[str, Mapping[str, str]]] = {
    "delegate": {"module": "callboard.delegation.workflow", "name": "delegation"}
}
"""Callboard's own workflows by name, with what a session records about them.

Their commands drive them; no server has them.
"""

_DEFINED: Final = re.compile(r"^(\w+)[^=\n]*=\s*(?:callboard\.)?Workflow[\[(]", re.MULTILINE)
_MOST_FILES: Final = 200
_MOST_TEXT: Final = 1_000_000
_MOST_LISTED: Final = 10


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """A workflow, and the file and variable in which it was found."""

    workflow: Workflow
    file: Path
    name: str

    def recorded(self) -> dict[str, str]:
        """What a session records about it, so that another process can find it."""
        return {"file": str(self.file), "name": self.name}


def load(given: str) -> WorkflowFile:
    """Load the workflow of `FILE[:NAME]`; without a name, the only one in the file."""
    file, name = _split(given)
    found = _workflows(file)
    if name is not None:
        if name not in found:
            raise WorkflowNotFound(f"{file} has no workflow {name!r}; {_offered(file, found)}")
        return WorkflowFile(found[name], file, name)
    if len(found) != 1:
        raise WorkflowNotFound(f"Which workflow of {file}? {_offered(file, found)}")
    ((only, workflow),) = found.items()
    return WorkflowFile(workflow, file, only)


def load_all(given: str) -> list[WorkflowFile]:
    """Load every workflow of `FILE[:NAME]`."""
    file, name = _split(given)
    if name is not None:
        return [load(given)]
    found = _workflows(file)
    if not found:
        raise WorkflowNotFound(f"There is no workflow in {file}. Make one with Workflow(...).")
    return [WorkflowFile(workflow, file, variable) for variable, workflow in found.items()]


def load_again(info: SessionInfo, given: str | None) -> Workflow:
    """A session's workflow: from where it was started, or from `--file`."""
    if given is not None:
        file, name = _split(given)
        return _fitting(info, file, name)
    if (ours := OURS.get(info.workflow)) and (info.source or {}).get("module") == ours["module"]:
        return getattr(importlib.import_module(ours["module"]), ours["name"])
    if not info.source or "file" not in info.source:
        raise WorkflowNotFound(
            f"Session {info.session_id} was not started from a file. Say where its workflow "
            f"{info.workflow!r} is: --file FILE[:NAME]"
        )
    file = Path(info.source["file"])
    if not file.is_file():
        raise WorkflowNotFound(
            f"The workflow of session {info.session_id} was in {file}, which is gone. "
            "Say where it is now: --file FILE[:NAME]"
        )
    return _fitting(info, file, info.source.get("name"))


def _fitting(info: SessionInfo, file: Path, name: str | None) -> Workflow:
    """The workflow in that variable, or the one with the session's workflow name."""
    found = _workflows(file)
    if name in found and found[name].name == info.workflow:
        return found[name]
    for workflow in found.values():
        if workflow.name == info.workflow:
            return workflow
    raise WorkflowNotFound(
        f"Session {info.session_id} runs workflow {info.workflow!r}, which is not in {file}. "
        "Say where it is: --file FILE[:NAME]"
    )


def _split(given: str) -> tuple[Path, str | None]:
    head, colon, tail = given.rpartition(":")
    if colon and head and tail.isidentifier() and not Path(given).exists():
        return _existing(head), tail
    return _existing(given), None


def _existing(given: str) -> Path:
    file = Path(given).expanduser().absolute()
    if file.is_dir():
        raise WorkflowNotFound(
            f"{given} is a folder. Give a Python file: FILE[:NAME]{listed(workflows_in(file))}"
        )
    if not file.is_file():
        near = listed(workflows_in(Path()))
        raise WorkflowNotFound(f"There is no file {given}. Give a Python file: FILE[:NAME]{near}")
    return file


def workflows_in(folder: Path) -> list[str]:
    """Where the Python files of a folder seem to define workflows, as `FILE:NAME`.

    The files are only read: the person hasn't chosen one to run.
    """
    found: list[str] = []
    for file in islice(sorted(folder.glob("*.py")), _MOST_FILES):
        with suppress(OSError), file.open(encoding="utf-8", errors="replace") as opened:
            found += [
                f"{_short(file)}:{name}" for name in _DEFINED.findall(opened.read(_MOST_TEXT))
            ]
    return found


def listed(found: list[str]) -> str:
    """The end of a message that lists some of them."""
    more = ", …" if len(found) > _MOST_LISTED else ""
    return f". Found here: {', '.join(found[:_MOST_LISTED])}{more}" if found else ""


def _short(file: Path) -> str:
    """The file's path from the current folder, if it is in it."""
    absolute, here = file.absolute(), Path().absolute()
    return str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)


def _offered(file: Path, found: Mapping[str, Workflow]) -> str:
    if not found:
        return "it doesn't define any. Create one with Workflow(...)."
    return "choose one: " + ", ".join(f"{file.name}:{name}" for name in found)


def _workflows(file: Path) -> dict[str, Workflow]:
    """The workflows in a file by their variables, each once."""
    found: dict[str, Workflow] = {}
    for name, value in vars(_module(file)).items():
        if isinstance(value, Workflow) and value not in found.values():
            found[name] = value
    return found


def _module(file: Path) -> ModuleType:
    """Run the file as a module; its neighbors can be imported, now and later."""
    name = file.stem if file.stem not in sys.modules else f"callboard_file_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise WorkflowNotFound(f"{file} is not a Python file. Give one: FILE[:NAME]")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pydantic look up their module by its name.
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent))
    try:
        # Standard output is for the command itself.
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except CallboardError:
        raise
    except (Exception, SystemExit) as error:
        raise _unloadable(file, error) from error
    return module


def _unloadable(file: Path, error: BaseException) -> DefinitionError:
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        line = error.lineno
    where = f"{file}, line {line}" if line else str(file)
    what = error.msg if isinstance(error, SyntaxError) else error
    return DefinitionError(f"Cannot load {where}: {type(error).__name__}: {what}")
