"""The board over HTTP: plates, reported events, raw hooks, and hooks that are held open."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio
from tests.agents_that_answer import Job, agent, request
from tests.servers import TOKEN, Server, serving

from callboard import Client
from callboard.systems.processes import started_at

PATIENCE = 90

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("plates"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    async with serving(tmp_path_factory.mktemp("plates") / "x.db") as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def http(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with server.client() as client:
        yield client


@pytest.fixture
def session(request: pytest.FixtureRequest) -> str:
    return f"session of {request.node.name}"


def hook(session: str, name: str, **more: Any) -> dict[str, Any]:
    return {"session_id": session, "cwd": "/home/ada/x", "hook_event_name": name, **more}


def bash(session: str, name: str, command: str = "rm -r build", **more: Any) -> dict[str, Any]:
    return hook(session, name, tool_name="Bash", tool_input={"command": command}, **more)


async def send(http: httpx.AsyncClient, payload: Any, agent: str = "claude") -> httpx.Response:
    answer = await http.post(f"/hooks/{agent}", json=payload)
    assert answer.status_code == 200, answer.text
    return answer


async def plate_of(http: httpx.AsyncClient, session: str) -> dict[str, Any]:
    plates = (await http.get("/plates")).json()["plates"]
    return next(plate for plate in plates if plate["sessionId"] == session)


async def until(http: httpx.AsyncClient, session: str, **expected: Any) -> dict[str, Any]:
    """The plate once it is as expected."""
    async with asyncio.timeout(PATIENCE):
        while True:
            plate = await plate_of(http, session)
            if expected.items() <= plate.items():
                return plate
            await asyncio.sleep(0.01)


async def asked(http: httpx.AsyncClient, session: str) -> dict[str, Any]:
    """The question that a client's session has in the inbox."""
    async with asyncio.timeout(PATIENCE):
        while True:
            query = {"status": "pending", "sessionId": session}
            found = (await http.get("/interactions", params=query)).json()["interactions"]
            if found:
                return found[0]
            await asyncio.sleep(0.01)


async def resolved(http: httpx.AsyncClient, id: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            found = (await http.get(f"/interactions/{id}")).json()
            if found["status"] != "pending":
                return found
            await asyncio.sleep(0.01)


def held(http: httpx.AsyncClient, payload: dict[str, Any]) -> asyncio.Task[httpx.Response]:
    return asyncio.create_task(send(http, payload))


async def held_permission(
    http: httpx.AsyncClient, session: str
) -> tuple[asyncio.Task[httpx.Response], dict[str, Any]]:
    """A session that asks for a permission: the hook that waits, and the question."""
    await send(http, hook(session, "SessionStart", source="startup"))
    holding = held(http, bash(session, "PermissionRequest"))
    return holding, await asked(http, session)


async def test_the_branch_follows_git_while_nothing_is_reported(
    http: httpx.AsyncClient, session: str, tmp_path: Path
):
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    await send(http, hook(session, "SessionStart", source="startup", cwd=str(tmp_path)))
    await until(http, session, gitBranch="main", status="idle")
    git("checkout", "-q", "-b", "fix/cart")
    await until(http, session, gitBranch="fix/cart", status="idle")


async def test_a_session_from_its_start_to_its_end(http: httpx.AsyncClient, session: str):
    await send(http, hook(session, "SessionStart", source="startup"))
    assert (await plate_of(http, session))["status"] == "idle"
    await send(http, hook(session, "UserPromptSubmit", prompt="Tidy up"))
    plate = await plate_of(http, session)
    assert (plate["status"], plate["prompt"], plate["attention"]) == ("running", "Tidy up", False)
    await send(http, bash(session, "PreToolUse"))
    assert (await plate_of(http, session))["lastTool"] == "Bash"
    await send(http, bash(session, "PostToolUse"))
    await send(http, hook(session, "Stop", last_assistant_message="Done."))
    plate = await plate_of(http, session)
    assert (plate["status"], plate["attention"], plate["unseen"]) == ("idle", True, True)
    await send(http, hook(session, "SessionEnd", reason="other"))
    assert (await plate_of(http, session))["status"] == "closed"
    events = (await http.get(f"/plates/{plate['plateId']}/events")).json()["events"]
    raw = [
        event["payload"]["raw"]["hook_event_name"] for event in events if "raw" in event["payload"]
    ]
    assert raw == [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SessionEnd",
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no json",
        b"[1]",
        b"null",
        b'{"hook_event_name": "Stop"}',
        b'{"session_id": 7}',
        b'{"session_id": "x", "hook_event_name": ["Stop"]}',
        b'{"session_id": "\\ud800", "hook_event_name": "Stop"}',
        b'{"session_id": "x", "hook_event_name": "Stop", "a": ' + b"[" * 5000,
        b"\xff\xfe",
    ],
)
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode", "nobody"])
async def test_garbage_is_answered_like_everything_else(
    http: httpx.AsyncClient, body: bytes, agent: str
):
    answer = await http.post(f"/hooks/{agent}", content=body)
    assert (answer.status_code, answer.json()) == (200, {})


