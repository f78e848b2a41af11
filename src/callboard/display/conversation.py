"""A conversation as lines, with tool calls folded or in full. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from callboard.display.amounts import dollars, short_count
from callboard.display.lines import Bounds, Line, Look, bounded, collapsed, one_line, text_lines
from callboard.display.tool_calls import INDENT, diff_lines, tool_parts
from callboard.events.json_values import as_object, as_text
from callboard.vendors.agents import VENDORS
from callboard.vendors.conversation import (
    ConversationItem,
    ConversationPage,
    FileEdit,
    TokenUsage,
    ToolRun,
    ToolStatus,
)
from callboard.vendors.conversation_items import assembled

_TELLING: Final = ("file_path", "path", "pattern", "query", "url", "description", "prompt", "skill")
"""Members of a tool's input that say what a call is about, best first."""
_LONGEST: Final = 160
_LAST_WORDS: Final = 3
"""Lines of what a failed call returned that are shown even if it is folded."""
_LED_UP: Final = 5
_ENDINGS: Final[dict[ToolStatus, tuple[str, Look]]] = {
    "running": ("running", "number"),
    "done": ("", "plain"),
    "failed": ("failed", "removed"),
    "denied": ("denied", "removed"),
}


class KnownItems:
    """What has been read of a conversation, in order: pages are added at both ends."""

    def __init__(self) -> None:
        self.items: list[ConversationItem] = []
        self.before: str | None = None
        self.after: str | None = None
        self._cursors: dict[str, str] = {}

    def cursor_of(self, item_id: str) -> str | None:
        """Where an item is, for reading all of it: `after` of the page that it came with."""
        return self._cursors.get(item_id, self.after)

    def add(self, page: ConversationPage) -> None:
        """Add what follows, or the end; a page of a rewritten transcript replaces everything."""
        if page.restarted or self.after is None:
            self.items, self.before = [], page.before
            self._cursors.clear()
        self._cursors |= dict.fromkeys((item.id for item in page.items), page.after)
        self.items = _shown([*self.items, *page.items])
        self.after = page.after

    def add_before(self, page: ConversationPage) -> None:
        """Add what is before it."""
        for item in page.items:
            self._cursors.setdefault(item.id, page.after)
        self.items = _shown([*page.items, *self.items])
        self.before = page.before


def _shown(parts: Sequence[ConversationItem]) -> list[ConversationItem]:
    """The items to show. A transcript may have what a call took apart from what the model said."""
    shown: list[ConversationItem] = []
    for item in assembled(parts):
        if item.kind != "usage":
            shown.append(item)
        elif shown and shown[-1].author == "model" and shown[-1].usage is None:
            shown[-1] = replace(shown[-1], usage=item.usage)
    return shown


def usage_text(usage: TokenUsage) -> str:
    """What a call took: `opus · 12.3k in (11k cached), 840 out · $0.034`."""
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    counts = f"{short_count(usage.input_tokens + cached)} in"
    counts += f" ({short_count(cached)} cached)" if cached else ""
    counts += f", {short_count(usage.output_tokens)} out"
    cost = "" if usage.cost is None else dollars(usage.cost)
    return " · ".join(filter(None, (one_line(usage.model or "", _LONGEST), counts, cost)))


def speaker(item: ConversationItem, agent: str) -> str:
    """Whose words it is, as a heading."""
    match item.author:
        case "person":
            return "Prompt"
        case "program":
            return "Prompt from a program"
        case "model":
            return VENDORS[agent].title if agent in VENDORS else agent
        case "client":
            return "Context compacted" if item.kind == "compaction" else "Note"


def item_lines(
    item: ConversationItem,
    *,
    full: bool = False,
    bounds: Bounds | None = None,
    folder: str = "",
) -> list[Line]:
    """An item as lines.

    full: with all of a tool call, of thoughts, and of a summary. folder: where the agent works;
    paths in there are shown from there.
    """
    parts = _parts(item, folder.rstrip("/"), full=full)
    return [line for part in parts for line in _within(part, bounds)]


