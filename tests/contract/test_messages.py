"""Messages to coding agents on every board: `Callboard` in this process, `Client` over a server."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.servers import TOKEN, served

from callboard import Callboard, Client
from callboard.board.message_queue import LONGEST, MOST_WAITING
from callboard.board.protocol import Board
from callboard.errors import ConflictError, NotFound, PlateNotFound, ValidationError
from callboard.ids import short_id

if TYPE_CHECKING:
    from callboard.board.plates import Plates

# An agent without ways to write to it: what is queued stays queued.
AGENT = "another"


FLOWS = """
from callboard import Approval, Phase, State, Workflow

flow = Workflow("flow", state=State, phases=[Phase("ask", human=Approval("On?"), terminal=True)])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("server"), FLOWS) as url:
        yield url


@pytest.fixture(params=["in process", "over HTTP"])
async def board(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Board]:
    if request.param == "over HTTP":
        async with Client(request.getfixturevalue("server"), TOKEN) as client:
            yield cast("Board", client)
    else:
        async with Callboard.open(tmp_path / "t.db") as there:
            yield cast("Board", there)


@pytest.fixture
async def plate(board: Board) -> str:
    made = await board.plates.register(AGENT, project_path="/p", session_id=short_id())
    return made.plate_id


async def texts(board: Board, plate: str) -> list[tuple[str, str]]:
    return [(one.text, one.status) for one in (await board.messages.list(plate)).messages]


async def test_write_and_list(board: Board, plate: str):
    written = await board.messages.say(plate, "Use the other table.\r\nThen test.\n")
    assert (written.status, written.when) == ("queued", "now")
    assert written.text == "Use the other table.\nThen test."
    later = await board.messages.say(plate, "Commit.", when="after_turn")
    found = await board.messages.list(plate)
    assert [one.id for one in found.messages] == [written.id, later.id]
    assert found.messages[0] == written
    assert found.reach.way is None
    assert found.reach.note


async def test_who_wrote_it(board: Board, plate: str):
    written = await board.messages.say(plate, "a")
    assert written.via == "python"
    assert isinstance(board, Callboard) or written.by


async def test_one_that_is_sent_again_is_queued_once(board: Board, plate: str):
    first = await board.messages.say(plate, "a\r\n", key="k")
    assert await board.messages.say(plate, "a", key="k") == first
    for text, when in (("b", "now"), ("a", "after_turn")):
        with pytest.raises(ConflictError):
            await board.messages.say(plate, text, when=cast("Any", when), key="k")
    await board.messages.withdraw(plate, first.id)
    assert (await board.messages.say(plate, "a", key="k")).status == "withdrawn"
    other = await board.messages.say(plate, "a", key="l")
    assert await texts(board, plate) == [("a", "withdrawn"), ("a", "queued")]
    made = await board.plates.register(AGENT, project_path="/p", session_id=short_id())
    elsewhere = await board.messages.say(made.plate_id, "c", key="l")
    assert len({first.id, other.id, elsewhere.id}) == 3


async def test_edit(board: Board, plate: str):
    one = await board.messages.say(plate, "a")
    changed = await board.messages.change(plate, one.id, text="b", when="after_turn")
    assert (changed.text, changed.when, changed.status) == ("b", "after_turn", "queued")
    assert await board.messages.change(plate, one.id, text="b") == changed


async def test_reorder(board: Board, plate: str):
    a, b, c = [await board.messages.say(plate, text) for text in "abc"]
    await board.messages.change(plate, c.id, before=a.id)
    assert [text for text, _ in await texts(board, plate)] == ["c", "a", "b"]
    await board.messages.change(plate, c.id, before="")
    assert [text for text, _ in await texts(board, plate)] == ["a", "b", "c"]
    await board.messages.change(plate, b.id, before=b.id)
    assert [text for text, _ in await texts(board, plate)] == ["a", "b", "c"]
    with pytest.raises(NotFound):
        await board.messages.change(plate, b.id, before="unknown")


async def test_withdraw(board: Board, plate: str):
    one = await board.messages.say(plate, "a")
    assert (await board.messages.withdraw(plate, one.id)).status == "withdrawn"
    assert await texts(board, plate) == [("a", "withdrawn")]
    for late in (
        board.messages.withdraw(plate, one.id),
        board.messages.change(plate, one.id, text="b"),
        board.messages.change(plate, one.id, before=""),
    ):
        with pytest.raises(ConflictError, match="already withdrawn"):
            await late


