"""The available agents: `.claude/agents/*.md` of the project, of the user, and of a folder.

Each file starts with YAML between two lines of dashes, which is parsed leniently.
"""

import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from pydantic import BaseModel

from callboard.disk.files import read
from callboard.errors import ValidationError
from callboard.events.json_values import Object, as_list, is_list, is_object

_DASHES: Final = re.compile(r"-{3,}[ \t]*")
_FIELD: Final = re.compile(r"([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)")
_DEEPEST: Final = 20
"""How deeply values may be nested: the YAML parser gets slow, and fails at hundreds of levels."""
_ITEM: Final = re.compile(r"-[ \t]+(.*)")
GENERAL: Final = "general-purpose"
"""The agent that needs no file: plain Claude Code."""

_NAME: Final = re.compile(r"[\w][\w.:-]{0,63}")
_LARGEST: Final = 1_000_000
_DENIED: Final = "disallowedTools"
_ALL_TOOLS: Final = ("", "*", "all")
_UNCHANGED: Final = ("", "inherit", "default")


class FrontMatter(NamedTuple):
    """The parts of an agent file: its fields and its prompt."""

    fields: Object
    body: str
    lines: list[str]

    def wrong(self, field: str, what: str) -> ValidationError:
        """The error for a field, with its line."""
        named = (n for n, line in enumerate(self.lines, 1) if line.startswith(field))
        return ValidationError(what, line=next(named, 1))


def front_matter(text: str) -> FrontMatter:
    """Split a file into its parts; ValidationError has the line of the problem."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or not _DASHES.fullmatch(lines[0]):
        what = "it does not start with ---, so it has no name and no description"
        raise ValidationError(what, line=1)
    ends = (number for number, line in enumerate(lines[1:], 1) if _DASHES.fullmatch(line))
    end = next(ends, None)
    if end is None:
        raise ValidationError("its header has no end: add a line with ---", line=1)
    return FrontMatter(_fields(lines[1:end]), "\n".join(lines[end + 1 :]).strip(), lines)


def _fields(lines: list[str]) -> Object:
    from yaml import MarkedYAMLError, YAMLError  # Needed only for delegation.

    try:
        found = _loaded("\n".join(lines))
    except (YAMLError, ValueError, RecursionError) as error:
        # ValueError: an impossible date. Agent files are written by hand, and text such as
        # `description: Use it: always` is common in them.
        plain = _plain_fields(lines)
        if plain is None:
            marked = error if isinstance(error, MarkedYAMLError) else MarkedYAMLError()
            what = f"its header is not valid YAML: {marked.problem or 'it cannot be read'}"
            line = marked.problem_mark.line if marked.problem_mark else 0
            raise ValidationError(what, line=2 + line) from error
        return plain
    if not is_object(found):
        raise ValidationError("its header is empty; add name: and description:", line=2)
    return {str(key): value for key, value in found.items()}


def _loaded(text: str) -> object:
    import yaml

    depth = 0
    events: Iterator[yaml.Event] = cast("Any", yaml).parse(text)  # The stubs don't type it.
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        wrong = "it is nested too deeply; simplify it" if depth > _DEEPEST else None
        # Aliases aren't needed here, and a few lines of them can fill all memory.
        if isinstance(event, yaml.AliasEvent):
            wrong = "it uses a YAML alias; write out the value"
        if wrong is not None:
            raise yaml.MarkedYAMLError(problem=wrong, problem_mark=event.start_mark)
    return yaml.safe_load(text)


def _plain_fields(lines: list[str]) -> Object | None:
    """Each field's text, including indented lines below it; None if the lines look different."""
    fields: dict[str, str | list[str]] = {}
    last = ""
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is not None:
            last = field[1]
            fields[last] = _unquoted((field[2] or "").strip())
        elif last and (not line.strip() or line[0] in " \t-"):
            fields[last] = _continued(fields[last], line.strip())
        elif not line.lstrip().startswith("#"):
            return None
    return fields


def _continued(value: str | list[str], line: str) -> str | list[str]:
    """A field with one more line: of its text, or of its list if it has only items."""
    item = _ITEM.fullmatch(line)
    if item is not None and (isinstance(value, list) or not value):
        return [*value, _unquoted(item[1].strip())]
    if isinstance(value, list):
        return [*value[:-1], f"{value[-1]} {line}".strip()]
    return f"{value} {line}".strip()


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


class AgentFile(BaseModel):
    """An agent: what it is for, what it may use, and its prompt."""

    name: str
    description: str
    prompt: str = ""
    tools: list[str] | None = None
    """The tools it can use; None means all of them."""
    disallowed_tools: list[str] = []
    """What it may not use, as rules of the client."""
    permission_mode: str | None = None
    """The permission mode it asks for, which only a person may grant."""
    model: str | None = None
    path: str = ""


