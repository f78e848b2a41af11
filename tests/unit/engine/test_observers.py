"""Observers see everything, in order, and can disturb nothing."""

from typing import Any

from callboard import Approval, Event, Phase, State, Text, Workflow, agent, auto_approve, run
from callboard.ids import short_id


class Notes(State):
    seen: list[str] = []


@agent
async def work(state: Notes, ctx: Any) -> str:
    await ctx.emit(Text("hello"))
    await ctx.emit("progress", {"done": 1})
    return "x"


FLOW = Workflow(
    "w",
    state=Notes,
    phases=[
        Phase(
            "a",
            agent=work,
            update=lambda s, o: s.seen.append(o),
            human=Approval("Ok?"),
            terminal=True,
        )
    ],
)


class Watcher:
    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def on_started(self, session_id: str) -> None:
        self.told.append(("started", session_id))

    async def on_phase_changed(self, phase: str, before: str | None) -> None:
        self.told.append(("phase", (phase, before)))

    def on_state_changed(self, state: Any, patches: Any) -> None:
        self.told.append(("state", state["seen"]))

    def on_text_delta(self, payload: Any) -> None:
        self.told.append(("text", payload["delta"]))

    def on_completed(self, payload: Any) -> None:
        self.told.append(("completed", payload["exitPhase"]))


async def test_an_observer_hears_in_order() -> None:
    watcher, session_id = Watcher(), short_id()
    await run(FLOW, human_input=auto_approve(), observer=watcher, session_id=session_id)
    assert watcher.told == [
        ("started", session_id),
        ("phase", ("a", None)),
        ("text", "hello"),
        ("state", ["x"]),
        ("state", ["x"]),
        ("completed", "a"),
    ]


async def test_on_event_gets_each_event_once() -> None:
    events: list[Event] = []
    result = await run(FLOW, human_input=auto_approve(), on_event=events.append)
    assert [e.position for e in events] == list(range(1, len(result.events) + 1))
    assert [e.id for e in events] == [e.id for e in result.events]
    assert "agent:emitted" in [e.name for e in events]


async def test_a_failing_observer_changes_nothing(caplog: Any) -> None:
    def broken(event: Event) -> None:
        raise RuntimeError("observer")

    result = await run(FLOW, human_input=auto_approve(), on_event=broken)
    assert result.status == "completed"
    assert "An observer failed" in caplog.text
