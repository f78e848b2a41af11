"""Every scenario that was recorded with a real client becomes this sequence of statuses."""

import pytest
from tests.unit.board.boards import Board
from tests.unit.vendors.recordings import PAYLOADS, one, opencode, recorded

# One word for each payload: the status after it.
CLAUDE = {
    "agent": (
        "idle running running running running running running running running running running "
        "idle closed"
    ),
    "bash": "idle running running running running running running idle closed",
    "bashfail": "idle running running running running running idle closed",
    "hello": "idle running running idle closed",
    "i_ask": (
        "idle running awaiting_input awaiting_input awaiting_input running running running idle "
        "running awaiting_input awaiting_input closed"
    ),
    "i_hup": "idle running running running running running running idle closed",
    "i_mcp": "idle running running running running running idle closed",
    "i_perm": (
        "idle running running awaiting_approval awaiting_approval running running running idle "
        "running running awaiting_approval closed"
    ),
    "i_plan": (
        "idle running running running running awaiting_approval awaiting_approval "
        "awaiting_approval running running running idle closed"
    ),
    "jsonschema": "idle running running running running idle closed",
    "parallel": "idle running running running running running running running idle closed",
    "permdeny": "idle running running awaiting_approval running running idle closed",
    "tasks": (
        "idle running running running running running running running running running running "
        "running running running running running running idle closed"
    ),
    "todowrite": "idle running running running running running idle closed",
    "write": "idle running running running running running idle closed",
}
CODEX = "idle running running running idle closed"
GEMINI = (
    "idle running running running running running running running running running running "
    "running idle closed"
)
OPENCODE = "idle running running running running running running running running idle idle"


def test_every_scenario_is_in_the_table():
    assert {path.name for path in (PAYLOADS / "claude").iterdir() if path.is_dir()} == set(CLAUDE)


@pytest.mark.parametrize("scenario", sorted(CLAUDE))
@pytest.mark.parametrize("held", [False, True])
async def test_claude(scenario: str, held: bool):
    board, statuses = Board(), list[str]()
    for index, payload in enumerate(recorded("claude", scenario)):
        asks = payload["hook_event_name"] == "PermissionRequest"
        hold = f"hold-{index}" if held and asks else None
        plate = await board.payload("claude", payload, hold=hold)
        statuses.append(plate.status)
    assert statuses == CLAUDE[scenario].split()


async def test_codex():
    board = Board()
    plates = [await board.payload("codex", payload) for payload in recorded("codex")]
    assert [plate.status for plate in plates] == CODEX.split()
    assert (plates[-1].last_message, plates[-1].model) == ("codex stub done", "gpt-5-codex")


async def test_gemini():
    board = Board()
    plates = [await board.payload("gemini", payload) for payload in recorded("gemini")]
    assert [plate.status for plate in plates] == GEMINI.split()
    assert (plates[-1].last_message, plates[-1].model) == ("gemini stub done", "gemini-2.5-flash")


async def test_opencode():
    board = Board()
    plates = [await board.payload("opencode", payload) for payload in opencode()]
    assert [plate.status for plate in plates] == OPENCODE.split()
    last = plates[-1]
    assert (last.project_path, last.model, last.last_tool) == (
        "/home/u/proj",
        "claude-sonnet-4-5",
        "bash",
    )


async def test_one_session_is_one_plate():
    board = Board()
    for payload in recorded("claude", "tasks"):
        await board.payload("claude", payload)
    (plate,) = await board.plates.all()
    assert (plate.prompt, plate.last_message) == ("[[script:task]] go", "tasks done")
    assert (plate.todo_progress, plate.project_path) == ("1/1", "/home/u/proj")


async def test_todos_of_the_older_tool():
    board = Board()
    plates = [await board.payload("claude", one) for one in recorded("claude", "todowrite")]
    assert [plate.todo_progress for plate in plates] == [None] * 3 + ["0/2"] * 5
    assert [todo.text for todo in plates[-1].todos] == ["Write code", "Test"]


async def test_a_subagent_is_seen_while_it_works():
    board = Board()
    plates = [await board.payload("claude", one) for one in recorded("claude", "agent")]
    seen = [bool(plate.to_wire()["background"]) for plate in plates]
    assert seen == [False] * 3 + [True] * 4 + [False] * 6
    assert [plate.last_tool for plate in plates][3:8] == ["Agent"] * 5, "not the subagent's Bash"


async def played(scenario: str) -> Board:
    """A scenario in which each permission request is held, as hold-1, hold-2, …"""
    board, holds = Board(), 0
    for payload in recorded("claude", scenario):
        asks = payload["hook_event_name"] == "PermissionRequest"
        holds += asks
        await board.payload("claude", payload, hold=f"hold-{holds}" if asks else None)
    return board


async def test_a_question_is_answered_in_the_terminal_and_another_left():
    board = await played("i_ask")
    first, second = await board.interaction("hold-1"), await board.interaction("hold-2")
    assert (first.type, first.prompt, first.options) == (
        "question",
        "Which database?",
        ["SQLite", "Postgres"],
    )
    assert (first.status, first.response) == (
        "completed",
        {"answers": {"Which database?": "SQLite"}},
    )
    assert second.status == "cancelled"


async def test_a_permission_is_given_in_the_terminal_and_another_left():
    board = await played("i_perm")
    first, second = await board.interaction("hold-1"), await board.interaction("hold-2")
    assert (first.type, first.status, first.response) == (
        "permission",
        "completed",
        {"approved": True},
    )
    assert first.prompt == "Run: touch /home/u/proj/zz && python3 -c 'print(1)'"
    assert (second.prompt, second.status) == ("Run: rm -f /home/u/proj/zz", "cancelled")


async def test_a_plan_is_approved_in_the_terminal():
    board = await played("i_plan")
    asked = await board.interaction("hold-1")
    assert (asked.type, asked.prompt) == ("plan", "Approve the plan: Plan")
    assert asked.config["plan"] == "# Plan\n1. do it\n"
    assert (asked.status, asked.response) == ("completed", {"approved": True})


async def test_a_permission_that_was_refused_without_a_word_is_cancelled():
    board = await played("permdeny")
    assert (await board.interaction("hold-1")).status == "cancelled"


async def test_a_notification_of_codex_ends_the_turn_too():
    board = Board()
    for payload in recorded("codex")[:4]:
        await board.payload("codex", payload)
    plate = await board.payload("codex", one("codex", "notify.json"))
    assert (plate.status, plate.last_message) == ("idle", "codex stub done")
    assert len(await board.plates.all()) == 1
