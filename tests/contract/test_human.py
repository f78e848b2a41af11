"""The human module and its callers, on a database and on a server: one suite for both."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.servers import TOKEN, served

from callboard import (
    Approval,
    Callboard,
    Client,
    HumanInteractive,
    Interactive,
    Phase,
    State,
    Workflow,
)
from callboard.errors import (
    AlreadyAnswered,
    Claimed,
    InteractionClosed,
    InteractionNotFound,
    InteractiveFailed,
    InteractivePending,
    NoExecution,
    ResponseInvalid,
    SessionNotFound,
    ValidationError,
)

Board = Callboard | Client

FLOW = """
from callboard import Approval, Interactive, Phase, State, Workflow

flow = Workflow("flow", state=State, phases=[Phase("a", human=Approval("On?"), terminal=True)])
review = Interactive("Review it.", outcome_schema={"type": "freeform"})
decided = Workflow("decided", state=State, phases=[Phase("a", human=review, terminal=True)])
"""
flow = Workflow("flow", state=State, phases=[Phase("a", human=Approval("On?"), terminal=True)])
review = Interactive("Review it.", outcome_schema={"type": "freeform"})
decided = Workflow("decided", state=State, phases=[Phase("a", human=review, terminal=True)])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One for all tests here: each looks at its own questions only."""
    with served(tmp_path_factory.mktemp("server"), FLOW) as url:
        yield url


@pytest.fixture(params=["memory", "sqlite", "server"])
async def board(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Board]:
    if request.param == "server":
        async with Client(request.getfixturevalue("server"), TOKEN) as client:
            yield client
        return
    db = None if request.param == "memory" else tmp_path / "cb.db"
    async with Callboard.open(db, [flow, decided]) as opened:
        yield opened


async def begin(board: Board) -> str:
    """A session that waits for its own question."""
    if isinstance(board, Callboard):
        return (await board.run(flow)).session_id
    session = await board.start("flow")
    await board.drive(session)
    return session


async def ids(board: Board) -> set[str]:
    return {one.id for one in await board.human.list_pending("*")}


async def until(interactive: HumanInteractive[Any], *statuses: str) -> None:
    """Wait until it has one of these statuses, told by itself."""
    changed = asyncio.Event()
    undo = interactive.on_change(lambda one: changed.set())
    while interactive.status not in statuses:
        changed.clear()
        await changed.wait()
    undo()


async def recorded(interactive: HumanInteractive[Any]) -> str:
    """Wait until what was asked for has its record."""
    changed = asyncio.Event()
    undo = interactive.on_change(lambda one: changed.set())
    while interactive.session_id is None:
        changed.clear()
        await changed.wait()
    undo()
    return interactive.session_id


