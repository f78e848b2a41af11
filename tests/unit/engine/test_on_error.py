"""`on_error="ask"`: when no attempt is left, a person says what to do."""

from typing import Any

import pytest

from callboard import Callboard, Context, Phase, Retry, State, Workflow, agent, auto_approve, run
from callboard.engine.sessions import SessionInfo
from callboard.log.memory import MemoryLog
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock


class Notes(State):
    seen: list[str] = []


def note(state: Notes, output: Any) -> None:
    state.seen.append(str(output))


def flow(works_at: int = 99, **options: Any) -> Workflow:
    """A phase whose agent works from some attempt on, and one after it."""

    @agent
    async def work(state: Notes, ctx: Context) -> str:
        if ctx.attempt < works_at and ctx.item != "fine":
            raise ConnectionError("no network")
        return f"{ctx.phase} {ctx.item}"

    return Workflow(
        "w",
        state=Notes,
        phases=[
            Phase("a", agent=work, update=note, on_error="ask", next="b", **options),
            Phase("b", agent=agent(name="b")(lambda state: "b"), update=note, terminal=True),
        ],
    )


async def started(workflow: Workflow) -> tuple[Callboard, SessionInfo]:
    clock = FakeClock(autojump=True)
    board = Callboard(MemoryLog(project, clock), [workflow], clock)
    result = await board.run(workflow)
    return board, await board.session(result.session_id)


async def answered(board: Callboard, session: str, answer: str) -> SessionInfo:
    [question] = await board.inbox(session)
    await board.answer(question.id, answer)
    return await board.drive(session)


async def test_the_question_says_what_happened_and_offers_three_answers() -> None:
    _, info = await started(flow(retry=Retry(attempts=2, backoff=5)))
    [question] = info.pending
    assert info.status == "waiting"
    assert question.prompt == "'work' failed 2 times in phase 'a': no network"
    assert question.options == ["Retry", "Skip", "Fail"]
    assert (question.phase, question.run) == ("a", "a#1")


async def test_retry_runs_the_agent_once_more_and_asks_again_if_it_fails() -> None:
    board, info = await started(flow(works_at=4, retry=Retry(attempts=2, backoff=5)))
    info = await answered(board, info.session_id, "Retry")
    assert [one.prompt for one in info.pending] == [
        "'work' failed 3 times in phase 'a': no network"
    ]
    info = await answered(board, info.session_id, "Retry")
    assert info.status == "completed"
    assert (await board.state(info.session_id)).seen == ["a None", "b"]


async def test_skip_goes_on_without_the_phase() -> None:
    board, info = await started(flow(after=lambda state: state.seen.append("after")))
    info = await answered(board, info.session_id, "Skip")
    assert info.status == "completed"
    assert (await board.state(info.session_id)).seen == ["b"]
    events = await board.events(info.session_id)
    [left] = [e.payload for e in events if e.name == "phase:exited" and e.payload["phase"] == "a"]
    assert (left["reason"], left["next"]) == ("skipped", "b")


async def test_fail_fails_with_what_the_agent_raised() -> None:
    board, info = await started(flow())
    info = await answered(board, info.session_id, "Fail")
    assert info.status == "failed"
    assert info.error is not None
    assert info.error["message"] == "no network"
    again = await board.retry(info.session_id)
    assert (await board.session(again.session_id)).parent == info.session_id


async def test_each_item_is_asked_about_and_skipped_alone() -> None:
    items = ["x", "fine", "y", "z"]
    workflow = flow(works_at=2, for_each=lambda state: items, parallel=2)
    board, info = await started(workflow)
    prompts = {question.prompt: question.id for question in info.pending}
    assert sorted(prompts) == [
        f"'work' failed once on item {n} of 4 in phase 'a': no network" for n in (1, 3, 4)
    ]
    for prompt, answer in zip(sorted(prompts), ("Retry", "Skip", "Retry"), strict=True):
        await board.answer(prompts[prompt], answer)
    info = await board.drive(info.session_id)
    assert info.status == "completed"
    assert (await board.state(info.session_id)).seen == ["a x", "a fine", "a z", "b"]


async def test_where_items_may_fail_nobody_is_asked() -> None:
    workflow = flow(for_each=lambda state: ["x", "fine"], on_item_error="skip")
    board, info = await started(workflow)
    assert info.status == "completed"
    assert (await board.state(info.session_id)).seen == ["a fine", "b"]


async def test_auto_approve_lets_it_fail_and_does_not_retry_for_ever() -> None:
    result = await run(flow(), human_input=auto_approve())
    assert result.status == "failed"


@pytest.mark.parametrize("answer", ["Skip", "Fail"])
async def test_a_pause_keeps_the_answer_for_later(answer: str) -> None:
    board, info = await started(flow())
    await board.pause(info.session_id)
    assert (await answered(board, info.session_id, answer)).status == "paused"
    await board.resume(info.session_id)
    ended = await board.drive(info.session_id)
    assert ended.status == ("completed" if answer == "Skip" else "failed")
