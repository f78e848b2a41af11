"""What is foreseen is what `decide` would decide, whatever happens to a session."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.random_flows import SESSION, Spec, history, moves, specs

from callboard.engine import decide as decisions
from callboard.engine.decide import Conclude, Decision, Enter, Start, Wait, decide, foresee
from callboard.engine.phase import Definition
from callboard.state.session import SessionView

pytestmark = pytest.mark.timeout(300)

straight = st.builds(
    Spec,
    streams=st.booleans(),
    asks=st.integers(0, 1),
    once=st.booleans(),
    fails=st.integers(0, 3),
    asks_on_error=st.booleans(),
)
flows = st.lists(straight | straight | specs, min_size=1, max_size=4)


def checked(taken: list[Decision]) -> Any:
    """`foresee`, with each of its decisions compared before it is performed."""

    def foresee_and_check(workflow: Definition, view: SessionView) -> Iterator[Decision]:
        for decision in foresee(workflow, view):
            assert decision == decide(workflow, view, view.updated_at)
            taken.append(decision)
            yield decision

    return foresee_and_check


def played(phases: Sequence[Spec], ahead: Sequence[str], foresees: Any) -> list[Any]:
    """A session's history, without what chance and the clock have given it."""
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(decisions, "foresee", foresees)
        _, events = history(phases, ahead)
    assert {event.session_id for event in events} == {SESSION}
    ids = {event.id: event.position for event in events}
    return [(ids.get(event.caused_by or ""), event.name, _plain(event.payload)) for event in events]


def _plain(payload: Any) -> Any:
    """The payload without ids and times, which differ from run to run."""
    unlike = ("id", "intentId", "taskId", "interactionId", "traceback", "durationMs", "deadline")
    if isinstance(payload, dict):
        return {key: _plain(value) for key, value in payload.items() if key not in unlike}
    return [_plain(one) for one in payload] if isinstance(payload, list) else payload


@settings(max_examples=25)
@given(phases=flows, ahead=moves)
def test_the_events_are_those_of_decide(phases: Sequence[Spec], ahead: Sequence[str]) -> None:
    taken: list[Decision] = []
    foreseen = played(phases, ahead, checked(taken))
    assert foreseen == played(phases, ahead, lambda workflow, view: ())


def test_a_straight_workflow_is_foreseen_to_its_last_phase() -> None:
    taken: list[Decision] = []
    played([Spec(), Spec(), Spec()], (), checked(taken))
    entered = [[Enter(f"p{n}"), Start((f"p{n}#1",)), Wait()] for n in range(3)]
    assert taken == [*entered[0], Conclude(), *entered[1], Conclude(), *entered[2], Conclude()]