async def test_a_huge_payload_is_kept_by_its_beginning(http: httpx.AsyncClient, session: str):
    await send(http, hook(session, "SessionStart", source="startup"))
    huge = bash(session, "PostToolUse", tool_response="x" * 20_000_000)
    assert (await send(http, huge)).json() == {}
    plate = await plate_of(http, session)
    events = (await http.get(f"/plates/{plate['plateId']}/events")).json()["events"]
    assert events[-1]["name"] == "hook_heard"
    assert events[-1]["payload"]["raw"]["truncated"] is True


async def test_a_permission_is_granted_from_the_board(http: httpx.AsyncClient, session: str):
    await send(http, hook(session, "SessionStart", source="startup"))
    await send(http, bash(session, "PreToolUse"))
    holding = held(http, bash(session, "PermissionRequest"))
    question = await asked(http, session)
    assert question["type"] == "permission"
    assert "rm -r build" in question["prompt"]
    plate = await plate_of(http, session)
    assert plate["status"] == "awaiting_approval"
    assert plate["interactionId"] == question["id"]
    path = f"/interactions/{question['id']}/answer"
    answering = asyncio.create_task(http.post(path, json={"approved": True, "by": "ada"}))
    decision = (await holding).json()["hookSpecificOutput"]["decision"]
    assert decision["behavior"] == "allow"
    assert (await until(http, session, status="running"))["waitingFor"] is None
    again = await http.post(path, json={"approved": False})
    assert again.status_code == 409
    await send(http, bash(session, "PostToolUse"))
    answer = await answering
    assert answer.status_code in (200, 202)
    found = await receipt(http, question["id"])
    assert (found["status"], found["response"]) == ("completed", {"approved": True})
    assert (found["receipt"], found["via"]) == ("delivered", "http")
    assert (found["answeredBy"], found["answeredAs"]) == ("admin", "ada")


async def test_an_answer_is_accepted_before_its_outcome_is_known(
    http: httpx.AsyncClient, session: str
):
    holding, question = await held_permission(http, session)
    path = f"/interactions/{question['id']}/answer"
    answer = await http.post(path, json={"approved": True})
    await holding
    accepted = answer.json()
    assert (answer.status_code, accepted["receipt"]) == (202, "pending")
    assert (accepted["status"], accepted["response"]) == ("pending", None)
    assert accepted["accepted"] == {"approved": True}


async def test_a_call_that_ran_overrules_a_refusal_that_was_accepted(
    http: httpx.AsyncClient, session: str
):
    holding, question = await held_permission(http, session)
    path = f"/interactions/{question['id']}/answer"
    answering = asyncio.create_task(http.post(path, json={"approved": False}))
    assert (await holding).json()["hookSpecificOutput"]["decision"]["behavior"] == "deny"
    await send(http, bash(session, "PostToolUse"))
    await answering
    found = await receipt(http, question["id"])
    assert (found["status"], found["response"]) == ("completed", {"approved": True})
    assert (found["receipt"], found["via"]) == ("overruled", "terminal")
    assert found["accepted"] == {"approved": False}


