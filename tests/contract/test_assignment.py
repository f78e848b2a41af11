"""Who may answer a question over a real server: its assignees, and admins in their place."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import pytest_asyncio
from tests.in_process import run_here
from tests.servers import TOKEN, Server, serving

from callboard import Approval, Callboard, Phase, State, Workflow
from callboard.errors import ValidationError
from callboard.harness.mcp_tools import PersonTools

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("access"),
]


RELEASE = Workflow(
    "release",
    state=State,
    phases=[
        Phase("ask", human=Approval("Publish?", assignees=["ada", "group:release"]), terminal=True)
    ],
)


class Team(NamedTuple):
    """Clients of people with tokens of their own. Cleo is in the group `release`."""

    admin: httpx.AsyncClient
    ada: httpx.AsyncClient
    bob: httpx.AsyncClient
    cleo: httpx.AsyncClient
    operator: httpx.AsyncClient
    db: Path


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def team(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Team]:
    async with (
        serving(tmp_path_factory.mktemp("assignment") / "x.db") as server,
        AsyncExitStack() as stack,
    ):
        tokens = {
            "ada": await made_token(server, "laptop of ada", "answer", "--person", "ada"),
            "bob": await made_token(server, "bob", "answer"),
            "cleo": await made_token(server, "cleo", "answer", "--group", "release"),
            "operator": await made_token(server, "operator", "operate"),
        }
        people = {
            name: await stack.enter_async_context(server.client(token))
            for name, token in tokens.items()
        }
        admin = await stack.enter_async_context(server.client())
        yield Team(admin=admin, db=server.db, **people)


async def made_token(server: Server, name: str, scope: str, *more: str) -> str:
    words = ("token", "create", "--name", name, "--scope", scope, *more, f"--db={server.db}")
    here = {**os.environ, "CALLBOARD_TOKEN": TOKEN}
    code, out, err = await asyncio.to_thread(run_here, words, server.db.parent, here)
    assert code == 0, err
    return out.strip()


async def ask(team: Team, **more: object) -> str:
    body = {"type": "approval", "prompt": "Release?", "assignees": ["ada"], **more}
    asked = await team.operator.post("/interactions", json=body)
    assert asked.status_code == 201, asked.text
    return f"/interactions/{asked.json()['id']}"


async def mine(person: httpx.AsyncClient) -> list[str]:
    """The open questions that are assigned to a person. Other tests may have left some."""
    listed = await person.get("/interactions", params={"assignedTo": "me", "status": "pending"})
    return [one["id"] for one in listed.json()["interactions"]]


def refusal(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 403, answer.text
    return answer.json()["error"]


async def test_only_assignees_answer_and_the_error_names_them(team: Team):
    path = await ask(team)

    told = refusal(await team.bob.post(f"{path}/answer", json={"approved": True}))
    assert "Only ada can answer" in told["message"]
    # A name that only the caller gave opens nothing.
    refusal(await team.bob.post(f"{path}/answer", json={"approved": True, "by": "ada"}))
    refusal(await team.operator.post(f"{path}/answer", json={"approved": True}))
    refusal(await team.bob.post(f"{path}/complete", json={"outcome": "approved"}))
    refusal(await team.bob.post(f"{path}/cancel"))
    refusal(await team.bob.post(f"{path}/claim", json={"by": "ada"}))
    assert (await team.ada.get(path)).json()["status"] == "pending"

    done = await team.ada.post(f"{path}/answer", json={"approved": True})
    assert (done.status_code, done.json()["answeredBy"]) == (200, "laptop of ada")


async def test_members_of_a_group_answer_and_find_what_is_assigned_to_it(team: Team):
    path = await ask(team, assignees=["group:release"])
    sought = {"assignedTo": "me", "status": "pending"}

    refusal(await team.ada.post(f"{path}/answer", json={"approved": True}))
    [mine] = (await team.cleo.get("/interactions", params=sought)).json()["interactions"]
    assert path.endswith(mine["id"])
    own = await team.cleo.post(f"{path}/assign")
    assert own.json()["assignedTo"] == ["cleo"]
    done = await team.cleo.post(f"{path}/answer", json={"approved": True})
    assert done.status_code == 200


async def test_an_admin_overrides_and_that_is_recorded(team: Team):
    answered = await ask(team)
    done = await team.admin.post(f"{answered}/answer", json={"approved": True})
    assert done.status_code == 200
    withdrawn = await ask(team)
    assert (await team.operator.post(f"{withdrawn}/cancel")).json()["status"] == "cancelled"

    async with Callboard.open(team.db) as board:
        ends = [
            (await board.log.read(path.rpartition("/")[2]))[-1] for path in (answered, withdrawn)
        ]
    assert [(one.payload["by"], one.payload["override"]) for one in ends] == [
        ("admin", True),
        ("operator", True),
    ]


async def test_every_type_of_question_can_be_restricted(team: Team):
    outcome = {"outcomeSchema": {"type": "approval"}}
    for type, more, path, body in (
        ("input", {}, "answer", {"value": "So."}),
        ("choice", {"options": ["a", "b"]}, "answer", {"value": "a"}),
        ("confirmation", {}, "answer", {"approved": True}),
        ("select", {"options": ["a", "b"]}, "answer", {"value": "a"}),
        (
            "interactive_session",
            {"config": outcome},
            "complete",
            {"outcome": "completed", "response": "approved"},
        ),
    ):
        asked = await ask(team, type=type, **more)
        told = refusal(await team.bob.post(f"{asked}/{path}", json=body))
        assert "Only ada can answer" in told["message"], type
        done = await team.ada.post(f"{asked}/{path}", json=body)
        assert done.status_code == 200, (type, done.text)


async def test_a_session_s_only_question_is_restricted_where_input_is_sent_too(team: Team):
    async with Callboard.open(team.db, [RELEASE]) as board:
        session = await board.start("release")
        await board.drive(session)
    told = refusal(await team.operator.post(f"/sessions/{session}/input", json={"input": "yes"}))
    assert "Only ada, group:release can answer" in told["message"]
    done = await team.cleo.post(f"/sessions/{session}/input", json={"input": "yes"})
    assert done.status_code == 200, done.text


async def test_an_agent_s_tools_restrict_their_questions(team: Team, tmp_path: Path):
    async with Callboard.open(team.db) as board:
        tools = PersonTools(board.people, board.clock, "me", tmp_path)
        for call in (tools.ask_human, tools.request_approval, tools.request_interactive):
            given = {"prompt": "Release?", "assignees": ["group:release"]}
            asked = await call(given)
            refusal(await team.bob.post(f"/interactions/{asked['id']}/cancel"))
            withdrawn = await team.operator.post(f"/interactions/{asked['id']}/cancel")
            assert withdrawn.status_code == 200
        with pytest.raises(ValidationError, match="assignees"):
            await tools.request_approval({"prompt": "Release?", "assignees": ["none"]})


async def test_the_command_line_shows_who_may_answer_and_is_refused(team: Team):
    asked = (await ask(team, assignees=["ada", "group:release"])).rpartition("/")[2]
    bob = team.bob.headers["Authorization"].removeprefix("Bearer ")
    env = {**os.environ, "CALLBOARD_TOKEN": bob, "CALLBOARD_SERVER": str(team.bob.base_url)}
    code, out, err = await asyncio.to_thread(run_here, ("inbox", asked), team.db.parent, env)
    assert code == 0, err
    assert "Only ada or the release group can answer" in out
    words = ("answer", asked, "yes", "--by", "ada")
    code, out, err = await asyncio.to_thread(run_here, words, team.db.parent, env)
    assert code != 0
    assert "can answer question" in err
    assert (await team.operator.post(f"/interactions/{asked}/cancel")).status_code == 200


async def test_assign_changes_who_is_expected_and_nothing_else(team: Team):
    path = await ask(team, assignees=None)

    own = await team.ada.post(f"{path}/assign")
    assert own.json()["assignedTo"] == ["ada"]
    assert own.json()["id"] in await mine(team.ada)
    moved = await team.bob.post(f"{path}/assign", json={"to": "group:release"})
    assert moved.json()["assignedTo"] == ["group:release"]
    assert own.json()["id"] not in await mine(team.ada)
    assert own.json()["id"] in await mine(team.cleo)
    removed = await team.bob.post(f"{path}/assign", json={"to": None})
    assert (removed.json()["assignedTo"], removed.json()["claimedBy"]) == (None, None)
    done = await team.bob.post(f"{path}/answer", json={"approved": False})
    assert done.status_code == 200


async def test_nobody_assigns_a_question_to_themselves_that_they_may_not_answer(team: Team):
    path = await ask(team)

    answer = await team.bob.post(f"{path}/assign")

    assert answer.status_code == 400
    assert answer.json()["error"]["field"] == "to"