class AgentFiles(NamedTuple):
    """The available agents, and what is wrong with the others."""

    agents: list[AgentFile]
    warnings: list[str]


def find_agents(folders: Iterable[Path]) -> AgentFiles:
    """The agents in these folders; if two have the same name, the first one counts."""
    agents: dict[str, AgentFile] = {}
    warnings: list[str] = []
    for file in _files(folders):
        try:
            agent = read_agent(file)
        except ValidationError as error:
            line = error.context.get("line", 1)
            warnings.append(f"{file}:{line}: {error.message}. This agent is skipped.")
            continue
        if agents.setdefault(agent.name, agent) is agent and agent.permission_mode:
            warnings.append(
                f"{agent.path}: its permissionMode {agent.permission_mode} is ignored. "
                "Use --permission-mode, which applies to all agents."
            )
    return AgentFiles(list(agents.values()), warnings)


def read_agent(file: Path) -> AgentFile:
    """Read an agent from a file; ValidationError says what is wrong, and on which line."""
    head = front_matter(_text(file))
    return AgentFile(
        name=_name(head),
        description=_description(head),
        prompt=head.body,
        tools=_tools(head, "tools"),
        disallowed_tools=_disallowed(head),
        permission_mode=_permission_mode(head),
        model=_model(head),
        path=str(file),
    )


def _text(file: Path) -> str:
    try:
        content = _content(file)
    except OSError as error:
        raise ValidationError(f"it cannot be read: {error.strerror}", line=1) from error
    try:
        # Like text mode does: normalize all line endings.
        return content.decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = 1 + content[: error.start].count(b"\n")
        raise ValidationError("it is not UTF-8 text", line=line) from error


def _content(file: Path) -> bytes:
    # Reading a pipe or a device, even behind a link, might block or never end.
    if not stat.S_ISREG(file.stat().st_mode):
        raise ValidationError("it is not a regular file; put the agent's text there", line=1)
    if file.stat().st_size > _LARGEST:
        raise ValidationError("it is larger than 1 MB; make it shorter", line=1)
    return read(file, _LARGEST, follow=True)


def _files(folders: Iterable[Path]) -> list[Path]:
    files: dict[Path, Path] = {}
    for folder in folders:
        for file in sorted(folder.glob("*.md")):
            files.setdefault(file.resolve(), file)
    return list(files.values())


def _name(head: FrontMatter) -> str:
    name = head.fields.get("name")
    if name is None:
        raise ValidationError("its header has no name; add a line like name: my-agent", line=1)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise head.wrong("name", f"name is {_shown(name)}; use letters, digits and dashes")
    return name


def _description(head: FrontMatter) -> str:
    description = head.fields.get("description", "")
    if description is not None and not isinstance(description, str):
        raise head.wrong("description", "description is not text; quote it")
    if not description or not description.strip():
        what = "its header has no description, so planners cannot pick it; add what it is for"
        raise ValidationError(what, line=1)
    return description.strip()


def _permission_mode(head: FrontMatter) -> str | None:
    mode = head.fields.get("permissionMode")
    return None if mode is None or mode in _UNCHANGED else _shown(mode)


def _tools(head: FrontMatter, field: str) -> list[str] | None:
    given = head.fields.get(field)
    if given is None or (isinstance(given, str) and given.strip() in _ALL_TOOLS):
        return None
    listed = _split(given) if isinstance(given, str) else given
    names = [one.strip() for one in as_list(listed) if isinstance(one, str)]
    if not is_list(listed) or len(names) < len(listed):
        raise head.wrong(field, f"{field} is not a list of names; write {field}: Read, Grep")
    names = [one for one in names if one]
    return None if "*" in names else names


def _disallowed(head: FrontMatter) -> list[str]:
    names = _tools(head, _DENIED)
    if names is None and head.fields.get(_DENIED):
        what = f"{_DENIED} denies every tool; name some, as in {_DENIED}: Bash, WebFetch"
        raise head.wrong(_DENIED, what)
    return names or []


def _split(given: str) -> list[str]:
    """Split names at commas, but not inside parentheses, as in `Bash(ls, cat)`."""
    return re.findall(r"[^,()\[\]\"']+(?:\([^)]*\))?", given.strip("[]"))


def _model(head: FrontMatter) -> str | None:
    model = head.fields.get("model")
    if model is None:
        return None
    if not isinstance(model, str):
        what = f"model is {_shown(model)}; write a model's name, such as sonnet"
        raise head.wrong("model", what)
    return None if model.strip() in _UNCHANGED else model.strip()


def _shown(value: object) -> str:
    """Text as it is; for other values, which may be long, only that they are not text."""
    return repr(value) if isinstance(value, str) else "no text"