async def test_an_answer_to_a_client_that_ends_before_it_acts_is_lost(
    http: httpx.AsyncClient, session: str
):
    holding, question = await held_permission(http, session)
    path = f"/interactions/{question['id']}/answer"
    answering = asyncio.create_task(http.post(path, json={"approved": True}))
    await holding
    await send(http, hook(session, "SessionEnd", reason="other"))
    await answering
    found = await receipt(http, question["id"])
    assert (found["status"], found["response"]) == ("cancelled", None)
    assert found["receipt"] == "lost"


async def receipt(http: httpx.AsyncClient, id: str) -> dict[str, Any]:
    """The question, once it is known what became of the answer."""
    async with asyncio.timeout(90):
        while True:
            found = (await http.get(f"/interactions/{id}")).json()
            if found["receipt"] != "pending":
                return found
            await asyncio.sleep(0.02)


async def test_a_client_gets_the_receipt_of_an_answer(
    server: Server, http: httpx.AsyncClient, session: str
):
    """202 says that the agent has not confirmed it; for a client that is no error."""
    holding, question = await held_permission(http, session)
    async with Client(server.url, token=TOKEN) as client:
        done = await client.answer(question["id"], {"approved": True}, by="dana")
        assert (done.status, done.receipt, done.accepted) == (
            "pending",
            "pending",
            {"approved": True},
        )
        assert (done.answered_by, done.answered_as) == ("admin", "dana")
        await holding
        await send(http, bash(session, "PostToolUse"))
        await resolved(http, question["id"])
        [found] = await client.people.find(session_id=session)
        assert (found.receipt, found.response) == ("delivered", {"approved": True})


async def test_a_question_is_declined_with_a_message(http: httpx.AsyncClient, session: str):
    await send(http, hook(session, "SessionStart", source="startup"))
    questions = {"questions": [{"question": "Which?", "options": [{"label": "A"}]}]}
    payload = hook(session, "PermissionRequest", tool_name="AskUserQuestion", tool_input=questions)
    holding = held(http, payload)
    question = await asked(http, session)
    body = {"value": {"approved": False, "message": "ask Ann"}}
    answer = await http.post(f"/interactions/{question['id']}/answer", json=body)
    assert answer.json()["accepted"] == {"approved": False, "message": "ask Ann"}
    decision = (await holding).json()["hookSpecificOutput"]["decision"]
    assert decision == {"behavior": "deny", "message": "ask Ann", "interrupt": False}


async def test_a_refusal_tells_the_agent_why(http: httpx.AsyncClient, session: str):
    holding, question = await held_permission(http, session)
    lost = {"value": {"approved": True, "message": "use make clean"}}
    refused = await http.post(f"/interactions/{question['id']}/answer", json=lost)
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "value.message")
    body = {"value": {"approved": False, "message": "use make clean"}}
    await http.post(f"/interactions/{question['id']}/answer", json=body)
    decision = (await holding).json()["hookSpecificOutput"]["decision"]
    assert decision == {"behavior": "deny", "message": "use make clean", "interrupt": False}


async def test_an_answer_in_the_terminal_closes_the_question(http: httpx.AsyncClient, session: str):
    holding, question = await held_permission(http, session)
    await send(http, bash(session, "PostToolUse"))
    assert (await holding).json() == {}
    closed = await resolved(http, question["id"])
    assert (closed["status"], closed["response"]) == ("completed", {"approved": True})
    assert closed["via"] == "terminal"


async def test_a_hook_that_leaves_takes_its_question_along(server: Server, session: str):
    async with server.client() as http, server.client() as client:
        await send(http, hook(session, "SessionStart", source="startup"))
        holding = held(client, bash(session, "PermissionRequest"))
        question = await asked(http, session)
        holding.cancel()
        closed = await resolved(http, question["id"])
        assert closed["status"] == "cancelled"
        plate = await until(http, session, status="idle")
        assert plate["interrupted"] is True
        assert plate["interactionId"] is None


