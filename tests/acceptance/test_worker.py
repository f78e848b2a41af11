"""`callboard worker`, and servers that leave sessions to workers."""

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import NamedTuple

import pytest
from tests import server_flows
from tests.acceptance.cli_process import CallboardCommand
from tests.contract.test_postgres_server import waits_until
from tests.servers import serving
from tools.postgres_server import free_port
from tools.temporal_server import running_temporal

from callboard import Callboard
from callboard.cli.workflow_files import load

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize("driver", ["procrastinate", "temporal", "temporal-standalone"])
def test_what_an_engine_needs(callboard: CallboardCommand, driver: str):
    for command in ("worker", "serve"):
        said = callboard.here(command, "flows.py", "--driver", driver, code=2).err
        assert f"The driver {driver} needs a database in PostgreSQL" in said
        assert "--driver local" in said
    assert not (callboard.folder / "t.db").exists()
    assert "Missing argument" in callboard.here("worker", code=2).err
    assert (
        "'none' is not one of"
        in callboard.here("worker", "flows.py", "--driver", "none", code=2).err
    )


def test_an_engine_that_is_not_there(callboard: CallboardCommand, postgres_url: str):
    env = {"TEMPORAL_ADDRESS": f"127.0.0.1:{free_port()}", "CALLBOARD_DB": postgres_url}
    worker = callboard.start("worker", "flows.py", "--driver", "temporal", **env)
    _, said = worker.communicate(timeout=90)
    assert worker.returncode == 1
    assert "Start it, or set TEMPORAL_ADDRESS to its address" in said
    assert "Traceback" not in said


async def test_a_worker_without_an_engine_drives_what_is_in_a_file(callboard: CallboardCommand):
    """It says what it does, and SIGTERM ends it."""
    flow = load(f"{callboard.flows}:trip").workflow
    async with Callboard.open(callboard.folder / "t.db", [flow]) as board:
        session = await board.start("trip", "Rome")
        worker = callboard.start("worker", "flows.py", "--driver", "local")
        try:
            assert read_line(worker) == "Worker for t.db"
            assert read_line(worker).startswith("Workflows: block, both, broken, hog, nap, ")
            async with asyncio.timeout(90):
                while (await board.session(session)).status != "waiting":
                    await asyncio.sleep(0.02)
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(90) == 0
        finally:
            worker.kill()
            worker.communicate()


class Engine(NamedTuple):
    """A driver's options, for a worker only if they are not its defaults, and its settings."""

    options: list[str]
    of_worker: list[str]
    settings: dict[str, str]


def read_line(worker: "Popen[str]") -> str:
    assert worker.stdout is not None
    return worker.stdout.readline().rstrip()


@pytest.fixture(
    params=[
        "procrastinate",
        "temporal",
        pytest.param("temporal-standalone", marks=pytest.mark.long),
    ]
)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    options = ["--driver", request.param]
    if request.param == "procrastinate":
        yield Engine(options, [], {})
        return
    with running_temporal(tmp_path) as temporal:
        yield Engine(options, options, {"TEMPORAL_ADDRESS": temporal.address})


async def test_a_server_leaves_sessions_to_workers(
    callboard: CallboardCommand, postgres_url: str, tmp_path: Path, engine: Engine
):
    env = {"XDG_DATA_HOME": str(tmp_path), **engine.settings}
    options = [*engine.options, f"--db={postgres_url}"]
    async with serving(
        tmp_path / "not.db", server_flows.__file__, options=options, env=env
    ) as server:
        async with server.client() as http:
            given = {"workflowId": "trip", "input": "Rome"}
            session = (await http.post("/sessions", json=given)).json()["sessionId"]
            assert (await http.get(f"/sessions/{session}")).json()["status"] == "pending"
            worker = callboard.start(
                *("worker", server_flows.__file__, "--json", *engine.of_worker),
                CALLBOARD_DB=postgres_url,
                **engine.settings,
            )
            try:
                (asked,) = (await waits_until(http, session, "waiting"))["pending"]
                await http.post(f"/interactions/{asked['id']}/answer", json={"value": "yes"})
                await waits_until(http, session, "completed")
                worker.send_signal(signal.SIGTERM)
                assert worker.wait(90) == 0
            finally:
                worker.kill()
                _, logged = worker.communicate()
        assert not [line for line in [*server.log, logged] if "Traceback" in line]
