"""What agents changed: in this process, over HTTP, and on another machine."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.relay_world import ADMIN, World, paired
from tests.repositories import TestRepository, new_repository
from tests.servers import TOKEN, served

from callboard import Callboard, Client
from callboard.board.protocol import Board
from callboard.courier.wire import Timeouts, ask, read_connection
from callboard.errors import (
    Forbidden,
    HostFailed,
    NotFound,
    PlateNotFound,
    PowerNotGranted,
    ValidationError,
    WorktreeUnreadable,
)
from callboard.ids import short_id
from callboard.relay.settings import hooks_of
from callboard.worktree.changes import LineComment

FLOWS = """
from callboard import Approval, Phase, State, Workflow

flow = Workflow("flow", state=State, phases=[Phase("a", human=Approval("On?"), terminal=True)])
"""
COMMENT = LineComment("README", "new", 2, "Why?", "2")


@pytest.fixture
def repository(tmp_path: Path) -> TestRepository:
    return new_repository(tmp_path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("server"), FLOWS) as url:
        yield url


@pytest.fixture(params=["in process", "over HTTP"])
async def board(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Board]:
    if request.param == "over HTTP":
        async with Client(request.getfixturevalue("server"), TOKEN) as client:
            yield client
        return
    async with Callboard.open(tmp_path / "board.db") as opened:
        yield opened


async def plate_in(board: Board, folder: Path) -> str:
    plate = await board.plates.register("claude", project_path=str(folder), session_id=short_id())
    return plate.plate_id


async def test_a_board_shows_what_an_agent_changed(board: Board, repository: TestRepository):
    plate_id = await plate_in(board, repository.root)
    repository.write("README", "one\n2\nthree\n")
    repository.write("größe\n\u202e", "new\n")
    found = await board.changes.list(plate_id)
    assert [(one.path, one.status, one.added) for one in found.files] == [
        ("README", "modified", 1),
        ("größe\n\u202e", "added", 1),
    ]
    assert (found.branch, found.base.kind, found.root) == ("main", "commit", str(repository.root))
    file = await board.changes.file(plate_id, "README")
    assert [line.text for line in file.hunks[0].lines] == ["one", "two", "2", "three"]
    assert (await board.changes.file(plate_id, "größe\n\u202e", since="commit")).file.added == 1
    message = await board.changes.comments(plate_id, [COMMENT])
    assert message.text == "Comments on your changes:\n\nREADME\n\nLine 2:\n> 2\nWhy?"
    assert not message.comments[0].outdated


async def test_a_board_says_what_is_wrong(board: Board, repository: TestRepository):
    with pytest.raises(PlateNotFound):
        await board.changes.list("unknown")
    plate_id = await plate_in(board, repository.root)
    with pytest.raises(ValidationError):
        await board.changes.list(plate_id, since="yesterday")
    with pytest.raises(ValidationError):
        await board.changes.file(plate_id, "../secret")
    with pytest.raises(NotFound):
        await board.changes.file(plate_id, "README")
    for wrong in ([], [COMMENT] * 201, [LineComment("README", "new", 0, "Why?", "")]):
        with pytest.raises(ValidationError):
            await board.changes.comments(plate_id, wrong)
    nowhere = await plate_in(board, repository.root.parent)
    with pytest.raises(WorktreeUnreadable, match="not in a git repository"):
        await board.changes.list(nowhere)


# ---------------------------------------------------------------------- through a server


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with paired(tmp_path, monkeypatch) as made:
        made.start_relay("read")
        await made.host(connected=True, powers=["read"])
        yield made


def hook(repository: TestRepository, name: str, **more: str) -> dict[str, str]:
    told = {"session_id": "s1", "cwd": str(repository.root), "hook_event_name": name}
    return told | more


async def test_hooks_of_the_servers_machine_leave_snapshots(
    world: World, repository: TestRepository
):
    for payload in (
        hook(repository, "SessionStart", source="startup"),
        hook(repository, "UserPromptSubmit", prompt="Do it"),
    ):
        await world.post("/hooks/claude", payload, ADMIN)
    await world.board.changes.snapshots.settled()
    repository.write("new")
    [plate] = await world.board.plates.all()
    async with Client(f"http://127.0.0.1:{world.port}", ADMIN) as client:
        found = await client.changes.list(plate.plate_id)
    assert (found.base.kind, [one.path for one in found.files]) == ("session", ["new"])
    assert [one.prompt for one in found.turns] == ["Do it"]
    assert found.base.late < 60_000


async def test_another_machine_reads_its_own_sessions_if_its_owner_allows(
    world: World, repository: TestRepository
):
    await world.report(4242, hook(repository, "SessionStart", source="startup"))
    plate = await world.plate(session_id="s1", host="machine1")
    marks = world.folder / "relay" / "worktrees"
    while not list(marks.glob("session-*/marks.json")):
        await asyncio.sleep(0.01)
    repository.write("README", "one\n2\nthree\n")
    async with Client(f"http://127.0.0.1:{world.port}", ADMIN) as client:
        found = await client.changes.list(plate.plate_id)
        assert (found.base.kind, [one.path for one in found.files]) == ("session", ["README"])
        file = await client.changes.file(plate.plate_id, "README")
        assert file.hunks[0].lines[2].text == "2"
        message = await client.changes.comments(plate.plate_id, [COMMENT])
        assert "> 2" in message.text
        with pytest.raises(NotFound):
            await client.changes.file(plate.plate_id, "other")
        with pytest.raises(NotFound, match="no turn '7'"):
            await client.changes.list(plate.plate_id, since="7")


async def test_another_machine_reads_what_an_agent_over_acp_changed(
    world: World, repository: TestRepository
):
    told = {"sessionId": "s1", "cwd": str(repository.root)}
    hooks = str(hooks_of(world.folder / "relay"))
    for payload in ({"type": "session"}, {"type": "prompt", "text": "Do it"}):
        relay = read_connection(hooks)
        assert relay is not None
        body = json.dumps({**told, **payload}).encode()
        await asyncio.to_thread(ask, relay, "/hooks/acp", body, Timeouts(10))
    plate = await world.plate(session_id="s1", host="machine1")
    marks = world.folder / "relay" / "worktrees"
    async with asyncio.timeout(20):
        while not any(b'"turn"' in one.read_bytes() for one in marks.glob("*/marks.json")):
            await asyncio.sleep(0.01)
    repository.write("new")
    async with Client(f"http://127.0.0.1:{world.port}", ADMIN) as client:
        found = await client.changes.list(plate.plate_id)
    assert (found.base.kind, [one.path for one in found.files]) == ("session", ["new"])
    assert [one.prompt for one in found.turns] == ["Do it"]


async def test_a_server_cannot_name_a_folder_of_another_machine(
    world: World, repository: TestRepository, tmp_path: Path
):
    other = new_repository(tmp_path / "other")
    other.write("secret")
    asked = {"what": "list", "session": "s9", "folder": str(other.root), "since": "session"}
    told = await world.board.hosts.ask("machine1", "changes", asked)
    assert "secret" not in json.dumps(told)
    assert "doesn't know yet where the session works" in json.dumps(told)


async def test_a_machine_has_to_allow_it(world: World, repository: TestRepository):
    await world.cut_relay()
    world.start_relay()
    await world.host(connected=True, powers=[])
    await world.report(4242, hook(repository, "SessionStart", source="startup"))
    plate = await world.plate(session_id="s1", host="machine1")
    async with Client(f"http://127.0.0.1:{world.port}", ADMIN) as client:
        with pytest.raises(PowerNotGranted, match="--allow read"):
            await client.changes.list(plate.plate_id)
    assert not (world.folder / "relay" / "worktrees").exists()


async def test_what_a_machine_sends_is_checked(
    world: World, repository: TestRepository, monkeypatch: pytest.MonkeyPatch
):
    await world.report(4242, hook(repository, "SessionStart", source="startup"))
    plate = await world.plate(session_id="s1", host="machine1")

    async def ask(*given: object, **more: object) -> object:
        return {"value": {"files": [{"path": 5}] * 3}}

    monkeypatch.setattr(world.board.hosts, "ask", ask)
    with pytest.raises(HostFailed, match="unknown format"):
        await world.board.changes.list(plate.plate_id)


async def test_only_operators_read_changes_and_that_is_audited(
    world: World, repository: TestRepository
):
    plate_id = await plate_in(world.board, repository.root)
    for scope in ("hook", "read", "answer", "operate"):
        made = await world.board.tokens.create(f"a-{scope}", scope)
        async with Client(f"http://127.0.0.1:{world.port}", made.secret) as client:
            if scope == "operate":
                await client.changes.list(plate_id)
            else:
                with pytest.raises(Forbidden):
                    await client.changes.list(plate_id)
    lines = (world.folder / "t.db.audit.jsonl").read_text().splitlines()
    assert [json.loads(line)["who"] for line in lines][-1] == "a-operate"
    assert json.loads(lines[-1])["path"] == f"/plates/{plate_id}/changes"
