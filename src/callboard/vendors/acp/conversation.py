"""The conversation with an agent that speaks ACP, put together from what was reported of it. Pure.

These agents have no transcript that we could read: what their conversation is made of is in the
log. A turn is folded as a whole, because what belongs to one message is in many events.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, as_text, as_whole, objects
from callboard.vendors.acp.tools import command_of, path_of, tool_named
from callboard.vendors.acp.turn_usage import MOST_DOLLARS
from callboard.vendors.conversation import (
    ConversationItem,
    FileEdit,
    ItemImage,
    TokenUsage,
    ToolRun,
    ToolStatus,
)
from callboard.vendors.conversation_items import strings, texts
from callboard.vendors.fields import word

_STATUSES: Final[Mapping[str, ToolStatus]] = {"completed": "done", "failed": "failed"}
_QUIET: Final = frozenset(
    {"available_commands_update", "config_option_update", "session_info_update", "usage_update"}
)
_SAID: Final = frozenset(
    {"session", "prompt", "more", "update", "answered", "turn", "notice", "end"}
)
_MARKS: Final = {"completed": "x", "in_progress": "~"}
_LONGEST_UNKNOWN: Final = 2_000
_LONGEST_TEXT: Final = 1_000_000
"""Characters of a message or a result. More of one is never shown."""


class PlacedItem(NamedTuple):
    """An item, and the positions of the first and the last event that it was made of."""

    item: ConversationItem
    start: int
    last: int


@dataclass(slots=True)
class _Run:
    """A call of a tool so far: what the agent said of it, by name."""

    id: str
    facts: dict[str, Json] = field(default_factory=dict[str, Json])
    text: str = ""
    is_denied: bool = False

    def tell(self, update: Object) -> None:
        self.facts.update({key: one for key, one in update.items() if key not in ("text", "added")})
        if "text" in update:
            self.text = as_text(update["text"])
        if (added := as_text(update.get("added"))) and len(self.text) < _LONGEST_TEXT:
            self.text += added

    @property
    def tool(self) -> ToolRun:
        facts = self.facts
        status: ToolStatus = _STATUSES.get(as_text(facts.get("status")), "running")
        if self.is_denied and status != "done":
            status = "denied"
        edits = [
            FileEdit(as_text(one.get("path")), as_text(one.get("diff")))
            for one in objects(facts.get("diffs"))
        ]
        return ToolRun(
            tool_named(facts),
            _input(facts),
            command_of(facts),
            self.text or (None if status == "running" else ""),
            status,
            edits,
        )


def _input(facts: Object) -> Json:
    given = facts.get("rawInput")
    if given not in (None, {}):
        return given
    shown = {"title": as_text(facts.get("title")), "path": path_of(facts)}
    return {key: one for key, one in shown.items() if one}


def begins_turn(payload: Object) -> bool:
    """Whether nothing that follows belongs to an item before this."""
    return payload.get("type") in ("prompt", "session") and payload.get("within") is not True


def is_said(payload: Object) -> bool:
    """Whether a payload is part of a conversation: those of other clients name a hook."""
    return payload.get("type") in _SAID and "hook_event_name" not in payload


def continues(payload: Object, last: Object) -> bool:
    """Whether a payload may belong to the same item as those before it. last: the one before."""
    kind, update = payload.get("type"), as_object(payload.get("update"))
    if kind != "update":
        return kind in ("more", "answered")
    told, before = update.get("sessionUpdate"), as_object(last.get("update"))
    return told == "tool_call_update" or (told in _TEXTS and told == before.get("sessionUpdate"))


class ConversationFold:
    """The items of some turns, as they grow. The first event starts a turn, or is the first one."""

    def __init__(self) -> None:
        self.size = 0
        """Roughly how many characters the items have."""
        self._items: dict[str, PlacedItem] = {}
        self._runs: dict[str, _Run] = {}
        self._open = ""
        """The id of the text that the next part may continue."""
        self._parts: list[str] = []
        """What continues that text and was not added yet: each time, all of it is copied."""
        self._parts_size = 0
        self._part_of: tuple[str, Json] = "", None
        self._in_turn = False
        self._plan = ""
        self._model: str | None = None

    def add(self, position: int, at_ms: int, payload: Object) -> None:
        """Fold the next event."""
        self._model = word(payload.get("model")) or self._model
        read = self._reading(as_text(payload.get("type")))
        if read is not None:
            self.size += sum(map(len, strings(payload)))
            read(position, at_ms, payload)

    def _reading(self, kind: str) -> Callable[[int, int, Object], None] | None:
        # Kept in the fold, it would refer to itself, and be freed late with all of its items.
        return {
            "session": self._session,
            "prompt": self._prompt,
            "more": self._more,
            "update": self._update,
            "answered": self._answered,
            "turn": self._turn,
            "notice": self._said,
            "end": self._end,
        }.get(kind)

    @property
    def items(self) -> Mapping[str, PlacedItem]:
        """The items by their ids, in order."""
        self._add_parts()
        return self._items

    def forget(self, upto: int) -> None:
        """Forget the items that ended by a position, but for those that may still grow."""
        self._add_parts()
        self._runs = {id: run for id, run in self._runs.items() if run.tool.status == "running"}
        kept = {self._open, self._plan, *(run.id for run in self._runs.values())}
        self._items = {id: one for id, one in self._items.items() if one.last > upto or id in kept}
        self.size = sum(len(text) for one in self._items.values() for text in texts(one.item))

    # ------------------------------------------------------------------ payloads

    def _session(self, position: int, at_ms: int, payload: Object) -> None:
        agent = as_object(payload.get("agent"))
        name = as_text(agent.get("title")) or as_text(agent.get("name")) or "The agent"
        said = " ".join(one for one in (name, as_text(agent.get("version"))) if one)
        again = "resumed its session" if payload.get("resumed") is True else "started"
        self._end_turn()
        self._notice(position, at_ms, f"{said} {again}.")

    def _prompt(self, position: int, at_ms: int, payload: Object) -> None:
        if begins_turn(payload):
            self._end_turn()
        self._in_turn = True
        item = ConversationItem(
            f"@{position}", at_ms, "prompt", "person", as_text(payload.get("text"))
        )
        self._place(item, position)
        self._open, self._part_of = item.id, ("prompt", None)

    def _more(self, position: int, at_ms: int, payload: Object) -> None:
        if self._part_of[0] == "prompt" and self._open in self._items:
            self._lengthen(position, as_text(payload.get("text")))

    def _update(self, position: int, at_ms: int, payload: Object) -> None:
        update = as_object(payload.get("update"))
        kind = as_text(update.get("sessionUpdate"))
        if kind in _TEXTS:
            self._text(position, at_ms, kind, update)
        elif kind in ("tool_call", "tool_call_update"):
            self._call(position, at_ms, update)
        elif kind == "plan":
            self._planned(position, at_ms, update)
        elif kind == "current_mode_update":
            self._notice(position, at_ms, f"Mode: {as_text(update.get('currentModeId'))}")
        elif kind not in _QUIET:
            told = json.dumps(update, ensure_ascii=False)[:_LONGEST_UNKNOWN]
            self._notice(position, at_ms, f"{kind or 'update'}: {told}")

    def _answered(self, position: int, at_ms: int, payload: Object) -> None:
        run = self._runs.get(as_text(as_object(payload.get("tool_input")).get("call")))
        if run is not None and payload.get("outcome") == "denied":
            run.is_denied = True
            self._show(run, position, at_ms)

    def _turn(self, position: int, at_ms: int, payload: Object) -> None:
        error, reason = as_text(payload.get("error")), as_text(payload.get("stopReason"))
        if error:
            self._notice(position, at_ms, error)
        elif reason == "cancelled":
            self._notice(position, at_ms, "Interrupted")
        elif reason not in ("end_turn", ""):
            self._notice(position, at_ms, f"The agent stopped: {reason}")
        self._use(position, at_ms, payload)
        self._end_turn()

    def _said(self, position: int, at_ms: int, payload: Object) -> None:
        self._notice(position, at_ms, as_text(payload.get("text")))

    def _end(self, position: int, at_ms: int, payload: Object) -> None:
        self._end_turn()
        told = as_text(payload.get("error")) or as_text(payload.get("reason"))
        self._notice(position, at_ms, told or "The session ended.")

    # ------------------------------------------------------------------ items

    def _text(self, position: int, at_ms: int, kind: str, update: Object) -> None:
        if kind == "user_message_chunk" and self._in_turn:
            return  # The prompt that we sent, which is known.
        content = as_object(update.get("content"))
        part = kind, update.get("messageId")
        if content.get("type") != "text":
            self._block(position, at_ms, kind, content)
        elif self._open and part == self._part_of:
            self._lengthen(position, as_text(content.get("text")))
        else:
            item = replace(_TEXTS[kind], id=f"@{position}", at=at_ms)
            self._place(replace(item, text=as_text(content.get("text"))), position)
            self._open, self._part_of = item.id, part

    def _block(self, position: int, at_ms: int, kind: str, content: Object) -> None:
        data = content.get("data")
        media = as_text(content.get("mimeType")) or "application/octet-stream"
        item = replace(_TEXTS[kind], id=f"@{position}", at=at_ms)
        if content.get("type") == "image":
            image = ItemImage(media, data if isinstance(data, str) else None)
            item = replace(item, images=[image])
        else:
            inside = as_object(content.get("resource"))
            text = as_text(inside.get("text")) or as_text(content.get("uri"))
            item = replace(item, text=text or as_text(inside.get("uri")) or f"({media})")
        self._place(item, position)
        self._close()

    def _lengthen(self, position: int, text: str) -> None:
        known = self._items[self._open]
        self._items[self._open] = known._replace(last=position)
        if len(known.item.text) + self._parts_size < _LONGEST_TEXT:
            self._parts.append(text)
            self._parts_size += len(text)

    def _add_parts(self) -> None:
        if self._parts:
            known = self._items[self._open]
            item = replace(known.item, text="".join((known.item.text, *self._parts)))
            self._items[self._open] = known._replace(item=item)
            self._parts, self._parts_size = [], 0

    def _call(self, position: int, at_ms: int, update: Object) -> None:
        id = as_text(update.get("toolCallId"))
        run = self._runs.get(id)
        if run is None:
            # Its number tells calls of other turns apart that have the same id.
            run = self._runs[id] = _Run(f"{id}@{position}")
        run.tell(update)
        self._show(run, position, at_ms)

    def _show(self, run: _Run, position: int, at_ms: int) -> None:
        self._place(ConversationItem(run.id, at_ms, "tool", "model", "", tool=run.tool), position)

    def _planned(self, position: int, at_ms: int, update: Object) -> None:
        entries = objects(update.get("entries"))
        lines = [
            f"- [{_MARKS.get(as_text(one.get('status')), ' ')}] {as_text(one.get('content'))}"
            for one in entries
        ]
        self._plan = self._plan or f"plan@{position}"
        tool = ToolRun("Plan", {"entries": entries}, None, "\n".join(lines), "done", [])
        self._place(ConversationItem(self._plan, at_ms, "tool", "model", "", tool=tool), position)

    def _use(self, position: int, at_ms: int, payload: Object) -> None:
        for number, used in enumerate(usages(payload, f"turn@{position}", self._model)):
            id = f"usage@{position}.{number}"
            item = ConversationItem(id, at_ms, "usage", "model", "", usage=used)
            self._place(item, position)

    def _notice(self, position: int, at_ms: int, text: str) -> None:
        self._place(ConversationItem(f"@{position}", at_ms, "notice", "client", text), position)

    def _place(self, item: ConversationItem, position: int) -> None:
        """Show an item: a new one after all others, a known one where it is."""
        known = self._items.get(item.id)
        start = position if known is None else known.start
        at = item.at if known is None else known.item.at
        self._items[item.id] = PlacedItem(replace(item, at=at), start, position)
        if known is None:
            self._close()

    def _close(self) -> None:
        """Nothing continues the open text anymore."""
        self._add_parts()
        self._open = ""

    def _end_turn(self) -> None:
        self._runs.clear()
        self._close()
        self._plan, self._in_turn = "", False


_TEXTS: Final[Mapping[str, ConversationItem]] = {
    "agent_message_chunk": ConversationItem("", None, "reply", "model", ""),
    "agent_thought_chunk": ConversationItem("", None, "thinking", "model", ""),
    "user_message_chunk": ConversationItem("", None, "prompt", "person", ""),
}


def usages(payload: Object, call: str, model: str | None) -> Iterator[TokenUsage]:
    """What a turn took, for each model, as far as its agent said."""
    for number, used in enumerate(objects(payload.get("usage"))):
        cost = used.get("cost")
        is_cost = isinstance(cost, int | float) and 0 <= cost <= MOST_DOLLARS
        yield TokenUsage(
            word(used.get("model")) or model,
            max(0, as_whole(used.get("inputTokens"))),
            max(0, as_whole(used.get("outputTokens"))),
            max(0, as_whole(used.get("cachedReadTokens"))),
            max(0, as_whole(used.get("cachedWriteTokens"))),
            float(cost) if is_cost and isinstance(cost, int | float) else None,
            call=f"{call}.{number}",
        )