async def test_what_does_not_exist(board: Board, plate: str):
    with pytest.raises(PlateNotFound):
        await board.messages.list("unknown")
    with pytest.raises(PlateNotFound):
        await board.messages.say("unknown", "a")
    with pytest.raises(PlateNotFound):
        await board.messages.interrupt("unknown")
    for late in (
        board.messages.withdraw(plate, "unknown"),
        board.messages.change(plate, "unknown", text="b"),
    ):
        with pytest.raises(NotFound, match="no message 'unknown'"):
            await late
    other = await board.plates.register(AGENT, project_path="/p", session_id=short_id())
    one = await board.messages.say(other.plate_id, "a")
    with pytest.raises(NotFound):
        await board.messages.withdraw(plate, one.id)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "write something"),
        (" \n\t", "write something"),
        ("a\x1b[2J", r"character 2 is the control character U\+001B"),
        ("a\x00", r"U\+0000"),
        ("\x9b1m", r"U\+009B"),
        ("x" * (LONGEST + 1), f"at most {LONGEST:,}"),
        ("ä" * (LONGEST // 2 + 1), f"at most {LONGEST:,}"),
    ],
)
async def test_bad_text(board: Board, plate: str, text: str, said: str):
    with pytest.raises(ValidationError, match=said) as refused:
        await board.messages.say(plate, text)
    assert refused.value.field == "text"
    assert await texts(board, plate) == []


@pytest.mark.parametrize("text", ["/cost", "!ls", "@file", "مرحبا", "a\tb\n\nc", "x" * LONGEST])
async def test_good_text(board: Board, plate: str, text: str):
    assert (await board.messages.say(plate, text)).text == text


async def test_a_megabyte_is_refused(board: Board, plate: str):
    with pytest.raises(ValidationError, match=f"{LONGEST:,}"):
        await board.messages.say(plate, "x" * 1_000_000)


async def test_not_too_many_wait(board: Board, plate: str):
    for number in range(MOST_WAITING):
        await board.messages.say(plate, str(number))
    with pytest.raises(ConflictError, match="100 messages already wait"):
        await board.messages.say(plate, "one more")
    found = (await board.messages.list(plate)).messages
    await board.messages.withdraw(plate, found[0].id)
    await board.messages.say(plate, "one more")


async def test_not_too_much_waits(board: Board, plate: str):
    for _ in range(8):
        await board.messages.say(plate, "x" * LONGEST)
    with pytest.raises(ConflictError, match="more than 2,097,152 bytes"):
        await board.messages.say(plate, "x")


async def test_many_past_messages_are_not_all_listed(board: Board, plate: str):
    for number in range(60):
        one = await board.messages.say(plate, str(number))
        await board.messages.withdraw(plate, one.id)
    await board.messages.say(plate, "last")
    found = await texts(board, plate)
    assert [text for text, _ in found] == [*(str(number) for number in range(10, 60)), "last"]


async def test_an_ended_session_takes_none(board: Board, plate: str):
    session = (await board.plates.get(plate)).session_id
    await board.plates.stopped(project_path="/p", session_id=session)
    with pytest.raises(ConflictError, match="has ended"):
        await board.messages.say(plate, "a")
    with pytest.raises(ConflictError, match="has ended"):
        await board.messages.interrupt(plate)


async def test_what_was_queued_is_still_there_after_a_rebuild(tmp_path: Path):
    async with Callboard.open(tmp_path / "t.db") as there:
        plates: Plates = there.plates
        plate = (await plates.register(AGENT, project_path="/p")).plate_id
        a, b, _ = [await there.messages.say(plate, text) for text in "abc"]
        await there.messages.change(plate, b.id, text="B", before=a.id)
        await there.messages.withdraw(plate, a.id)
        before = await there.messages.list(plate)
        await there.rebuild()
        assert await there.messages.list(plate) == before


class TestOverHttp:
    @pytest.fixture
    async def client(self, server: str) -> AsyncIterator[Client]:
        async with Client(server, TOKEN) as client:
            yield client

    @pytest.mark.parametrize("scope", ["hook", "read", "answer"])
    async def test_it_needs_operate(self, server: str, client: Client, scope: Any):
        plate = await client.plates.register(AGENT, project_path="/p", session_id=short_id())
        made = await client.tokens.create(short_id(), scope)
        async with Client(server, made.secret) as limited:
            for refused in (
                limited.messages.list(plate.plate_id),
                limited.messages.say(plate.plate_id, "a"),
                limited.messages.change(plate.plate_id, "x", text="b"),
                limited.messages.withdraw(plate.plate_id, "x"),
                limited.messages.interrupt(plate.plate_id),
            ):
                with pytest.raises(Exception, match="scope 'operate'"):
                    await refused
