"""Claude Code's hooks, one by one, and what is wrong with some of them."""

from typing import Any

import pytest
from tests.unit.board.boards import Board
from tests.unit.vendors.recordings import recorded

from callboard.events.event_name import Entry
from callboard.events.json_values import as_object, as_text, objects
from callboard.vendors.claude.payloads import translate
from callboard.vendors.reports import Report


def hook(name: str, **fields: Any) -> dict[str, Any]:
    return {"session_id": "s1", "cwd": "/p", "hook_event_name": name, **fields}


def told(payload: Any) -> Report:
    report = translate(payload)
    assert report is not None
    return report


def signals(name: str, **fields: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(one.name, dict(one.payload)) for one in told(hook(name, **fields)).signals]


def signal(name: str, **fields: Any) -> Entry:
    (found,) = told(hook(name, **fields)).signals
    return found


def asked(tool: Any, given: Any, **fields: Any) -> Report:
    return told(hook("PermissionRequest", tool_name=tool, tool_input=given, **fields))


# ---------------------------------------------------------------------- sessions and turns


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "fork", "of tomorrow"])
def test_a_session_that_starts_is_idle(source: str):
    assert signals("SessionStart", source=source) == [
        ("session_start", {"source": source}),
        ("turn_idle", {}),
    ]
    report = told(hook("SessionStart", source=source))
    assert report.continues is (source == "clear")


def test_compacting_starts_no_session():
    assert signals("SessionStart", source="compact") == [("compact", {"source": "compact"})]
    assert signals("PreCompact", trigger="auto") == [("compact", {"trigger": "auto"})]
    assert signals("PostCompact", trigger="manual") == [("compact", {"trigger": "manual"})]


def test_what_a_session_tells_of_itself():
    report = told(
        hook("SessionStart", source="startup", model="m", transcript_path="/t", session_title="T")
    )
    assert (report.agent, report.session_id, report.project_path) == ("claude", "s1", "/p")
    assert (report.model, report.transcript_path, report.name) == ("m", "/t", "T")


def test_a_prompt_is_a_persons():
    assert signals("UserPromptSubmit", prompt="go") == [("prompt_submit", {"prompt": "go"})]


def test_a_notification_of_a_task_is_not_a_persons():
    prompt = "<task-notification>\n<task-id>a1</task-id> done"
    assert signals("UserPromptSubmit", prompt=prompt) == [("prompt_submit", {"origin": "self"})]


async def test_a_client_that_wakes_itself_shows_the_last_prompt_of_a_person():
    board = Board()
    await board.payload("claude", hook("UserPromptSubmit", prompt="go"))
    await board.payload("claude", hook("Stop"))
    plate = await board.payload(
        "claude", hook("UserPromptSubmit", prompt="<task-notification>x</task-notification>")
    )
    assert (plate.status, plate.prompt, plate.unseen) == ("running", "go", True)


def test_a_turn_ends_with_what_goes_on():
    tasks = [
        {
            "id": "b1",
            "type": "shell",
            "status": "running",
            "description": "Build",
            "command": "make",
        },
        {"id": "b2", "type": "shell", "status": "running", "command": "make test"},
        {"id": "a1", "type": "subagent", "status": "completed", "description": "Old"},
        "odd",
        {"id": 5},
    ]
    crons = [{"id": "c1", "schedule": "* * * * *", "recurring": True, "prompt": "look"}]
    assert signals(
        "Stop", last_assistant_message="Done", background_tasks=tasks, session_crons=crons
    ) == [
        (
            "stop",
            {
                "message": "Done",
                "background": [
                    {"id": "b1", "kind": "shell", "description": "Build"},
                    {"id": "b2", "kind": "shell", "description": "make test"},
                    {"id": "", "kind": "task", "description": ""},
                    {"id": "c1", "kind": "schedule", "description": "look"},
                ],
            },
        )
    ]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"error": "overloaded"}, "overloaded"),
        ({"error": "rate_limit", "error_details": "try later"}, "rate_limit: try later"),
        ({"error": {"type": "odd"}}, "unknown"),
    ],
)
async def test_a_stop_with_an_error_is_an_error(fields: dict[str, Any], error: str):
    assert signals("Stop", **fields) == [("stop_failure", {"error": error})]
    board = Board()
    plate = await board.payload("claude", hook("Stop", **fields))
    assert (plate.status, plate.error) == ("error", error)


def test_a_stop_without_an_error_is_none():
    assert signals("Stop", error=None) == signals("Stop", error="") == [("stop", {})]