class TestTheModule:
    async def test_a_session_is_asked_for_completed_and_found(self, board: Board):
        config = {
            "systemPrompt": "Be brief.",
            "context": {"files": ["a", "b"]},
            "model": "opus",
            "cwd": "/srv",
            "mcpConfig": "/srv/mcp.json",
            "timeout": 60_000,
            "outcomeSchema": {"type": "structured", "jsonSchema": {"required": ["notes"]}},
            "captureTranscript": True,
            "blockOrchestration": False,
        }
        id = await board.human.request_interactive("Review", config, standalone=True)
        asked = await board.human.get(id)
        assert (asked.type, asked.status, asked.session_id) == (
            "interactive_session",
            "pending",
            None,
        )
        assert (asked.prompt, asked.config, asked.response) == ("Review", config, None)
        done = await board.human.complete_interactive(
            id,
            "completed",
            {"notes": "fine"},
            transcript="all of it",
            duration=timedelta(minutes=1),
            by="ann",
        )
        assert (done.status, done.response) == ("completed", {"notes": "fine"})
        assert (done.transcript, done.duration_ms, done.error) == ("all of it", 60_000, None)
        # A server knows who holds the token. In this process there is only the name that is given.
        assert (done.answered_by, done.answered_as) in (("ann", None), ("admin", "ann"))
        assert id not in await ids(board)

    async def test_options_are_snake_case_and_seconds(self, board: Board):
        id = await board.human.request_interactive(
            "Review",
            standalone=True,
            system_prompt="Be brief.",
            mcp_config="mcp.json",
            timeout=90,
            outcome_schema={"type": "structured", "json_schema": {"type": "object"}},
            capture_transcript=False,
            block_orchestration=True,
            resume_session="f00",
            notify={"channel": "slack", "users": ["@security-team"]},
            checkpoint_interval=timedelta(minutes=5),
            collaborative=True,
            required_participants=["alice", "bob"],
            halt_execution=True,
        )
        assert (await board.human.get(id)).config == {
            "systemPrompt": "Be brief.",
            "cwd": str(Path.cwd()),
            "mcpConfig": str(Path.cwd() / "mcp.json"),
            "timeout": 90_000,
            "outcomeSchema": {"type": "structured", "jsonSchema": {"type": "object"}},
            "captureTranscript": False,
            "blockOrchestration": True,
            "resumeSession": "f00",
            "notify": {"channel": "slack", "users": ["@security-team"]},
            "checkpointInterval": 300_000,
            "collaborative": True,
            "requiredParticipants": ["alice", "bob"],
            "haltExecution": True,
        }

    @pytest.mark.parametrize("outcome", ["completed", "cancelled", "timeout", "failed"])
    async def test_it_ends_once(self, board: Board, outcome: str):
        id = await board.human.request_interactive("Review", standalone=True)
        told: dict[str, Any] = {"error": "no agent"} if outcome == "failed" else {}
        done = await board.human.complete_interactive(id, outcome, **told)
        assert (done.status, done.error) == (outcome, told.get("error"))
        refused = AlreadyAnswered if outcome == "completed" else InteractionClosed
        for again in ("completed", "cancelled", "timeout", "failed"):
            with pytest.raises(refused):
                await board.human.complete_interactive(id, again)
        with pytest.raises(refused):
            await board.human.cancel_interactive(id)
        assert await board.human.get(id) == done

    async def test_pending_ones_are_listed_by_execution(self, board: Board):
        session = await begin(board)
        [own] = await board.human.list_pending(session)
        inside = await board.human.request_interactive("In it", session_id=session)
        alone = await board.human.request_interactive("Alone", standalone=True)
        assert {one.id for one in await board.human.list_pending(session)} == {own.id, inside}
        assert await ids(board) >= {own.id, inside, alone}
        found = await board.human.list_pending("*", type="interactive_session")
        assert {own.id, inside, alone} & {one.id for one in found} == {inside, alone}
        assert await board.human.list_pending("nowhere") == []
        assert await board.human.list_pending() == []  # No execution is current here.

    async def test_one_that_does_not_block_outlives_its_workflow(self, board: Board):
        session = await begin(board)
        [own] = await board.human.list_pending(session)
        interactive = HumanInteractive[str](board, session)
        ended = interactive.request_async("Tell us later", block_orchestration=False)
        id = await recorded(interactive)
        await board.answer(own.id, "yes")
        assert (await board.drive(session)).status == "completed"
        events = [event.name for event in await board.events(session)]
        assert events[-2:] == ["input:detached", "workflow:completed"]
        assert [one.id for one in await board.human.list_pending(session)] == [id]
        assert interactive.status == "pending"
        await board.people.claim(id, by="ann")
        done = await board.human.complete_interactive(id, "completed", "fine", by="ann")
        assert (done.status, done.session_id) == ("completed", session)
        assert (await ended).response == "fine"
        assert len(await board.events(session)) == len(events)

    async def test_outside_an_execution_it_has_to_be_said_where(self, board: Board):
        with pytest.raises(NoExecution, match=r"^No active execution"):
            await board.human.request_interactive("Review")
        with pytest.raises(NoExecution):
            await board.human.ask("Well?")
        with pytest.raises(SessionNotFound):
            await board.human.request_interactive("Review", session_id="nowhere")

    async def test_a_key_finds_what_was_asked_before(self, board: Board):
        session = await begin(board)
        human = board.human
        first = await human.request_interactive("Review", standalone=True, key="deploy-7")
        other = await human.request_interactive("Review", session_id=session, key="deploy-7")
        assert first != other
        assert await human.request_interactive("Again", standalone=True, key="deploy-7") == first
        assert await human.request_interactive("x", session_id=session, key="deploy-7") == other
        await human.complete_interactive(other, "completed", "fine")
        assert await human.request_interactive("x", session_id=session, key="deploy-7") == other
        assert (await human.get(other)).response == "fine"
        assert len(await human.list_pending(session, type="interactive_session")) == 0

    @pytest.mark.parametrize(
        ("prompt", "config", "field"),
        [
            (" ", {}, "prompt"),
            ("Review", {"outcomeSchema": {"type": "thing"}}, "config.outcomeSchema"),
            ("Review", {"outcomeSchema": {"$ref": "http://x/y"}}, "config.outcomeSchema"),
            ("Review", {"timeout": -5}, "config.timeout"),
            ("Review", {"timeout": 1.5}, "config.timeout"),
            ("Review", {"context": "text"}, "config.context"),
            ("Review", {"captureTranscript": "no"}, "config.captureTranscript"),
            ("Review", {"requiredParticipants": []}, "config.requiredParticipants"),
            ("Review", {"cwd": ""}, "config.cwd"),
        ],
    )
    async def test_what_is_wrong_is_told(
        self, board: Board, prompt: str, config: dict[str, Any], field: str
    ):
        before = await ids(board)
        with pytest.raises(ValidationError) as caught:
            await board.human.request_interactive(prompt, config, standalone=True)
        assert caught.value.field == field
        assert await ids(board) == before

    async def test_an_unknown_id_is_told(self, board: Board):
        for attempt in (
            board.human.get("nothing"),
            board.human.ended("nothing"),
            board.human.complete_interactive("nothing", "completed"),
            board.human.cancel_interactive("nothing"),
        ):
            with pytest.raises(InteractionNotFound):
                await attempt

    async def test_several_people(self, board: Board):
        id = await board.human.request_interactive(
            "Review", standalone=True, required_participants=["alice", "bob"]
        )
        half = await board.human.complete_interactive(id, "completed", "a", by="alice")
        assert (half.status, half.response) == ("pending", {"alice": "a"})
        done = await board.human.complete_interactive(id, "completed", "b", by="bob")
        assert (done.status, done.response) == ("completed", {"alice": "a", "bob": "b"})

    async def test_people_of_a_run_are_asked_too(self, board: Board):
        ended = await board.run(decided, human_input={"interactive": lambda prompt: "as it is"})
        told = (await board.view(ended.session_id)).state["humanResponse"]
        assert (told["value"], told["outcome"]) == ("as it is", "completed")
        [asked] = await board.people.find(session_id=ended.session_id)
        assert (asked.status, asked.response, asked.via) == ("completed", "as it is", "handler")

    async def test_context_of_ten_megabytes_comes_whole(self, board: Board):
        context = {"lines": ["x" * 1000] * 10_000}
        interactive = HumanInteractive[Any](board, standalone=True)
        ended = interactive.request_async("Review the logs.", context=context)
        id = await recorded(interactive)
        told = {"context": context, "cwd": str(Path.cwd()), "blockOrchestration": True}
        assert (await board.human.get(id)).config == told
        await board.human.complete_interactive(id, "completed", "seen")
        assert (await ended).response == "seen"

    async def test_a_claim_is_renewed_and_given_back_by_whoever_has_it(self, board: Board):
        id = await board.human.request_interactive("Review", standalone=True)
        first = await board.people.claim(id, by="ann")
        again = await board.people.claim(id, by="ann", ttl_ms=120_000)
        assert again.claimed_until > first.claimed_until  # type: ignore[operator]
        for refused in (board.people.claim, board.people.release):
            with pytest.raises(Claimed) as told:
                await refused(id, by="bob")
            assert told.value.claimed_by == "ann"
        released = await board.people.release(id, by="ann")
        assert (released.claimed_by, released.status) == (None, "pending")
        assert (await board.people.release(id, by="ann")).claimed_by is None
        assert (await board.people.claim(id, by="bob")).claimed_by == "bob"