async def test_a_hook_that_comes_back_finds_its_question(server: Server, session: str):
    async with server.client() as http, server.client() as client:
        await send(http, hook(session, "SessionStart", source="startup"))
        payload = bash(session, "PermissionRequest", callboard={"hold": "h0lder-1"})
        first = held(client, payload)
        assert (await asked(http, session))["id"] == "h0lder-1"
        first.cancel()
        second = held(http, payload)
        await asyncio.sleep(1)  # Longer than a hook that left has to come back.
        assert (await http.get("/interactions/h0lder-1")).json()["status"] == "pending"
        await http.post("/interactions/h0lder-1/answer", json={"value": "yes"})
        assert (await second).json()["hookSpecificOutput"]["decision"]["behavior"] == "allow"
        third = await send(http, payload)
        assert third.json()["hookSpecificOutput"]["decision"]["behavior"] == "allow"


async def test_a_question_is_answered_by_its_labels(http: httpx.AsyncClient, session: str):
    options = [{"label": "SQLite", "description": ""}, {"label": "Postgres", "description": ""}]
    questions = [{"question": "Which?", "header": "DB", "options": options, "multiSelect": False}]
    payload = hook(
        session,
        "PermissionRequest",
        tool_name="AskUserQuestion",
        tool_input={"questions": questions},
    )
    await send(http, hook(session, "SessionStart", source="startup"))
    holding = held(http, payload)
    question = await asked(http, session)
    assert (question["type"], question["options"]) == ("question", ["SQLite", "Postgres"])
    wrong = await http.post(f"/interactions/{question['id']}/answer", json={"value": {"No": "x"}})
    assert wrong.status_code == 400
    await http.post(f"/interactions/{question['id']}/answer", json={"value": "SQLite"})
    decision = (await holding).json()["hookSpecificOutput"]["decision"]
    assert decision["behavior"] == "allow"
    assert decision["updatedInput"] == {"questions": questions, "answers": {"Which?": "SQLite"}}