def test_a_client_that_says_nothing_of_the_background_is_not_taken_to_have_none():
    assert signals("Stop") == [("stop", {})]
    assert signals("Stop", background_tasks=[]) == [("stop", {"background": []})]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"error": "rate_limit"}, "rate_limit"),
        ({"error": "unknown", "error_details": "400 bad"}, "unknown: 400 bad"),
        ({}, "unknown"),
        ({"error": {"odd": 1}}, "unknown"),
    ],
)
def test_a_turn_that_failed_says_why(fields: dict[str, Any], error: str):
    assert signals("StopFailure", **fields) == [("stop_failure", {"error": error})]


def test_a_session_ends_for_a_reason():
    assert signals("SessionEnd", reason="clear") == [("session_end", {"reason": "clear"})]


async def test_clear_is_another_session_on_the_same_plate():
    board = Board()
    await board.payload("claude", hook("SessionStart", source="startup"))
    first = await board.payload("claude", hook("SessionEnd", reason="clear"))
    second = await board.payload(
        "claude", hook("SessionStart", source="clear") | {"session_id": "s2"}
    )
    assert (first.status, second.status) == ("closed", "idle")
    assert second.plate_id == first.plate_id
    assert second.session_id == "s2"


# ---------------------------------------------------------------------- tools


def test_a_tool_starts():
    given = {"command": "ls"}
    found = signals("PreToolUse", tool_name="Bash", tool_input=given, tool_use_id="t1")
    assert found == [
        ("tool_start", {"toolName": "Bash", "toolUseId": "t1", "toolInput": given}),
    ]


@pytest.mark.parametrize("name", ["PostToolUse", "PostToolUseFailure"])
def test_a_tool_was_called(name: str):
    found = signal(name, tool_name="Bash", tool_input={}, error="Exit code 3")
    assert (found.name, found.payload["failure"]) == ("tool_call", "Exit code 3")


def test_the_end_of_a_step_names_no_tool():
    calls = [{"tool_name": "Nonexistent", "tool_input": {}, "tool_use_id": "t"}]
    assert signals("PostToolBatch", tool_calls=calls) == [("tool_call", {"hook": "PostToolBatch"})]


def test_answers_are_told():
    response = {"answers": {"Which?": "This", "odd": 5}}
    found = signal("PostToolUse", tool_name="AskUserQuestion", tool_response=response)
    assert found.payload["answers"] == {"Which?": "This"}
    assert "answers" not in signal("PostToolUse", tool_name="Bash", tool_response=response).payload


@pytest.mark.parametrize(("length", "told"), [(600, True), (20_000, True), (20_001, False)])
def test_a_question_that_can_be_asked_can_be_answered_in_the_terminal(length: int, told: bool):
    question = "Q" * length
    request = asked("AskUserQuestion", {"questions": [{"question": question}]}).request
    assert request is not None
    assert (request.type == "question") is told
    found = signal(
        "PostToolUse", tool_name="AskUserQuestion", tool_response={"answers": {question: "Yes"}}
    )
    assert ("answers" in found.payload) is told


def test_what_happens_in_a_subagent_says_so():
    found = signal("PreToolUse", tool_name="Bash", agent_id="a1", agent_type="general-purpose")
    assert found.payload["subagent"] == "a1"


def test_subagents_begin_and_end():
    fields = {"agent_id": "a1", "agent_type": "Explore"}
    details = {"agentType": "Explore", "subagent": "a1"}
    assert signals("SubagentStart", **fields) == [("subagent_start", details)]
    assert signals("SubagentStop", **fields) == [("subagent_stop", details)]


@pytest.mark.parametrize("fields", [{"agent_id": "a1", "agent_type": ""}, {"agent_type": "X"}, {}])
def test_a_subagent_that_is_none_is_only_heard(fields: dict[str, Any]):
    assert signal("SubagentStop", **fields).name == "hook_heard"


@pytest.mark.parametrize(
    "name", ["MessageDisplay", "Notification", "PermissionDenied", "TeammateIdle", "OfTomorrow"]
)
def test_hooks_that_say_nothing_of_the_status_are_heard(name: str):
    found = signal(name, message="x", notification_type="permission_prompt")
    assert (found.name, found.payload["hook"]) == ("hook_heard", name)


# ---------------------------------------------------------------------- todos


def test_tasks_are_todos():
    created = signal("TaskCreated", task_id="1", task_subject="Write")
    completed = signal("TaskCompleted", task_id="1", task_subject="Write")
    assert created.payload["todo"] == {"id": "1", "text": "Write"}
    assert completed.payload["todo"] == {"id": "1", "text": "Write", "status": "completed"}
    assert signal("TaskCreated").payload == {"hook": "TaskCreated"}


