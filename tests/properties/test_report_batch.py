"""Reports that are recorded together leave what they leave one by one, whoever writes between."""

import asyncio
import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.board.boards import Board

from callboard.board.report_batch import ReportBatch
from callboard.events import plates as events
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.agents import VENDORS
from callboard.vendors.reports import Report

HOOKS = [
    ("SessionStart", {"source": "startup"}),
    ("SessionStart", {"source": "clear"}),
    ("SessionStart", {"source": "compact"}),
    ("UserPromptSubmit", {"prompt": "Mend it"}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}),
    ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}),
    ("PreToolUse", {"tool_name": "AskUserQuestion", "tool_input": {"questions": []}}),
    ("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "ls"}}),
    ("SubagentStop", {"agent_id": "a1", "agent_type": "tester"}),
    ("Stop", {"last_assistant_message": "Done"}),
    ("SessionEnd", {"reason": "exit"}),
    ("SessionEnd", {"reason": "clear"}),
]

reports = st.lists(
    st.tuples(
        st.sampled_from(HOOKS),
        st.sampled_from(["s1", "s2", "s3"]),
        st.sampled_from([None, 2**22 + 1, 2**22 + 2]),
        st.integers(0, 3_000),
    ),
    max_size=15,
)


def report(hook: tuple[str, dict[str, Any]], session: str, pid: int | None, back: int) -> Report:
    name, more = hook
    payload = {"session_id": session, "cwd": "/home/ada/x", "hook_event_name": name, **more}
    told: dict[str, Any] = {"sent_at": FakeClock().now_ms() - back}
    if pid is not None:
        told |= {"pid": pid, "proc_start": "1"}
    found = VENDORS["claude"].translate({**payload, "callboard": told})
    assert found is not None
    return found


async def left(board: Board) -> list[str]:
    """Everything that the log tells of the plates, but for ids that are given by chance."""
    plates = []
    for plate in await board.plates.all(dismissed=True):
        told = json.dumps(
            [
                replace(plate, plate_id="").to_json(),
                [(event.name, event.payload, event.at_ms) for event in await board.events(plate)],
            ]
        )
        plates.append(told.replace(plate.plate_id, "id"))
    return sorted(plates)


@given(reports, st.integers(1, 15))
def test_a_batch_leaves_what_its_reports_leave_one_by_one(told: list[Any], size: int):
    async def compare() -> None:
        one_by_one, together = Board(), Board()
        heard = [report(*one) for one in told]
        for one in heard:
            await one_by_one.plates.hear(one)
        for first in range(0, len(heard), size):
            await ReportBatch(together.plates).hear(heard[first : first + size])
        assert await left(together) == await left(one_by_one)

    asyncio.run(compare())


@given(reports, st.lists(st.booleans(), max_size=20))
def test_whoever_writes_between_is_not_overwritten(told: list[Any], disturbances: list[bool]):
    async def compare() -> None:
        board = Board()
        append, expected = board.log.append, 0

        async def disturbed(stream: str, *given: Any, **more: Any) -> Any:
            nonlocal expected
            known = await board.log.head(stream)
            if known and disturbances and disturbances.pop():
                expected += 1
                board.log.append = append
                await board.plates.change(stream, name=f"name {expected}")
                board.log.append = disturbed
            return await append(stream, *given, **more)

        board.log.append = disturbed
        heard = [report(*one) for one in told]
        await ReportBatch(board.plates).hear(heard)
        found = await board.plates.all(dismissed=True)
        written = [event for plate in found for event in await board.events(plate)]
        assert sum(event.name == events.CHANGED for event in written) == expected
        raws = [event.payload["raw"] for event in written if "raw" in event.payload]
        assert len(raws) == len(heard)
        names = {plate.name for plate in found if plate.name}
        assert not expected or f"name {expected}" in names

    asyncio.run(compare())