async def test_a_rule_needs_more_than_an_answer(server: Server, session: str):
    env = os.environ | {"CALLBOARD_TOKEN": TOKEN}
    command = [sys.executable, "-m", "callboard", "token", "create", "--scope", "answer", "--json"]
    made = subprocess.run(
        [*command, f"--db={server.db}", "--name=phone"],
        env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    token = json.loads(made.stdout)["token"]
    async with server.client() as http, server.client(token) as phone:
        await send(http, hook(session, "SessionStart", source="startup"))
        suggestion = {
            "type": "addRules",
            "rules": [],
            "behavior": "allow",
            "destination": "session",
        }
        holding = held(
            http, bash(session, "PermissionRequest", permission_suggestions=[suggestion])
        )
        question = await asked(http, session)
        path, always = f"/interactions/{question['id']}/answer", {"approved": True, "always": True}
        refused = await phone.post(path, json={"value": always})
        assert (refused.status_code, refused.json()["error"]["needed"]) == (403, "operate")
        await http.post(path, json={"value": always})
        decision = (await holding).json()["hookSpecificOutput"]["decision"]
        assert decision["updatedPermissions"] == [suggestion]


async def test_an_edited_input_needs_more_than_an_answer(server: Server, session: str):
    env = os.environ | {"CALLBOARD_TOKEN": TOKEN}
    command = [sys.executable, "-m", "callboard", "token", "create", "--scope", "answer", "--json"]
    made = subprocess.run(
        [*command, f"--db={server.db}", "--name=tablet"],
        env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    token = json.loads(made.stdout)["token"]
    async with server.client() as http, server.client(token) as tablet:
        await send(http, hook(session, "SessionStart", source="startup"))
        holding = held(http, bash(session, "PermissionRequest"))
        question = await asked(http, session)
        path, original = f"/interactions/{question['id']}/answer", question["config"]["toolInput"]
        edited = {**original, "command": "ls -l"}
        value = {"approved": True, "updatedInput": edited}
        for given in (value, {"approved": True, "updatedInput": {}}):
            refused = await tablet.post(path, json={"value": given})
            assert (refused.status_code, refused.json()["error"]["needed"]) == (403, "operate")
        wrong = {"approved": True, "updatedInput": {**original, "command": ["ls"]}}
        refused = await http.post(path, json={"value": wrong})
        assert refused.status_code == 400
        assert refused.json()["error"]["field"] == "value.updatedInput.command"
        await http.post(path, json={"value": value})
        decision = (await holding).json()["hookSpecificOutput"]["decision"]
        assert decision == {"behavior": "allow", "updatedInput": edited}
        found = (await http.get(path.removesuffix("/answer"))).json()
    assert (found["accepted"], found["config"]["toolInput"]) == (value, original)
    assert found["answeredBy"] == "admin"


async def test_an_agent_cannot_answer_itself(server: Server, session: str):
    """Every way to answer asks who answers."""
    async with server.client() as http, agent() as asker:
        mine = {"pid": asker.pid, "hold": f"h-{asker.pid}"}
        await send(http, hook(session, "SessionStart", source="startup", callboard=mine))
        holding = held(http, bash(session, "PermissionRequest", callboard=mine))
        question = await asked(http, session)
        by_session = f"/sessions/{quote(session)}/input"
        for path, body in [
            (f"/interactions/{question['id']}/answer", {"approved": True}),
            (f"/interactions/{question['id']}/complete", {"outcome": "completed"}),
            (by_session, {"id": question["id"], "approved": True}),
            (by_session, {"event": {"payload": {"id": question["id"]}}}),
        ]:
            assert await asker.send(Job(server.port, request(path, body, TOKEN))) == "403"
        assert (await asked(http, session))["status"] == "pending"
        holding.cancel()


async def test_a_plate_is_no_session(http: httpx.AsyncClient, session: str):
    await send(http, hook(session, "SessionStart", source="startup"))
    id = (await plate_of(http, session))["plateId"]
    before = (await http.get(f"/plates/{id}/events")).json()["events"]
    for method, path in [
        ("POST", "cancel"),
        ("POST", "pause"),
        ("POST", "resume"),
        ("POST", "fork"),
        ("GET", "state"),
        ("GET", "events"),
    ]:
        answer = await http.request(method, f"/sessions/{id}/{path}", json={})
        assert (path, answer.status_code) == (path, 404)
    assert (await http.get(f"/plates/{id}/events")).json()["events"] == before


async def test_nobody_lets_go_of_anothers_question(http: httpx.AsyncClient, session: str):
    await send(http, hook(session, "SessionStart", source="startup"))
    ours = {"hold": "h0lder-2"}
    holding = held(http, bash(session, "PermissionRequest", callboard=ours))
    question = await asked(http, session)
    other = f"another {session}"
    await send(http, bash(other, "PermissionRequest", callboard=ours | {"gone": True}))
    assert (await send(http, bash(other, "PermissionRequest", callboard=ours))).json() == {}
    assert (await http.get(f"/interactions/{question['id']}")).json()["status"] == "pending"
    await http.post(f"/interactions/{question['id']}/answer", json={"approved": False})
    assert (await holding).json()["hookSpecificOutput"]["decision"]["behavior"] == "deny"


async def test_a_question_that_no_agent_asked_is_none_of_a_hooks_business(
    http: httpx.AsyncClient, session: str
):
    alone = {"type": "approval", "prompt": "Ship it?"}
    id = (await http.post("/interactions", json=alone)).json()["id"]
    for more in ({}, {"gone": True}):
        payload = bash(session, "PermissionRequest", callboard={"hold": id} | more)
        assert (await send(http, payload)).json() == {}
    assert (await http.get(f"/interactions/{id}")).json()["status"] == "pending"


async def test_an_answer_that_says_it_came_from_the_terminal_is_delivered(
    http: httpx.AsyncClient, session: str
):
    holding, question = await held_permission(http, session)
    await http.post(
        f"/interactions/{question['id']}/answer",
        json={"approved": True},
        headers={"Callboard-Via": "terminal"},
    )
    assert (await holding).json()["hookSpecificOutput"]["decision"]["behavior"] == "allow"


async def test_who_only_reports_can_do_nothing_else(server: Server, session: str):
    env = os.environ | {"CALLBOARD_TOKEN": TOKEN}
    command = [sys.executable, "-m", "callboard", "token", "create", "--scope", "hook", "--json"]
    made = subprocess.run(
        [*command, f"--db={server.db}", "--name=hooks-of-a-test"],
        env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    async with server.client(json.loads(made.stdout)["token"]) as hooks:
        assert (await hooks.get("/plates")).status_code == 403
        assert (await hooks.get("/interactions")).status_code == 403
        await send(hooks, hook(session, "SessionStart", source="startup"))
        reported = {"session_id": session, "project_path": "/x", "event_type": "prompt_submit"}
        assert (await hooks.post("/events", json=reported)).status_code == 200
    async with server.client(None) as stranger:
        assert (await stranger.post("/hooks/claude", json={})).status_code == 401


async def test_who_only_reads_reports_nothing(server: Server):
    command = [sys.executable, "-m", "callboard", "token", "create", "--scope", "read", "--json"]
    made = subprocess.run(
        [*command, f"--db={server.db}", "--name=reader-of-a-test"],
        env=os.environ | {"CALLBOARD_TOKEN": TOKEN}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    async with server.client(json.loads(made.stdout)["token"]) as reader:
        refused = await reader.post("/hooks/claude", json={})
    assert refused.status_code == 403
    assert refused.json()["error"]["code"] == "FORBIDDEN"
    assert "scope 'hook'" in refused.json()["error"]["message"]


async def test_hooks_are_posted_to_their_agent_and_counted_together(
    http: httpx.AsyncClient, session: str
):
    wrong = await http.get("/hooks/claude")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert (await http.post("/hooks/claude/more", json={})).status_code == 404
    await send(http, hook(session, "SessionStart", source="startup"))
    counted = (await http.get("/metrics")).text
    assert 'callboard_http_requests_total{method="POST",route="/hooks/{agent}"' in counted


async def test_events_in_the_words_of_the_board(http: httpx.AsyncClient, session: str):
    told = {"session_id": session, "project_path": "/home/ada/y"}
    statuses: list[str] = []
    for event in [
        {"event_type": "session_start", "git_branch": "main", "tmux_target": "0:1"},
        {"event_type": "tool_start", "tool_name": "AskUserQuestion"},
        {"event_type": "tool_call", "tool_name": "AskUserQuestion"},
        {"event_type": "tool_start", "tool_name": "ExitPlanMode"},
        {"event_type": "stop", "error": "no credit"},
        {"event_type": "something_new", "answer": 42},
        {"event_type": "prompt_submit"},
        {"event_type": "stop"},
    ]:
        answer = await http.post("/events", json=told | event)
        assert answer.json() == {"status": "ok"}
        statuses.append((await plate_of(http, session))["status"])
    assert statuses == [
        "running",
        "awaiting_input",
        "running",
        "awaiting_approval",
        "error",
        "error",
        "running",
        "idle",
    ]
    plate = await plate_of(http, session)
    assert (plate["gitBranch"], plate["tmuxTarget"]) == ("main", "0:1")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"event_type": "stop"}, "session_id"),
        ({"session_id": "x"}, "event_type"),
        ({"session_id": "x", "event_type": "stop"}, "project_path"),
        ({"session_id": "x", "event_type": "stop", "cwd": "/", "timestamp": "noon"}, "timestamp"),
        ({"session_id": "x", "event_type": "stop", "cwd": 7}, "cwd"),
    ],
)
async def test_a_wrong_event_names_its_field(
    http: httpx.AsyncClient, wrong: dict[str, Any], field: str
):
    answer = await http.post("/events", json=wrong)
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)


