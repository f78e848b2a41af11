"""`make run-cluster`: PostgreSQL, nginx, servers and workers, started by one command."""

import asyncio
import os
import re
import signal
import stat
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil
import pytest
from tests.contract.test_postgres_server import waits_until

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("fleet")]

ROOT = Path(__file__).parents[2]
GUARD = 150.0


@asynccontextmanager
async def started(folder: Path, **env: str) -> AsyncGenerator[Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, ROOT / "tools" / "cluster.py", folder),
        env={**os.environ, "CALLBOARD_NO_BROWSER": "1", "EXAMPLE_PAUSE": "0", **env},
        cwd=ROOT,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        await process.communicate()


async def said(process: Process, pattern: str) -> re.Match[str]:
    """Read what it prints, up to a line that has this."""
    assert process.stdout is not None
    lines: list[str] = []
    async with asyncio.timeout(GUARD):
        async for line in process.stdout:
            lines.append(line.decode())
            if found := re.search(pattern, lines[-1]):
                return found
    assert process.stderr is not None
    raise AssertionError("".join(lines) + (await process.stderr.read()).decode())


def family(process: Process) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def named(processes: list[psutil.Process], word: str) -> list[psutil.Process]:
    return [one for one in processes if word in one.cmdline()]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that PostgreSQL's user can enter, unlike `tmp_path` of root."""
    with TemporaryDirectory(prefix="callboard-test-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


async def test_a_session_through_the_cluster_which_then_stops_completely(open_folder: Path):
    folder = open_folder / "cluster"
    async with started(folder) as process:
        url = (await said(process, r"is at (http://127\.0\.0\.1:\d+)"))[1]
        await said(process, "Ctrl-C to stop")
        env = (folder / "env").read_text()
        token = env.partition("CALLBOARD_TOKEN=")[2].strip()
        assert f"CALLBOARD_SERVER={url}" in env
        for name in ("env", "secrets.json"):
            assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
        processes = family(process)
        assert (len(named(processes, "serve")), len(named(processes, "worker"))) == (3, 2)
        # Everyone can read command lines.
        hidden = (folder / "secrets.json").read_text().split('"')[3::4]
        lines = [" ".join(one.cmdline()) for one in processes]
        assert len(hidden) == 3
        assert not [line for line in lines for secret in hidden if secret in line]
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            asyncio.timeout(GUARD),
            httpx.AsyncClient(base_url=url, headers=headers, timeout=GUARD) as http,
        ):
            assert (await http.get("/sessions", headers={"Authorization": ""})).status_code == 401
            given = {"workflowId": "trip", "input": "Lisbon"}
            session = (await http.post("/sessions", json=given)).json()["sessionId"]
            (asked,) = (await waits_until(http, session, "waiting"))["pending"]
            # One worker dies, which is reported, and the other one continues.
            named(processes, "worker")[0].kill()
            assert (await said(process, r"(worker-\d) ended with exit code -9"))[1] == "worker-1"
            answered = await http.post(f"/interactions/{asked['id']}/answer", json={"value": "yes"})
            assert answered.status_code == 200
            await waits_until(http, session, "completed")
        process.send_signal(signal.SIGINT)
        await said(process, "Everything has stopped")
        assert await process.wait() == 0
        assert [one for one in processes if one.is_running() and one.status() != "zombie"] == []
        assert not (folder / "env").exists()
    # The next start continues with the same database.
    async with started(folder) as process:
        url = (await said(process, r"is at (http://127\.0\.0\.1:\d+)"))[1]
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=GUARD) as http:
            assert (await http.get(f"/sessions/{session}")).json()["status"] == "completed"


WITHOUT_PROGRAMS = """
import sys
from pathlib import Path
sys.path.insert(0, "tools")
import cluster
cluster.find_program = {}.get
sys.exit(cluster.main(Path(sys.argv[1])))
"""


async def test_missing_programs_are_named_with_the_command_that_installs_them(tmp_path: Path):
    command = (sys.executable, "-c", WITHOUT_PROGRAMS, tmp_path / "cluster")
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stderr=PIPE)
    _, told = await process.communicate()
    assert process.returncode == 1
    install = "sudo apt-get install nginx-light postgresql"
    assert told.decode() == f"Programs are missing. Install them: {install}\n"
    assert not (tmp_path / "cluster").exists()