def _within(part: Sequence[Line], bounds: Bounds | None) -> Sequence[Line]:
    lines = collapsed(part)
    return lines if bounds is None else bounded(lines, bounds)


def _parts(item: ConversationItem, folder: str, *, full: bool) -> Iterator[Sequence[Line]]:
    if item.tool is not None:
        yield [call_line(item.tool, brief=not full, folder=folder)]
        yield from _call(item.tool, folder) if full else _glimpse(item.tool)
    elif item.kind in ("thinking", "compaction", "notice"):
        yield text_lines(item.text, "faint", INDENT) if full else [_folded(item)]
    elif item.text:
        yield text_lines(item.text.rstrip(), "plain", INDENT)
    for image in item.images:
        size = "" if image.data is None else f", {len(image.data) * 3 // 4:,} bytes"
        yield [Line(f"[{one_line(image.media_type)}{size}]", "notice", INDENT)]
    if item.usage is not None and full:
        yield [Line(usage_text(item.usage), "faint", INDENT)]
    if item.cut and full:
        yield [Line("⋯ more than is shown here ⋯", "notice", INDENT)]


def _folded(item: ConversationItem) -> Line:
    lead = "Thought: " if item.kind == "thinking" else ""
    return Line(one_line(item.text, _LONGEST), "faint", f"{INDENT}{lead}")


def call_line(tool: ToolRun, *, brief: bool = True, folder: str = "") -> Line:
    """A tool call on one line: its name, how it ended unless it is done, and what it is about."""
    about, look = _about(tool, folder) if brief else ("", "plain")
    ending, ending_look = _ENDINGS[tool.status]
    lead = f"{INDENT}{one_line(tool.name, _LONGEST) or 'Tool call'}  "
    if ending and about:
        about = f"{about}  ({ending})"
    elif ending:
        about = ending
    return Line(about, ending_look if ending else look, lead, "number")


def _about(tool: ToolRun, folder: str) -> tuple[str, Look]:
    if tool.command:
        return f"$ {one_line(tool.command, _LONGEST)}", "command"
    if tool.edits:
        return ", ".join(_counted(edit, folder) for edit in tool.edits[:3]), "path"
    given = as_object(tool.input)
    texts = (as_text(given.get(key)) for key in _TELLING)
    return one_line(next((text for text in texts if text), ""), _LONGEST), "faint"


def _counted(edit: FileEdit, folder: str) -> str:
    lines = edit.diff.split("\n")
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return f"{one_line(_path_in(folder, edit.path), _LONGEST)} +{added} -{removed}"


def _path_in(folder: str, path: str) -> str:
    return path.removeprefix(f"{folder}/") if folder else path


def _glimpse(tool: ToolRun) -> Iterator[Sequence[Line]]:
    """What is seen of a folded call: how a failed one ended."""
    if tool.status in ("failed", "denied") and tool.result:
        yield text_lines(tool.result.rstrip(), "faint", INDENT * 2)[-_LAST_WORDS:]


def _call(tool: ToolRun, folder: str) -> Iterator[Sequence[Line]]:
    """All of a call: its input, or what it changed, and its result."""
    diffs = [edit for edit in tool.edits if edit.diff]
    for edit in diffs:
        yield [Line(one_line(_path_in(folder, edit.path)), "path", INDENT * 2)]
        yield [
            line._replace(lead=INDENT * 2 + line.lead)
            for line in diff_lines(edit.diff.rstrip("\n"))
        ]
    if not diffs:
        for part in tool_parts(tool.input):
            yield [line._replace(lead=INDENT + line.lead) for line in part.lines]
    if tool.result:
        yield [Line("Result", "faint", INDENT * 2)]
        yield text_lines(tool.result.rstrip(), "faint", INDENT * 2)


def led_up_to(items: Sequence[ConversationItem]) -> list[ConversationItem]:
    """The last messages before a question: not the call that it is about, and no thoughts."""
    found = [one for one in items if one.kind not in ("thinking", "usage")]
    if found and found[-1].tool is not None and found[-1].tool.status == "running":
        found.pop()
    return found[-_LED_UP:]