async def test_a_wrapper_registers_and_tells_the_end(http: httpx.AsyncClient):
    # Processes that live: the server looks for those that do not.
    async with agent() as one, agent() as another:
        start = started_at(one.pid)
        process = {"project_path": "/home/ada/z", "pid": one.pid, "proc_start": start}
        plate = (await http.post("/plates/register", json=process)).json()
        assert (plate["status"], plate["projectPath"]) == ("starting", "/home/ada/z")
        start = started_at(another.pid)
        other = {"project_path": "/home/ada/z", "pid": another.pid, "proc_start": start}
        await http.post("/plates/register", json=other)
        told = (await http.post("/plates/stopped", json=process)).json()
        assert told == {"status": "ok", "count": 1}
        assert (await http.get(f"/plates/{plate['plateId']}")).json()["status"] == "closed"
        assert (await http.post("/plates/stopped", json=process)).json()["count"] == 0


async def test_an_announced_client_takes_its_plate(http: httpx.AsyncClient, session: str):
    place = {"project_path": f"/home/ada/{session}"}
    plate = (await http.post("/plates/register", json=place)).json()
    started = hook(session, "SessionStart", source="startup", cwd=place["project_path"])
    await send(http, started)
    found = await plate_of(http, session)
    assert (found["plateId"], found["status"]) == (plate["plateId"], "idle")
    again = (await http.post("/plates/register", json=place | {"session_id": session})).json()
    assert again["plateId"] == plate["plateId"]