@pytest.mark.parametrize(
    ("tool", "given", "response", "expected"),
    [
        (
            "TaskCreate",
            {},
            {"task": {"id": "1", "subject": "Write"}},
            {"todo": {"id": "1", "text": "Write"}},
        ),
        (
            "TaskUpdate",
            {"taskId": "1", "status": "deleted"},
            {"success": True},
            {"todo": {"id": "1", "status": "deleted"}},
        ),
        ("TaskUpdate", {"taskId": "1", "status": "completed"}, {"success": False}, {}),
        (
            "TaskList",
            {},
            {"tasks": [{"id": "1", "subject": "A", "status": "pending"}, {"id": 2}, 5]},
            {"todos": [{"id": "1", "text": "A", "status": "pending"}]},
        ),
        ("TaskList", {}, {"tasks": "odd"}, {}),
        (
            "TodoWrite",
            {"todos": [{"content": "A", "status": "pending"}]},
            "ok",
            {"todos": [{"id": "0", "text": "A", "status": "pending"}]},
        ),
        ("TodoWrite", {"todos": "odd"}, None, {}),
        ("TodoWrite", {}, {"newTodos": []}, {"todos": []}),
        ("Bash", {"todos": []}, {"tasks": []}, {}),
    ],
)
def test_todos_come_from_the_tools_that_write_them(
    tool: str, given: Any, response: Any, expected: dict[str, Any]
):
    found = signal("PostToolUse", tool_name=tool, tool_input=given, tool_response=response)
    assert {
        key: found.payload[key] for key in ("todo", "todos") if key in found.payload
    } == expected


def test_a_subagents_own_list_is_not_the_sessions():
    todos = {"todos": [{"content": "A", "status": "pending"}]}
    found = signal("PostToolUse", tool_name="TodoWrite", tool_input=todos, agent_id="a1")
    assert "todos" not in found.payload


# ---------------------------------------------------------------------- what is asked


@pytest.mark.parametrize(
    ("tool", "given", "sentence"),
    [
        ("Bash", {"command": "rm -rf /tmp/x"}, "Run: rm -rf /tmp/x"),
        ("Edit", {"file_path": "/p/a.py"}, "Edit /p/a.py"),
        ("Write", {"file_path": "/p/a.py", "content": "x"}, "Write /p/a.py"),
        ("WebFetch", {"url": "https://example.test"}, "Fetch https://example.test"),
        ("ExitPlanMode", {"plan": "\n\n## Move it\nfirst"}, "Approve the plan: Move it"),
        ("ExitPlanMode", {}, "Approve the plan?"),
        ("AskUserQuestion", {"questions": [{"question": "Which?"}]}, "Which?"),
        (
            "AskUserQuestion",
            {"questions": [{"question": "Which?"}, {"question": "When?"}]},
            "Which? (and 1 more)",
        ),
        ("mcp__board__send", {"to": "x"}, 'Use mcp__board__send: {"to":"x"}'),
        ("Bash", {"command": 5}, 'Use Bash: {"command":5}'),
        ("AskUserQuestion", {"questions": []}, 'Use AskUserQuestion: {"questions":[]}'),
        ("Sleep", {}, "Use Sleep"),
        (None, None, "Use a tool"),
        (7, ["odd"], 'Use a tool: ["odd"]'),
    ],
)
def test_a_sentence_says_what_is_asked(tool: Any, given: Any, sentence: str):
    report = asked(tool, given)
    assert report.request is not None
    assert report.request.prompt == sentence
    assert report.signals[0].payload["asks"] == sentence


def test_a_permission_offers_what_the_client_proposes():
    payload = recorded("claude", "i_perm")[3]
    request = told(payload).request
    assert request is not None
    assert (request.type, request.options) == ("permission", ())
    assert request.config == {
        "toolName": "Bash",
        "cwd": "/home/u/proj",
        "toolInput": payload["tool_input"],
        "suggestions": payload["permission_suggestions"],
        "editable": True,
    }


def test_a_yes_for_good_is_never_a_yes_to_everything():
    payload = recorded("claude", "i_perm")[11]
    assert [one["type"] for one in payload["permission_suggestions"]] == [
        "addDirectories",
        "setMode",
    ]
    request = told(payload).request
    assert request is not None
    assert [one["type"] for one in objects(request.config["suggestions"])] == ["addDirectories"]


def test_a_question_of_a_subagent_names_it():
    fields = {"agent_id": "a1", "agent_type": "Explore", "callboard": {"hold": "h1"}}
    report = asked("Bash", {"command": "ls"}, **fields)
    assert report.request is not None
    assert report.request.config["subagent"] == {"id": "a1", "name": "Explore"}
    assert report.signals[0].payload["asks"] == "Run: ls"


