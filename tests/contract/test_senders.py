"""An agent does not approve what it asks for, however it sends the answer; others do.

As root, server and agents run as another user, as they do in life: root sees into every process.
"""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests import users
from tests.agents_that_answer import Job, agent, request, send
from tests.proxies import forwarder, nginx
from tests.servers import TOKEN, Server, serving

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("senders"),
]

PATIENCE = 90
YES = {"value": {"approved": True}}
FORMS = ("close", "half-close", "reset")
REFUSED = {403, 499}
"""Refused, or gone before the request was read."""
TAKEN = ("200", "202")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    folder = tmp_path_factory.mktemp("senders")
    if users.are_there():
        os.chown(folder, users.USER, users.USER)
    async with serving(folder / "x.db", before=users.as_user()) as running:
        yield running


needs_users = pytest.mark.skipif(
    not users.are_there(), reason="only root can run processes as other users"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A permission that an agent asks for, and the hook that waits for it."""

    http: httpx.AsyncClient
    id: str
    holding: asyncio.Task[httpx.Response]

    @property
    def path(self) -> str:
        return f"/interactions/{self.id}/answer"

    async def status(self) -> tuple[str, Any]:
        """Whether anything was taken for an answer."""
        found = (await self.http.get(f"/interactions/{self.id}")).json()
        return found["status"], found["accepted"]

    async def decision(self) -> str:
        """What the agent was told."""
        async with asyncio.timeout(PATIENCE):
            answer = (await self.holding).json()
        return answer["hookSpecificOutput"]["decision"]["behavior"]


@asynccontextmanager
async def asking(server: Server, pid: int, name: str) -> AsyncGenerator[Asked]:
    """A permission that the process asks for."""
    id = f"{name}-{pid}"
    base = {
        "session_id": f"session {id}",
        "cwd": "/home/ada/x",
        "callboard": {"pid": pid, "hold": id},
    }
    asks = {"tool_name": "Bash", "tool_input": {"command": "rm -r build"}}
    async with server.client() as http:
        started = base | {"hook_event_name": "SessionStart", "source": "startup"}
        assert (await http.post("/hooks/claude", json=started)).status_code == 200
        wanted = base | asks | {"hook_event_name": "PermissionRequest"}
        holding = asyncio.create_task(http.post("/hooks/claude", json=wanted))
        async with asyncio.timeout(PATIENCE):
            while (await http.get(f"/interactions/{id}")).status_code != 200:
                await asyncio.sleep(0.01)
        try:
            yield Asked(http, id, holding)
        finally:
            holding.cancel()


def yes(server: Server, path: str, body: Any = YES, **more: Any) -> Job:
    return Job(server.port, request(path, body, TOKEN), **more)


async def told(server: Server, path: str, times: int) -> set[int]:
    """What the record of commands says that answers were told, once there are so many."""
    record = Path(f"{server.db}.audit.jsonl")
    async with asyncio.timeout(PATIENCE):
        while True:
            lines = record.read_text().splitlines() if record.exists() else []
            entries = [json.loads(line) for line in lines]
            found = [entry["status"] for entry in entries if entry["path"] == path]
            if len(found) >= times:
                return set(found)
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("form", FORMS)
async def test_an_agent_that_closes_at_once_is_refused(server: Server, form: str):
    async with agent(*users.as_user()) as attacker, asking(server, attacker.pid, form) as asked:
        for _ in range(5):
            await attacker.send(yes(server, asked.path, how=form))
        assert await told(server, asked.path, 5) <= REFUSED
        assert await asked.status() == ("pending", None)


@pytest.mark.parametrize("form", FORMS)
async def test_an_agent_that_is_gone_before_it_is_accepted_is_refused(server: Server, form: str):
    """The server is stopped while the agent connects, sends and closes."""
    assert server.process is not None
    async with (
        agent(*users.as_user()) as attacker,
        asking(server, attacker.pid, f"late-{form}") as asked,
    ):
        server.process.send_signal(signal.SIGSTOP)
        try:
            sent = asyncio.create_task(attacker.send(yes(server, asked.path, how=form)))
            if form != "half-close":  # That one waits for an answer.
                await sent
        finally:
            server.process.send_signal(signal.SIGCONT)
        await sent
        assert await told(server, asked.path, 1) <= REFUSED
        assert await asked.status() == ("pending", None)


@needs_users
@pytest.mark.parametrize("form", FORMS)
async def test_an_agent_that_is_gone_is_not_taken_for_a_process_that_hides(
    server: Server, form: str
):
    """Somebody is logged in by ssh: a process of the same user, whose files nobody can list."""
    async with (
        agent(*users.as_user()) as attacker,
        asking(server, attacker.pid, f"beside-sshd-{form}") as asked,
        forwarder(server.port, become=users.USER),
    ):
        for _ in range(5):
            await attacker.send(yes(server, asked.path, how=form))
        assert await told(server, asked.path, 5) <= REFUSED
        assert await asked.status() == ("pending", None)


@needs_users
async def test_an_agent_cannot_hide_behind_a_process_that_hides(server: Server):
    async with (
        agent(*users.as_user()) as attacker,
        asking(server, attacker.pid, "behind-sshd") as asked,
        forwarder(server.port, become=users.USER),
    ):
        assert await attacker.send(yes(server, asked.path, how="hide")) == "403"
        assert await asked.status() == ("pending", None)


async def ways(server: Server, asked: Asked) -> dict[str, Job]:
    """Other ways in which an agent may send an answer."""
    session = (await asked.http.get(f"/interactions/{asked.id}")).json()["sessionId"]
    by_session = f"/sessions/{session.replace(' ', '%20')}/input"
    harmless = "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    return {
        "open connection": yes(server, asked.path),
        "used connection": yes(server, asked.path, warm=harmless),
        "inherited socket": yes(server, asked.path, how="inherit"),
        "hidden process": yes(server, asked.path, how="hide"),
        "bound to a device": yes(server, asked.path, device="lo"),
        "the session": yes(server, by_session, {"id": asked.id, "approved": True}),
        "an event": yes(server, by_session, {"event": {"payload": {"id": asked.id, **YES}}}),
        "completing": yes(server, f"/interactions/{asked.id}/complete", {"outcome": "completed"}),
    }


async def test_no_other_way_of_sending_helps_it(server: Server):
    async with agent(*users.as_user()) as attacker, asking(server, attacker.pid, "ways") as asked:
        jobs = await ways(server, asked)
        statuses = {way: await attacker.send(job) for way, job in jobs.items()}
        assert statuses == dict.fromkeys(jobs, "403")
        assert await asked.status() == ("pending", None)


@needs_users
async def test_an_agent_that_answers_as_another_user_is_refused(server: Server):
    """As `sudo` or a user namespace let it: the socket is not ours, and we cannot look into it."""
    through_shell = ("sh", "-c", '"$@"; :', "sh")
    async with agent() as attacker, asking(server, attacker.pid, "sudo") as asked:
        before = (*users.as_user(users.OTHER), *through_shell)
        assert await attacker.send(yes(server, asked.path), before) == "403"
        assert await asked.status() == ("pending", None)


async def ask_for_approval(http: httpx.AsyncClient) -> str:
    """An approval that no hook asks for: as `callboard mcp` and workflows ask. Its path."""
    body = {"type": "approval", "prompt": "Deploy?"}
    asked = (await http.post("/interactions", json=body)).json()
    return f"/interactions/{asked['id']}/answer"


async def test_an_agent_on_the_board_cannot_approve_what_a_workflow_asks(server: Server):
    async with agent(*users.as_user()) as attacker, asking(server, attacker.pid, "flow") as asked:
        path = await ask_for_approval(asked.http)
        job = yes(server, path, {"value": "yes"})
        assert await attacker.send(job) == "403"
        for form in FORMS:
            await attacker.send(replace(job, how=form))
        assert await told(server, path, 4) <= REFUSED

        # It cannot leave the board to get past that: its process still runs.
        ended = {"session_id": f"session {asked.id}", "reason": "exit", "cwd": "/home/ada/x"}
        await asked.http.post("/hooks/claude", json=ended | {"hook_event_name": "SessionEnd"})
        assert await attacker.send(job) == "403"

        assert await send(job, users.as_user()) == "200"


async def test_an_agent_cannot_pair_a_machine(server: Server):
    async with agent(*users.as_user()) as attacker, asking(server, attacker.pid, "pair"):
        job = yes(server, "/pairing", {"server": "https://board.example"})
        assert await attacker.send(job) == "403"
        assert await send(job, users.as_user()) == "201"


async def test_an_agent_that_claims_to_be_another_process_is_known(server: Server):
    """A hook with another start or another process, once the agent has reported its own."""
    assert server.process is not None
    async with agent(*users.as_user()) as attacker, asking(server, attacker.pid, "forge") as asked:
        base = {"session_id": f"session {asked.id}", "cwd": "/home/ada/x"}
        path = await ask_for_approval(asked.http)
        for process in ({"pid": attacker.pid, "proc_start": 1}, {"pid": server.process.pid}):
            for hook in ("SessionEnd", "SessionStart"):
                forged = base | {"hook_event_name": hook, "source": "startup", "callboard": process}
                await asked.http.post("/hooks/claude", json=forged)
            assert await attacker.send(yes(server, path, {"value": "yes"})) == "403"


def answer_at(port: int, asked: Asked) -> Job:
    """A person's answer, sent to some port."""
    return Job(port, request(asked.path, YES, TOKEN))


async def test_a_process_that_is_none_of_the_agents_answers(server: Server):
    async with agent(*users.as_user()) as asker, asking(server, asker.pid, "person") as asked:
        assert await send(answer_at(server.port, asked), users.as_user()) in TAKEN
        assert await asked.decision() == "allow"


async def test_a_forwarder_of_the_same_user_answers(server: Server):
    async with (
        agent(*users.as_user()) as asker,
        asking(server, asker.pid, "tunnel") as asked,
        forwarder(server.port, users.as_user()) as port,
    ):
        assert await send(answer_at(port, asked)) in TAKEN
        assert await asked.decision() == "allow"


@needs_users
@pytest.mark.parametrize(
    ("before", "become"),
    [
        pytest.param((), users.USER, id="sshd"),
        pytest.param(users.as_user(users.OTHER), 0, id="another user"),
        pytest.param((), 0, id="root"),
    ],
)
async def test_a_forwarder_that_we_cannot_look_into_answers(
    server: Server, before: tuple[str, ...], become: int
):
    async with (
        agent(*users.as_user()) as asker,
        asking(server, asker.pid, f"tunnel-{become}-{len(before)}") as asked,
        forwarder(server.port, before, become=become) as port,
    ):
        assert await send(answer_at(port, asked)) in TAKEN
        assert await asked.decision() == "allow"


async def test_a_person_answers_through_nginx(server: Server, tmp_path: Path):
    async with (
        agent(*users.as_user()) as asker,
        asking(server, asker.pid, "nginx") as asked,
        nginx(tmp_path / "nginx", server.url) as url,
    ):
        port = int(url.rpartition(":")[2])
        assert await send(answer_at(port, asked)) in TAKEN
        assert await asked.decision() == "allow"


@needs_users
async def test_an_agent_of_another_user_than_the_servers_is_known_too(tmp_path: Path):
    """A server that runs as root, and agents that do not."""
    async with (
        serving(tmp_path / "x.db") as server,
        agent(*users.as_user()) as attacker,
        asking(server, attacker.pid, "root") as asked,
    ):
        for form in FORMS:
            await attacker.send(yes(server, asked.path, how=form))
        assert await attacker.send(yes(server, asked.path)) == "403"
        assert await told(server, asked.path, 4) <= REFUSED
        assert await asked.status() == ("pending", None)
