"""The payloads of the document on coding agents, as they stand there, and what becomes of each.

They do not name their hook: the command that Claude Code calls does.
"""

import json
from typing import Any

from tests.unit.board.boards import Board

from callboard.cli.commands.hook import named

SESSION: dict[str, Any] = {"session_id": "uuid", "cwd": "/path/to/project"}
TRANSCRIPT = {"transcript_path": "/path/to/transcript.jsonl"}


def tool(name: str) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": {}}


async def test_the_five_hooks_move_a_plate():
    board = Board()
    statuses: list[str] = []
    for event, more in [
        ("session-start", TRANSCRIPT),
        ("prompt-submit", {}),
        ("pre-tool-use", tool("Bash")),
        ("post-tool-use", tool("Bash")),
        ("pre-tool-use", tool("AskUserQuestion")),
        ("post-tool-use", tool("AskUserQuestion")),
        ("pre-tool-use", tool("ExitPlanMode")),
        ("post-tool-use", tool("ExitPlanMode")),
        ("stop", {"error": None}),
    ]:
        payload = named(json.dumps(SESSION | more).encode(), (event,))
        statuses.append((await board.payload("claude", json.loads(payload))).status)
    assert statuses == [
        "idle",  # A client that has just started waits for its first prompt.
        "running",
        "running",
        "running",
        "awaiting_input",
        "running",
        "awaiting_approval",
        "running",
        "idle",
    ]


async def test_what_the_payloads_tell_is_on_the_plate():
    board = Board()
    payload = {**SESSION, **TRANSCRIPT, "hook_event_name": "SessionStart"}
    plate = await board.payload("claude", payload)
    assert (plate.session_id, plate.project_path) == ("uuid", "/path/to/project")
    assert plate.transcript_path == "/path/to/transcript.jsonl"
    plate = await board.payload(
        "claude", {**SESSION, **tool("Bash"), "hook_event_name": "PreToolUse"}
    )
    assert (plate.last_event, plate.last_tool) == ("tool_start", "Bash")
