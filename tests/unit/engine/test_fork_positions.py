"""Every position is a place to stand, also between events that were written together."""

from callboard import Approval, Callboard, Phase, State, Workflow, auto_approve


class Letter(State):
    to: str = ""
    sent: bool = False


def address(state: Letter, to: str) -> None:
    state.to = to


LETTER = Workflow(
    "letter",
    state=Letter,
    start=address,
    phases=[
        Phase("review", human=Approval("Send it?"), next="route"),
        Phase("route", next=lambda s: "sent" if s.approved else "kept", to=["sent", "kept"]),
        Phase("sent", terminal=True),
        Phase("kept", terminal=True),
    ],
)


async def test_a_fork_right_at_the_beginning_is_started_too():
    board = Callboard.open(workflows=[LETTER])
    session = (await board.run(LETTER, "Ann", human_input=auto_approve())).session_id
    first = await board.fork(session, position=1)
    assert (await board.state(first.session_id)).to == "Ann"
    again = await board.fork(first.session_id, position=1)
    assert (await board.state(again.session_id)).to == "Ann"
    assert (first.events_copied, first.position) == (1, 2)


async def test_edits_are_made_to_the_state_that_was_started():
    board = Callboard.open(workflows=[LETTER])
    session = (await board.run(LETTER, "Ann", human_input=auto_approve())).session_id

    def copy(state: Letter) -> None:
        state.to += " and Bob"

    by_function = await board.fork(session, position=1, edits=copy)
    assert (await board.state(by_function.session_id)).to == "Ann and Bob"
    patch = [{"op": "test", "path": "/to", "value": "Ann"}]
    by_patch = await board.fork(session, position=1, edits=patch)
    assert (await board.state(by_patch.session_id)).to == "Ann"


async def test_no_old_approval_routes_a_fork_wherever_it_begins():
    board = Callboard.open(workflows=[LETTER])
    result = await board.run(LETTER, "Ann", human_input=auto_approve())
    assert result.exit_phase == "kept"
    for position in range(1, len(result.events) + 1):
        forked = await board.fork(result.session_id, position=position, human_input=auto_approve())
        assert (await board.view(forked.session_id)).exit_phase == "kept", position