async def test_sessions_side_by_side_in_one_process_are_two_plates(
    http: httpx.AsyncClient, session: str
):
    process = subprocess.Popen(["sleep", "60"])
    ids = [f"ses_{session}_{number}".replace(" ", "_") for number in (1, 2)]
    for id in ids:
        created = {
            "type": "session.created",
            "properties": {"sessionID": id, "info": {"id": id, "directory": "/home/ada/x"}},
            "directory": "/home/ada/x",
            "callboard": {"pid": process.pid},
        }
        await send(http, created, "opencode")
    plates = [await plate_of(http, id) for id in ids]
    assert plates[0]["plateId"] != plates[1]["plateId"]
    process.kill()
    process.wait()
    for id in ids:
        await until(http, id, status="closed")


async def test_name_pin_see_and_dismiss(http: httpx.AsyncClient, session: str):
    await send(http, hook(session, "SessionStart", source="startup"))
    await send(http, hook(session, "Stop"))
    id = (await plate_of(http, session))["plateId"]
    changed = (await http.patch(f"/plates/{id}", json={"name": "docs", "pinned": True})).json()
    assert (changed["name"], changed["pinned"], changed["attention"]) == ("docs", True, True)
    assert (await http.patch(f"/plates/{id}", json={"seen": True})).json()["attention"] is False
    assert (await http.patch(f"/plates/{id}", json={"name": ""})).json()["name"] is None
    assert (await http.patch(f"/plates/{id}", json={"colour": 1})).status_code == 400
    await http.delete(f"/plates/{id}")
    for body in ({}, {"name": "docs"}):
        assert (await http.patch(f"/plates/{id}", json=body)).status_code == 404
    listed = (await http.get("/plates")).json()["plates"]
    assert id not in [plate["plateId"] for plate in listed]
    await send(http, hook(session, "SessionStart", source="resume"))
    assert (await plate_of(http, session))["plateId"] == id
    missing = await http.get("/plates/none")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "PLATE_NOT_FOUND")


async def test_a_process_that_dies_closes_its_plate(http: httpx.AsyncClient, session: str):
    process = subprocess.Popen(["sleep", "60"])
    stat = Path(f"/proc/{process.pid}/stat").read_text()
    known = {"pid": process.pid, "proc_start": stat.rsplit(")", 1)[1].split()[19]}
    await send(http, hook(session, "SessionStart", source="startup", callboard=known))
    holding = held(
        http, bash(session, "PermissionRequest", callboard=known | {"hold": f"h{process.pid}"})
    )
    question = await asked(http, session)
    process.kill()
    process.wait()
    assert (await until(http, session, status="closed"))["ended"] == "process_exit"
    assert (await resolved(http, question["id"]))["status"] == "cancelled"
    assert (await holding).json() == {}
    await send(http, hook(session, "Stop"))
    assert (await plate_of(http, session))["status"] == "closed"


async def test_the_stream_of_everything_tells_of_plates(server: Server, session: str):
    async with server.client() as http, http.stream("GET", "/stream") as stream:
        async with server.client() as client:
            await send(client, hook(session, "SessionStart", source="startup"))
        async for line in stream.aiter_lines():
            if line.startswith("data:") and session in line:
                event = json.loads(line.removeprefix("data:"))
                assert event["name"] == "session_start"
                assert event["payload"]["plate"]["sessionId"] == session
                return
