"""A long conversation with an agent that speaks ACP: it is in the log, not in a transcript."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callboard import Callboard
from callboard.board.report_batch import ReportBatch
from callboard.vendors.acp.payloads import translate
from callboard.vendors.reports import Report

SESSION = "acp-0001"
_IN_TURN = 3
"""Messages of a turn: the prompt, a call of a tool, and the reply."""
_AT_ONCE = 100
_BEGAN = 1_790_000_000_000


def fill_log(database: Path, messages: int) -> str:
    """Record a conversation with so many messages; returns its plate."""
    return asyncio.run(_fill(database, messages))


def noticed(text: str) -> dict[str, Any]:
    """A report that becomes a message of its own, whatever was reported before it."""
    return _payload("notice", text=text)


async def _fill(database: Path, messages: int) -> str:
    async with Callboard.open(database) as board:
        reports = list(_reports(messages))
        for at in range(0, len(reports), _AT_ONCE):
            await ReportBatch(board.plates).hear(reports[at : at + _AT_ONCE])
        (plate,) = await board.plates.all()
        return plate.plate_id


def _reports(messages: int) -> Iterator[Report]:
    for number, payload in enumerate(_conversation(messages)):
        report = translate(
            {**payload, "callboard": {"delivery": str(number), "sent_at": _BEGAN + number}}
        )
        assert report is not None
        yield report


def _conversation(messages: int) -> Iterator[dict[str, Any]]:
    yield _payload("session", agent={"name": "bench"}, model="m")
    for number in range(-(-messages // _IN_TURN)):
        yield _payload("prompt", text=f"Do part {number} of the work, and run its tests.")
        call = {"toolCallId": f"c{number}", "title": "make test", "kind": "execute"}
        told = {"tool_name": "make test", "tool_input": {"call": f"c{number}"}}
        began = {"sessionUpdate": "tool_call", "status": "pending", **call}
        yield _payload("update", update=began, **told)
        ended = {"sessionUpdate": "tool_call_update", "toolCallId": f"c{number}"}
        ended |= {"status": "completed", "text": "ok\n" * 100}
        yield _payload("update", update=ended, **told)
        content = {"type": "text", "text": f"Part {number} is done. {'All tests pass. ' * 20}"}
        yield _payload(
            "update", update={"sessionUpdate": "agent_message_chunk", "content": content}
        )
        yield _payload("turn", stopReason="end_turn")


def _payload(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "sessionId": SESSION, "cwd": "/home/sam/shop", **more}
