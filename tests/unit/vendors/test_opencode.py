"""opencode: the events of its bus, and what our plugin adds to them."""

from typing import Any

import pytest
from tests.unit.board.boards import Board

from callboard.vendors.opencode.payloads import translate
from callboard.vendors.reports import HookRequest, Report


def event(kind: str, /, *, session: str = "ses_1", **more: Any) -> dict[str, Any]:
    beside = {key: more.pop(key) for key in ("parent", "error", "interrupted") if key in more}
    properties = {"sessionID": session, **more}
    return {"type": kind, "properties": properties, "directory": "/p", **beside}


def told(kind: str, /, **more: Any) -> Report:
    report = translate(event(kind, **more))
    assert report is not None
    return report


def signals(kind: str, /, **more: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(one.name, dict(one.payload)) for one in told(kind, **more).signals]


def asked(kind: str, /, **more: Any) -> HookRequest:
    request = told(kind, **more).request
    assert request is not None
    return request


async def statuses(*payloads: dict[str, Any]) -> list[str]:
    board = Board()
    return [(await board.payload("opencode", payload)).status for payload in payloads]


BUSY = event("session.status", status={"type": "busy"})
IDLE = event("session.idle")
ASKED = event(
    "permission.asked", id="per_1", permission="bash", patterns=["git push"], always=["git *"]
)


async def test_a_turn_with_a_permission():
    replied = event("permission.replied", requestID="per_1", reply="once")
    before = event("tool.execute.before", tool="bash", callID="c", args={"command": "git push"})
    found = await statuses(event("session.created"), BUSY, before, ASKED, BUSY, replied, IDLE)
    assert found == [
        "idle",
        "running",
        "running",
        "awaiting_approval",
        "awaiting_approval",
        "running",
        "idle",
    ]


async def test_a_question_waits_for_input():
    question = event("question.asked", id="que_1", questions=[{"question": "Which?"}])
    for end in ("question.replied", "question.rejected"):
        found = await statuses(BUSY, question, event(end, requestID="que_1"), IDLE)
        assert found == ["running", "awaiting_input", "running", "idle"]


def test_a_permission_says_what_it_is_for():
    request = asked(
        "permission.asked", id="per_1", permission="bash", patterns=["git push"], always=["git *"]
    )
    assert (request.type, request.prompt) == ("permission", "Run: git push")
    assert request.config == {
        "toolName": "Bash",
        "toolInput": {"command": "git push"},
        "requestId": "per_1",
        "cwd": "/p",
        "suggestions": [{"pattern": "git *"}],
    }


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"permission": "edit", "metadata": {"filepath": "/p/a", "diff": "x"}}, "Edit /p/a"),
        ({"permission": "webfetch", "patterns": ["https://x.test"]}, "Fetch https://x.test"),
        ({"permission": "doom_loop", "patterns": ["bash"]}, 'Use doom_loop: {"pattern":"bash"}'),
        ({"type": "bash", "pattern": "ls", "title": "ls"}, "Run: ls"),
        ({}, "Use a tool"),
        ({"permission": 5, "patterns": 5, "metadata": 5, "always": 5}, "Use a tool"),
    ],
)
def test_permissions_of_every_kind(properties: dict[str, Any], sentence: str):
    assert asked("permission.asked", id="per_1", **properties).prompt == sentence


def test_a_question_is_asked_as_it_is_elsewhere():
    questions = [{"question": "With?", "multiple": True, "options": [{"label": "A"}]}]
    request = asked("question.asked", id="que_1", questions=questions)
    assert (request.type, request.prompt, request.options) == ("question", "With?", ())
    assert request.config["questions"] == [
        {"question": "With?", "multiSelect": True, "options": [{"label": "A"}]}
    ]
    assert request.config["requestId"] == "que_1"