class TestSimpleQuestions:
    @pytest.mark.parametrize(
        ("options", "input", "type", "answer", "expected"),
        [
            (None, False, "confirmation", "yes", True),
            (["Yes", "No"], False, "confirmation", "no", False),
            (["staging", "production"], False, "select", "production", "production"),
            (None, True, "input", "Grüße", "Grüße"),
        ],
    )
    async def test_the_answer_is_given(
        self,
        board: Board,
        options: list[str] | None,
        input: bool,
        type: str,
        answer: str,
        expected: Any,
    ):
        before = await ids(board)
        asking = asyncio.create_task(board.human.ask("Deploy?", options, input, standalone=True))
        while not (new := await ids(board) - before):
            await asyncio.sleep(0)
        [id] = new
        assert (await board.human.get(id)).type == type
        await board.answer(id, answer)
        assert await asking == expected

    async def test_one_that_is_taken_back_is_told(self, board: Board):
        session = await begin(board)
        asking = asyncio.create_task(board.human.ask("Deploy?", session_id=session))
        while len(found := await board.human.list_pending(session)) < 2:
            await asyncio.sleep(0)
        [asked] = [one for one in found if one.prompt == "Deploy?"]
        await board.human.cancel_interactive(asked.id)
        with pytest.raises(InteractionClosed, match="cancelled"):
            await asking


