"""Whatever a client sends, nothing breaks: it is translated, and what it tells is recorded."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.board.boards import Board

from callboard.events import plates as events
from callboard.vendors.agents import VENDORS
from callboard.vendors.claude import payloads as claude
from callboard.vendors.codex import payloads as codex
from callboard.vendors.gemini import payloads as gemini
from callboard.vendors.opencode import payloads as opencode

words = st.one_of(
    st.text(max_size=8), st.just("\ud800"), st.sampled_from(["clear", "idle", "busy"])
)
anything = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.integers(2**63, 2**70), st.floats(), words
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def fields(names: str) -> dict[str, st.SearchStrategy[Any]]:
    return dict.fromkeys(names.split(), anything)


FIELDS = fields(
    "cwd transcript_path model source reason prompt tool_input tool_response tool_use_id agent_id "
    "agent_type last_assistant_message background_tasks session_crons error error_details "
    "permission_suggestions task_id task_subject notification_type message details timestamp "
    "callboard parent directory interrupted"
)
PROPERTIES = fields("id info part status error tool callID args patterns metadata reply todos")
HOOKS = sorted({*claude._READINGS, *codex._READINGS, *gemini._READINGS})
TOOLS = [
    "AskUserQuestion",
    "ExitPlanMode",
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "Bash",
]
inputs = st.one_of(
    anything,
    st.fixed_dictionaries(
        {},
        optional={
            **fields("plan command todos taskId status"),
            "questions": st.lists(
                st.fixed_dictionaries(
                    {}, optional=fields("question header multiSelect multiple options")
                ),
                max_size=2,
            ),
        },
    ),
)
properties = st.fixed_dictionaries({"sessionID": st.just("s1")}, optional={**PROPERTIES})
payloads = st.one_of(
    anything,
    st.fixed_dictionaries(
        {
            "session_id": st.just("s1"),
            "hook_event_name": st.one_of(st.sampled_from(HOOKS), anything),
            "type": st.one_of(st.sampled_from(sorted(opencode._READINGS)), anything),
            "properties": st.one_of(properties, inputs),
            "tool_name": st.one_of(st.sampled_from(TOOLS), anything),
            "tool_input": inputs,
        },
        optional={key: value for key, value in FIELDS.items() if key != "tool_input"},
    ),
)


@pytest.mark.parametrize("agent", sorted(VENDORS))
@given(payload=payloads)
@settings(max_examples=100)
def test_whatever_a_client_sends_is_translated_and_recorded(agent: str, payload: Any):
    report = VENDORS[agent].translate(payload)
    if report is None:
        return
    assert report.session_id
    assert all(signal.name in events.FROM_AGENTS for signal in report.signals)

    async def check() -> None:
        board = Board()
        plate = await board.hear(replace(report, hold="h1"))
        if report.signals:
            assert await board.plates.get(plate.plate_id) == plate
            await board.log.rebuild()
            assert await board.plates.get(plate.plate_id) == plate

    asyncio.run(check())


@given(anything)
def test_whatever_stands_under_callboard_is_read(odd: Any):
    payload = {"session_id": "s1", "hook_event_name": "Stop", "callboard": odd}
    report = claude.translate(payload)
    assert report is not None
    assert report.session_id == "s1"
