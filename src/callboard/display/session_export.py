"""A session as one document: JSON for programs, Markdown for people.

It is written while it is read, so that a long session takes no more memory than a short one, and in
threads, because a single event can have megabytes, which would block other tasks for too long.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Final, Literal

import orjson

from callboard.display.lines import one_line, visible
from callboard.engine.sessions import SessionInfo
from callboard.errors import ValidationError
from callboard.events import names
from callboard.events.codec import dump_json
from callboard.events.envelope import Event, Json
from callboard.events.moments import iso
from callboard.events.payloads import agents, people, workflow

ExportFormat = Literal["json", "markdown"]
FORMATS: Final[Mapping[str, str]] = {"json": "application/json", "markdown": "text/markdown"}
"""The export formats, with their media types."""

Pages = AsyncIterator[Sequence[Event]]
_SPOKEN: Final = (names.TEXT_DELTA, names.THINKING_DELTA)


async def exported(
    info: SessionInfo, pages: Pages, state: Json, format: str
) -> AsyncIterator[bytes]:
    """The document in chunks: the session, its events, and its state after the last one."""
    if format not in FORMATS:
        raise ValidationError(
            f"format: {format!r} is not supported. Use json or markdown.", field="format"
        )
    write = _json if format == "json" else _markdown
    async for piece in write(info, pages, state):
        yield piece


async def _json(info: SessionInfo, pages: Pages, state: Json) -> AsyncIterator[bytes]:
    yield b'{"session": ' + dump_json(info.to_wire()) + b',\n"events": ['
    separator = b"\n"
    async for events in pages:
        yield separator + await asyncio.to_thread(_json_lines, events)
        separator = b",\n"
    yield b'\n],\n"state": ' + await asyncio.to_thread(dump_json, state) + b"}\n"


def _json_lines(events: Sequence[Event]) -> bytes:
    return b",\n".join([orjson.dumps(event.to_wire()) for event in events])


async def _markdown(info: SessionInfo, pages: Pages, state: Json) -> AsyncIterator[bytes]:
    yield _head(info).encode("utf-8", "replace")
    writer = MarkdownWriter()
    async for events in pages:
        yield await asyncio.to_thread(writer.add_all, events)
    yield await asyncio.to_thread(_state, state)


def _state(state: Json) -> bytes:
    return f"\n\n## State\n\n{_block(state)}\n".encode("utf-8", "replace")


def _head(info: SessionInfo) -> str:
    rows = {
        "Session": _code(info.session_id),
        "Workflow": _code(info.workflow) + (f" {_code(info.version)}" if info.version else ""),
        "Status": info.status,
        "Started": iso(info.created_at),
        "Last change": iso(info.updated_at),
    }
    if info.parent:
        rows["Forked from"] = f"{_code(info.parent)} at {info.fork_position}"
    table = "\n".join(
        f"| {key} | {value.replace('|', chr(92) + '|')} |" for key, value in rows.items()
    )
    title = _escaped(one_line(info.title or info.workflow))
    return f"# {title}\n\n| | |\n|---|---|\n{table}\n\n## History\n"


class MarkdownWriter:
    """Writes one event after another; what an agent says in pieces becomes a single quotation."""

    def __init__(self) -> None:
        self._speaking: tuple[object, ...] | None = None

    def add_all(self, events: Sequence[Event]) -> bytes:
        """What several events add to the document."""
        return "".join(map(self.add, events)).encode("utf-8", "replace")

    def add(self, event: Event) -> str:
        """What an event adds to the document."""
        payload = event.payload
        if event.name in _SPOKEN:
            said = visible(str(payload.get("delta", ""))).replace("\n", "\n> ")
            who = (event.name, payload.get("run"), payload.get("attempt"))
            if who == self._speaking:
                return said
            self._speaking = who
            verb = "says" if event.name == names.TEXT_DELTA else "is thinking"
            speaker = f"{_code(payload.get('agent'))} {verb}"
            return f"{_line(event, speaker)}\n\n> {said}"
        self._speaking = None
        teller = _TELLERS.get(event.name)
        return teller(payload, event) if teller else _other(payload, event)


def _line(event: Event, text: str) -> str:
    return f"\n\n{event.position}. {iso(event.timestamp)} · {text}"


def _code(value: object) -> str:
    """A name from any source as inline code that nothing in it can end."""
    text = one_line(str(value))
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)


def _quote(text: str) -> str:
    return "\n\n> " + visible(text).replace("\n", "\n> ")


def _block(value: object) -> str:
    """A value as JSON, in a code block that nothing in it can end."""
    text = visible(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
    fence = "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence}json\n{text}\n{fence}"


def _value(value: Json) -> str:
    if value is None:
        return ""
    return _quote(value) if isinstance(value, str) else f"\n\n{_block(value)}"


def _by(payload: Mapping[str, object]) -> str:
    return f" by {_code(payload['by'])}" if payload.get("by") else ""


def _other(payload: Mapping[str, Json], event: Event) -> str:
    return _line(event, _code(event.name)) + (_value(dict(payload)) if payload else "")


def _started(payload: workflow.WorkflowStartedPayload, event: Event) -> str:
    return _line(event, f"**Started**{_by(payload)}") + _value(payload["input"])


def _ended(word: str) -> Callable[[Mapping[str, Json], Event], str]:
    def tell(payload: Mapping[str, Json], event: Event) -> str:
        return _line(event, f"**{word}**{_by(payload)}") + _value(
            payload.get("error") or payload.get("reason")
        )

    return tell


def _entered(payload: workflow.PhaseEnteredPayload, event: Event) -> str:
    visit = f" (visit {payload['visit']})" if payload["visit"] > 1 else ""
    return f"\n\n### {_code(payload['phase'])}{visit}{_line(event, 'Phase started')}"


def _exited(payload: workflow.PhaseExitedPayload, event: Event) -> str:
    following = payload.get("next")
    then = f" → {_code(following)}" if following else f": {payload['reason']}"
    return _line(event, f"Phase finished{then}")


def _failed(payload: workflow.PhaseFailedPayload, event: Event) -> str:
    text = f"**{_code(payload['phase'])} failed**, attempt {payload['attempt']}"
    return _line(event, text) + _value(dict(payload["error"]))


def _agent_started(payload: agents.AgentStartedPayload, event: Event) -> str:
    return _line(event, f"{_code(payload['agent'])} started")


def _agent_completed(payload: agents.AgentCompletedPayload, event: Event) -> str:
    took = f"{payload['durationMs']:,} ms"
    return _line(event, f"{_code(payload['agent'])} finished in {took}") + _value(payload["output"])


def _asked(payload: people.InputRequestedPayload, event: Event) -> str:
    text = _line(event, "**Question**") + _quote(payload["prompt"])
    options = payload.get("options")
    return text + (_value(list(options)) if options else "")


def _answered(payload: people.InputReceivedPayload, event: Event) -> str:
    approved = payload.get("approved")
    word = "Answered" if approved is None else "Approved" if approved else "Rejected"
    value = payload.get("value") if approved is None else payload.get("message")
    return _line(event, f"**{word}**{_by(payload)}") + _value(value)


def _changed(payload: workflow.StateIntentPayload, event: Event) -> str:
    if not payload["patches"]:
        return ""
    return _line(event, "State changed") + f"\n\n{_block(payload['patches'])}"


def _nothing(payload: Mapping[str, Json], event: Event) -> str:
    return ""


_TELLERS: Final = dict(
    (
        names.STARTED.to(_started),
        names.COMPLETED.to(_ended("Completed")),
        names.FAILED.to(_ended("Failed")),
        names.CANCELLED.to(_ended("Cancelled")),
        names.PHASE_ENTERED.to(_entered),
        names.PHASE_EXITED.to(_exited),
        names.PHASE_FAILED.to(_failed),
        names.AGENT_STARTED.to(_agent_started),
        names.AGENT_COMPLETED.to(_agent_completed),
        names.REQUESTED.to(_asked),
        names.RECEIVED.to(_answered),
        names.INTENT.to(_changed),
        names.CHECKPOINT.to(_nothing),
    )
)