class Decision(BaseModel):
    approved: bool
    notes: str


class TestCallers:
    async def test_awaited(self, board: Board):
        interactive = HumanInteractive[Any](board, standalone=True)
        assert (interactive.status, interactive.data, interactive.error) == ("idle", None, None)
        waiting = interactive.request_async("Review", outcome_schema={"type": "approval"})
        assert interactive.status == "pending"
        id = await recorded(interactive)
        await board.human.complete_interactive(id, "completed", "approved", duration=2)
        result = await waiting
        assert (result.outcome, result.response, result.approved) == ("completed", "approved", True)
        assert result.duration == 2
        assert (interactive.status, interactive.data, interactive.session_id) == (
            "success",
            result,
            id,
        )

    async def test_reactive(self, board: Board):
        interactive = HumanInteractive[Any](board, standalone=True)
        seen: list[tuple[str, bool]] = []
        undo = interactive.on_change(lambda one: seen.append((one.status, one.session_id is None)))
        interactive.request("Review the deployment plan")
        assert (interactive.status, interactive.session_id) == ("pending", None)
        id = await recorded(interactive)
        await board.human.complete_interactive(id, "completed", "approved")
        await until(interactive, "success")
        assert interactive.data is not None
        assert (interactive.data.outcome, interactive.data.response) == ("completed", "approved")
        assert seen == [("pending", True), ("pending", False), ("success", False)]
        undo()
        await interactive.reset()
        assert len(seen) == 3

    @pytest.mark.parametrize("outcome", ["cancelled", "timeout"])
    async def test_an_early_end_is_a_success_with_that_outcome(self, board: Board, outcome: str):
        interactive = HumanInteractive[Any](board, standalone=True)
        waiting = interactive.request_async("Review")
        await board.human.complete_interactive(await recorded(interactive), outcome)
        result = await waiting
        assert (result.outcome, result.response, result.approved) == (outcome, None, None)
        assert interactive.status == "success"

    async def test_a_failure_is_raised_and_stands_in_error(self, board: Board):
        interactive = HumanInteractive[Any](board, standalone=True)
        waiting = interactive.request_async("Review")
        id = await recorded(interactive)
        await board.human.complete_interactive(id, "failed", error="claude is not installed")
        with pytest.raises(InteractiveFailed, match="claude is not installed"):
            await waiting
        assert (interactive.status, interactive.data) == ("error", None)
        assert str(interactive.error) == "claude is not installed"
        # Another may be asked for now.
        interactive.request("Again")
        assert (interactive.status, interactive.error) == ("pending", None)
        await interactive.cancel()

    async def test_a_failure_without_a_reason_says_just_that(self, board: Board):
        interactive = HumanInteractive[Any](board, standalone=True)
        waiting = interactive.request_async("Review")
        await board.human.complete_interactive(await recorded(interactive), "failed")
        with pytest.raises(InteractiveFailed, match=r"^Session failed$"):
            await waiting

    async def test_one_session_at_a_time(self, board: Board):
        interactive = HumanInteractive[Any](board, standalone=True)
        before = len(await board.people.find())
        interactive.request("Review")
        told = "^Cannot create a new interactive session while one is already pending$"
        for attempt in (interactive.request, interactive.request_async, interactive.attach):
            with pytest.raises(InteractivePending, match=told):
                attempt("Another")
        await interactive.cancel()
        assert len(await board.people.find()) == before + 1

    async def test_cancel(self, board: Board):
        session = await begin(board)
        interactive = HumanInteractive[Any](board, session)
        waiting = interactive.request_async("Review")
        # Before there is a record: it is taken back as soon as there is one.
        await interactive.cancel()
        assert (await waiting).outcome == "cancelled"
        assert interactive.status == "success"
        assert interactive.session_id is not None
        assert (await board.human.get(interactive.session_id)).status == "cancelled"
        assert (await board.view(session)).tasks == {}
        await interactive.cancel()  # There is nothing to cancel.

    async def test_reset_takes_back_and_begins_anew(self, board: Board):
        session = await begin(board)
        interactive = HumanInteractive[Any](board, session)
        interactive.request("Review")
        id = await recorded(interactive)
        assert list((await board.view(session)).tasks) == [id]
        await interactive.reset()
        assert (interactive.status, interactive.session_id) == ("idle", None)
        assert (await board.human.get(id)).status == "cancelled"
        assert (await board.view(session)).tasks == {}
        interactive.request("Another")
        assert await recorded(interactive) != id
        await interactive.reset()

    async def test_reset_before_there_is_a_record(self, board: Board):
        before = await ids(board)
        interactive = HumanInteractive[Any](board, standalone=True)
        seen: list[tuple[str, str | None]] = []
        interactive.on_change(lambda one: seen.append((one.status, one.session_id)))
        interactive.request("Review")
        await interactive.reset()
        assert seen == [("pending", None), ("idle", None)]
        assert await ids(board) == before, "it was taken back as soon as there was one"
        interactive.request("Another")
        await recorded(interactive)
        await interactive.reset()

    async def test_a_response_becomes_the_result_type(self, board: Board):
        interactive = HumanInteractive(board, standalone=True, result_type=Decision)
        waiting = interactive.request_async("Review")
        id = await recorded(interactive)
        with pytest.raises(ValidationError, match="does not fit"):
            await board.human.complete_interactive(id, "completed", {"approved": "perhaps"})
        await board.human.complete_interactive(id, "completed", {"approved": True, "notes": ""})
        assert (await waiting).response == Decision(approved=True, notes="")

    async def test_one_that_does_not_fit_is_an_error(self, board: Board):
        interactive = HumanInteractive[Any](board, standalone=True)
        waiting = interactive.request_async(
            "Review", result_type=Decision, outcome_schema={"type": "freeform"}
        )
        id = await recorded(interactive)
        await board.human.complete_interactive(id, "completed", "approved")
        with pytest.raises(ResponseInvalid, match="does not match result_type"):
            await waiting
        assert interactive.status == "error"

    async def test_attach_finds_a_session_that_others_asked_for(self, board: Board):
        id = await board.human.request_interactive("Review", standalone=True)
        interactive = HumanInteractive[Any](board, standalone=True)
        waiting = interactive.attach(id)
        assert await recorded(interactive) == id
        await board.human.complete_interactive(id, "completed", "fine")
        assert (await waiting).response == "fine"
        later = HumanInteractive[Any](board, standalone=True)
        assert (await later.attach(id)).response == "fine"
        assert (later.status, later.session_id) == ("success", id)
        with pytest.raises(InteractionNotFound):
            await HumanInteractive[Any](board).attach("nothing")

    async def test_who_gives_up_waiting_does_not_take_it_back(self, board: Board):
        interactive = HumanInteractive[Any](board, standalone=True)
        waiting = asyncio.ensure_future(interactive.request_async("Review", key="k"))
        id = await recorded(interactive)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert waiting.cancelled()
        assert interactive.status == "pending"
        await board.human.complete_interactive(id, "completed", "fine")
        await until(interactive, "success")

    async def test_what_is_wrong_at_once_is_raised_at_once(self, board: Board):
        interactive = HumanInteractive[Any](board)
        with pytest.raises(NoExecution):
            interactive.request("Review")
        alone = HumanInteractive[Any](board, standalone=True)
        with pytest.raises(ValidationError):
            alone.request("Review", timeout=-1)
        with pytest.raises(ValidationError):
            alone.request_async("Review", colour="blue")  # pyright: ignore[reportCallIssue]
        assert (interactive.status, alone.status) == ("idle", "idle")

    async def test_what_goes_wrong_later_stands_in_error(self, board: Board):
        interactive = HumanInteractive[Any](board, session_id="nowhere")
        interactive.request("Review")
        await until(interactive, "error")
        assert isinstance(interactive.error, SessionNotFound)
        with pytest.raises(SessionNotFound):
            await interactive.request_async("Review")

    async def test_a_callback_that_fails_disturbs_nobody(
        self, board: Board, caplog: pytest.LogCaptureFixture
    ):
        interactive = HumanInteractive[Any](board, standalone=True)

        def broken(one: HumanInteractive[Any]) -> None:
            raise ValueError("no")

        interactive.on_change(broken)
        interactive.request("Review")
        await interactive.cancel()
        assert interactive.status == "success"
        assert "a callback of on_change failed" in caplog.text
