"""The agents that there are: `.claude/agents/*.md` of the project, of the person, and of a folder.

One that cannot be used is left out, and said; it never keeps the others from working.
"""

import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from pydantic import BaseModel

from callboard.delegation.front_matter import front_matter
from callboard.disk.files import read
from callboard.errors import ValidationError

GENERAL: Final = "general-purpose"
"""The agent that needs no file: Claude Code as it is."""

_NAME: Final = re.compile(r"[\w][\w.:-]{0,63}")
_LARGEST: Final = 1_000_000
_DENIED: Final = "disallowedTools"
_ALL_TOOLS: Final = ("", "*", "all")
_UNCHANGED: Final = ("", "inherit", "default")


class AgentFile(BaseModel):
    """One agent: what it is for, what it may use, and what it is told."""

    name: str
    description: str
    prompt: str = ""
    tools: list[str] | None = None
    """The tools that it has; None means all."""
    disallowed_tools: list[str] = []
    """What it may not use, as the client's rules say it."""
    permission_mode: str | None = None
    """The mode that it asks for, which only a person may give."""
    model: str | None = None
    path: str = ""


class Found(NamedTuple):
    """The agents that can be used, and what is wrong with the others."""

    agents: list[AgentFile]
    warnings: list[str]


def find_agents(folders: Iterable[Path]) -> Found:
    """The agents of these folders; of two with the same name, the one that comes first."""
    agents: dict[str, AgentFile] = {}
    warnings: list[str] = []
    for file in _files(folders):
        try:
            agent = read_agent(file)
        except ValidationError as error:
            line = error.context.get("line", 1)
            warnings.append(f"{file}:{line}: {error.message}. This agent is left out.")
            continue
        if agents.setdefault(agent.name, agent) is agent and agent.permission_mode:
            warnings.append(_mode_warning(agent))
    return Found(list(agents.values()), warnings)


def read_agent(file: Path) -> AgentFile:
    """The agent of one file; ValidationError says what is wrong, and in which line."""
    text = _text(file)
    head, body = front_matter(text)
    return AgentFile(
        name=_name(head, text),
        description=_description(head, text),
        prompt=body,
        tools=_tools(head, text, "tools"),
        disallowed_tools=_disallowed(head, text),
        permission_mode=_permission_mode(head),
        model=_model(head, text),
        path=str(file),
    )


def _text(file: Path) -> str:
    try:
        content = _content(file)
    except OSError as error:
        raise ValidationError(f"it cannot be read: {error.strerror}", line=1) from error
    try:
        # As an open file does: all ends of lines are one.
        return content.decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = 1 + content[: error.start].count(b"\n")
        raise ValidationError("it is no UTF-8 text", line=line) from error


def _content(file: Path) -> bytes:
    # A pipe or a device, also at the end of a link, would never end, or never begin.
    if not stat.S_ISREG(file.stat().st_mode):
        raise ValidationError("it is no regular file; put the agent's own text there", line=1)
    if file.stat().st_size > _LARGEST:
        raise ValidationError("it is larger than 1 MB; make it shorter", line=1)
    return read(file, _LARGEST, follow=True)


def _files(folders: Iterable[Path]) -> list[Path]:
    files: dict[Path, Path] = {}
    for folder in folders:
        for file in sorted(folder.glob("*.md")):
            files.setdefault(file.resolve(), file)
    return list(files.values())


def _name(head: dict[str, Any], text: str) -> str:
    name = head.get("name")
    if name is None:
        raise ValidationError("its head has no name; add a line name: my-agent", line=1)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        what = f"name is {_shown(name)}; use letters, digits and dashes"
        raise ValidationError(what, line=_line(text, "name"))
    return name


def _description(head: dict[str, Any], text: str) -> str:
    description = head.get("description", "")
    if description is not None and not isinstance(description, str):
        what = "description is no text; put it between quotes"
        raise ValidationError(what, line=_line(text, "description"))
    if not description or not description.strip():
        what = "its head has no description, so nobody could choose it; say what it is for"
        raise ValidationError(what, line=1)
    return description.strip()


def _permission_mode(head: dict[str, Any]) -> str | None:
    mode = head.get("permissionMode")
    return None if mode is None or mode in _UNCHANGED else _shown(mode)


def _mode_warning(agent: AgentFile) -> str:
    return (
        f"{agent.path}: its permissionMode {agent.permission_mode} is not taken. "
        "Say --permission-mode, which counts for all agents."
    )


def _tools(head: dict[str, Any], text: str, field: str) -> list[str] | None:
    given = head.get(field)
    if given is None or (isinstance(given, str) and given.strip() in _ALL_TOOLS):
        return None
    listed = _split(given) if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(
        isinstance(one, str) for one in cast("list[Any]", listed)
    ):
        what = f"{field} is no list of names; write {field}: Read, Grep"
        raise ValidationError(what, line=_line(text, field))
    names = [one.strip() for one in cast("Sequence[str]", listed) if one.strip()]
    return None if "*" in names else names


def _disallowed(head: dict[str, Any], text: str) -> list[str]:
    names = _tools(head, text, _DENIED)
    if names is None and head.get(_DENIED):
        what = f"{_DENIED} leaves it nothing; name tools, as in {_DENIED}: Bash, WebFetch"
        raise ValidationError(what, line=_line(text, _DENIED))
    return names or []


def _split(given: str) -> list[str]:
    """Names between commas; what stands in brackets, as in `Bash(ls, cat)`, is not divided."""
    return re.findall(r"[^,()\[\]\"']+(?:\([^)]*\))?", given.strip("[]"))


def _model(head: dict[str, Any], text: str) -> str | None:
    model = head.get("model")
    if model is None:
        return None
    if not isinstance(model, str):
        raise ValidationError(
            f"model is {_shown(model)}; write a model's name, such as sonnet",
            line=_line(text, "model"),
        )
    return None if model.strip() in _UNCHANGED else model.strip()


def _shown(value: Any) -> str:
    """A text as it stands there, of all else, which may be long, only that it is none."""
    return repr(value) if isinstance(value, str) else "no text"


def _line(text: str, field: str) -> int:
    lines = text.splitlines()
    return next((n for n, line in enumerate(lines, 1) if line.startswith(field)), 1)