def test_a_subagents_session_belongs_to_its_parents():
    info = {"id": "ses_2", "parentID": "ses_1", "title": "Explore"}
    report = told("session.created", session="ses_2", info=info)
    assert (report.session_id, report.name) == ("ses_1", None)
    assert report.signals[0].name == "subagent_start"
    assert report.signals[0].payload["subagent"] == "ses_2"
    works = told("tool.execute.before", session="ses_2", parent="ses_1", tool="bash")
    assert (works.session_id, works.signals[0].payload["subagent"]) == ("ses_1", "ses_2")


async def test_a_subagent_never_moves_the_status():
    child = {"session": "ses_2", "parent": "ses_1"}
    payloads = [
        event("session.created"),
        BUSY,
        event("session.created", **child),
        event("session.status", status={"type": "busy"}, **child),
        event("session.idle", **child),
    ]
    assert await statuses(*payloads) == ["idle", "running", "running", "running", "running"]
    board = Board()
    plates = [await board.payload("opencode", payload) for payload in payloads]
    assert [plate.subagents for plate in plates] == [(), (), ("ses_2",), ("ses_2",), ()]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            {"name": "APIError", "data": {"message": "overloaded"}},
            ("stop_failure", {"error": "APIError: overloaded"}),
        ),
        ({"name": "UnknownError"}, ("stop_failure", {"error": "UnknownError"})),
        ("odd", ("stop_failure", {"error": "unknown"})),
    ],
)
def test_a_turn_that_failed(error: Any, expected: Any):
    payload = event("session.error") | {"properties": {"sessionID": "ses_1", "error": error}}
    report = translate(payload)
    assert report is not None
    assert [(one.name, dict(one.payload)) for one in report.signals] == [expected]


async def test_an_error_outlives_the_end_of_its_turn_when_the_plugin_says_so():
    assert await statuses(BUSY, event("session.idle", error="APIError")) == ["running", "error"]


async def test_a_turn_that_a_person_stopped():
    payload = event("session.error") | {
        "properties": {"sessionID": "ses_1", "error": {"name": "MessageAbortedError"}}
    }
    board = Board()
    await board.payload("opencode", BUSY)
    first = await board.payload("opencode", payload)
    second = await board.payload("opencode", event("session.idle", interrupted=True))
    assert [(one.status, one.interrupted, one.unseen) for one in (first, second)] == [
        ("idle", True, False)
    ] * 2


def test_names_that_nobody_gave_are_none():
    for title, name in [("New session - 2026", None), ("Fix it", "Fix it"), (5, None)]:
        assert told("session.updated", info={"id": "ses_1", "title": title}).name == name


def test_its_list_of_things_to_do():
    todos = [{"content": "Write", "status": "completed", "priority": "high"}, "odd"]
    listed = [{"id": "0", "text": "Write", "status": "completed"}]
    assert signals("todo.updated", todos=todos)[0][1]["todos"] == listed
    used = signals("tool.execute.after", tool="todowrite", args={"todos": todos})
    assert used[0][1]["todos"] == listed


def test_a_persons_prompt():
    assert signals("chat.message", prompt="go") == [("prompt_submit", {"prompt": "go"})]


def test_sessions_that_are_resumed_deleted_compacted():
    assert [one for one, _ in signals("session.resumed")] == ["session_start", "turn_idle"]
    assert signals("session.deleted") == [("session_end", {"reason": "deleted"})]
    assert signals("session.compacted") == [("compact", {})]


def test_events_that_say_nothing_are_heard():
    part = {"type": "message.part.updated", "properties": {"part": {"sessionID": "ses_1"}}}
    report = translate(part)
    assert report is not None
    assert report.signals[0].payload == {"hook": "message.part.updated"}
    assert signals("session.status", status={"type": "of tomorrow"})[0][0] == "hook_heard"


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        5,
        {},
        {"type": "server.connected", "properties": {}},
        {"type": "session.idle", "properties": 5},
        {"type": "session.idle", "properties": {"sessionID": 5}},
        {"type": "message.updated", "properties": {"info": {"id": "msg_1"}}},
    ],
)
def test_what_belongs_to_no_session_is_nothing(payload: Any):
    assert translate(payload) is None
