"""A session as one document: every event is in it, whatever it says."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.display.session_export import exported
from callboard.engine.sessions import SessionInfo
from callboard.errors import ValidationError
from callboard.events.envelope import Event

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def info(**changes: Any) -> SessionInfo:
    told: dict[str, Any] = {
        "session_id": "abc",
        "workflow": "trip",
        "version": "2",
        "status": "completed",
        "running": False,
        "phase": "end",
        "position": 3,
        "created_at": MOMENT,
        "updated_at": MOMENT,
        "parent": None,
        "fork_position": None,
        "pending": (),
        "error": None,
        "held": None,
    }
    return SessionInfo(**(told | changes))


def events_of(*told: tuple[str, dict[str, Any]]) -> list[Event]:
    return [
        Event(f"e{position}", "abc", position, name, 1, payload, 1_767_323_045_000, None)
        for position, (name, payload) in enumerate(told, 1)
    ]


def document(
    events: Sequence[Event], state: Any = None, format: str = "markdown", **changes: Any
) -> str:
    async def pages() -> AsyncIterator[Sequence[Event]]:
        for start in range(0, len(events), 2):
            yield events[start : start + 2]

    async def read() -> bytes:
        pieces = exported(info(**changes), pages(), state, format)
        return b"".join([piece async for piece in pieces])

    return asyncio.run(read()).decode()


def test_markdown_reads_as_a_report() -> None:
    says = {"agent": "writer", "run": "a", "attempt": 1}
    text = document(
        events_of(
            (
                "workflow:started",
                {"workflow": "trip", "version": "2", "input": "Lima", "by": "ann"},
            ),
            ("phase:entered", {"phase": "write", "visit": 2}),
            ("text:delta", {**says, "delta": "See Li"}),
            ("text:delta", {**says, "delta": "ma.\nGo."}),
            ("agent:completed", {"agent": "writer", "durationMs": 1200, "output": ["a"]}),
            ("input:requested", {"id": "q", "prompt": "Go?\n# No heading", "options": ["a", "b"]}),
            ("input:received", {"id": "q", "approved": True, "by": "ann"}),
            ("moon:landed", {"crew": 3}),
            ("workflow:completed", {"exitPhase": "end"}),
        ),
        {"to": "Lima"},
        title="A *trip*",
        parent="first",
        fork_position=4,
    )
    assert text.startswith("# A \\*trip\\*\n")
    for part in (
        "| Forked from | `first` at 4 |",
        "· **Started** by `ann`\n\n> Lima",
        "### `write` (visit 2)",
        "`writer` says\n\n> See Lima.\n> Go.\n",
        "`writer` finished in 1,200 ms",
        "> Go?\n> # No heading",
        "**Approved** by `ann`",
        "`moon:landed`",
        '## State\n\n```json\n{\n  "to": "Lima"\n}\n```',
    ):
        assert part in text, part


def test_json_holds_everything() -> None:
    events = events_of(("workflow:started", {"input": "é"}), ("odd", {}), ("odd", {"a": [1]}))
    whole = json.loads(document(events, {"n": 1}, "json", title="T"))
    assert whole["session"]["title"] == "T"
    assert whole["events"] == [event.to_wire() for event in events]
    assert whole["state"] == {"n": 1}
    assert json.loads(document([], None, "json"))["events"] == []


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValidationError, match="Use json or markdown"):
        document([], None, "yaml")


Text = st.text(st.sampled_from("ab`>#|\n\x1b\u202e*"), max_size=12)
Told = st.one_of(
    st.tuples(st.just("text:delta"), st.fixed_dictionaries({"agent": Text, "delta": Text})),
    st.tuples(st.just("odd"), st.fixed_dictionaries({"value": Text})),
    st.tuples(st.just("input:requested"), st.fixed_dictionaries({"id": Text, "prompt": Text})),
)


@given(st.lists(Told, max_size=8), Text)
def test_no_content_breaks_out_of_its_place(told: list[Any], title: str) -> None:
    events = events_of(*told)
    assert len(json.loads(document(events, format="json"))["events"]) == len(events)
    lines = document(events, {"state": title}, title=title).split("\n")
    # Our own headings are the only ones, and nothing hidden is left.
    assert [line for line in lines if line.startswith("## ")] == ["## History", "## State"]
    assert not {"\x1b", "\u202e"} & set("".join(lines))