@pytest.mark.parametrize(
    ("tool", "given"),
    [("ExitPlanMode", {"plan": "Do it."}), ("Read", "odd"), ("Write", {"content": "x" * 200_000})],
)
def test_what_a_person_cannot_see_whole_cannot_be_edited(tool: str, given: Any):
    request = asked(tool, given).request
    assert request is not None
    assert "editable" not in request.config


def test_one_question_with_one_answer_has_options():
    questions = [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}, "odd", {}]}]
    request = asked("AskUserQuestion", {"questions": questions}).request
    assert request is not None
    assert (request.type, request.options) == ("question", ("A", "B"))
    assert request.config["toolInput"] == {"questions": questions}
    assert request.config["questions"] == [
        {"question": "Which?", "multiSelect": False, "options": [{"label": "A"}, {"label": "B"}]}
    ]


@pytest.mark.parametrize(
    "questions",
    [
        [{"question": "Which?", "multiSelect": True, "options": [{"label": "A"}]}],
        [{"question": "Which?", "options": [{"label": "A"}]}, {"question": "When?"}],
    ],
)
def test_several_answers_are_no_options(questions: list[Any]):
    request = asked("AskUserQuestion", {"questions": questions}).request
    assert request is not None
    assert (request.type, request.options) == ("question", ())


def test_a_question_without_words_can_only_be_allowed_or_not():
    request = asked("AskUserQuestion", {"questions": [{"header": "DB"}]}).request
    assert request is not None
    assert request.type == "permission"


def test_a_huge_input_is_shown_in_part_and_says_so():
    request = asked("Write", {"file_path": "/p/a", "content": "x" * 1_000_000}).request
    assert request is not None
    assert request.config["truncated"] is True
    kept = as_object(request.config["toolInput"])
    assert kept["file_path"] == "/p/a"
    content = as_text(kept["content"])
    assert "characters not shown" in content
    assert len(content) <= 4000
    assert content.endswith("xxx")


def test_a_long_command_is_shown_whole():
    command = "echo " + "x" * 5000
    request = asked("Bash", {"command": command}).request
    assert request is not None
    assert request.prompt == f"Run: {command}"


# ---------------------------------------------------------------------- garbage


@pytest.mark.parametrize(
    "payload",
    [
        None,
        5,
        "text",
        [],
        [{"session_id": "s"}],
        {},
        {"session_id": None},
        {"session_id": ""},
        {"session_id": "  "},
        {"session_id": 5},
        {"session_id": ["s"]},
        {"session_id": "x" * 1000},
        {"hook_event_name": "Stop"},
    ],
)
def test_what_belongs_to_no_session_is_nothing(payload: Any):
    assert translate(payload) is None


@pytest.mark.parametrize("name", [None, 5, "", [], {}, "x" * 1000])
def test_a_hook_without_a_name_is_heard(name: Any):
    (found,) = told({"session_id": "s1", "hook_event_name": name}).signals
    assert (found.name, found.payload) == ("hook_heard", {"hook": "unknown"})


ODD = [None, 5, -1.5, True, "", "text", "\ud800", [], [None, 1], {}, {"a": {}}, 10**40]


@pytest.mark.parametrize("odd", ODD, ids=ascii)
@pytest.mark.parametrize(
    "name",
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "Stop"],
)
async def test_odd_fields_are_heard_and_recorded(name: str, odd: Any):
    fields = (
        "cwd transcript_path model source prompt tool_name tool_input tool_response tool_use_id "
        "permission_suggestions background_tasks session_crons last_assistant_message agent_id "
        "agent_type callboard error"
    )
    board = Board()
    payload = hook(name) | dict.fromkeys(fields.split(), odd)
    plate = await board.payload("claude", payload)
    assert await board.plates.get(plate.plate_id) == plate


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ExitPlanMode", "TodoWrite", "TaskList"])
@pytest.mark.parametrize("odd", ODD, ids=ascii)
async def test_odd_inputs_of_tools_are_heard_and_recorded(tool: str, odd: Any):
    board = Board()
    given = {"questions": [odd, {"question": odd, "options": odd}], "plan": odd, "todos": [odd]}
    for name in ("PreToolUse", "PermissionRequest", "PostToolUse"):
        payload = hook(name, tool_name=tool, tool_input=given, tool_response={"tasks": [odd]})
        plate = await board.payload("claude", payload, hold="i1" if "Req" in name else None)
        assert await board.plates.get(plate.plate_id) == plate


async def test_what_is_nested_too_deep_is_heard_and_recorded():
    deep: Any = []
    for _ in range(600):
        deep = [deep]
    board = Board()
    payload = hook("PermissionRequest", tool_name="Bash", tool_input={"command": deep})
    plate = await board.payload("claude", payload, hold="i1")
    assert plate.status == "awaiting_approval"
    assert (await board.interaction("i1")).status == "pending"
