"""What processes import until they are ready. Thousands of them are started, so all of it counts.

Whoever adds an import that fails here can move it to where it is used. A module that a command or
every server needs may be removed from the list.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NOT_FOR_COMMANDS = {
    "callboard.client.client",
    "callboard.server",
    "fastapi",
    "http.client",
    "httpx",
    "importlib.metadata",  # It comes with the first model that pydantic builds.
    "jsonschema_rs",
    "prometheus_client",
    "psutil",
    "pydantic.root_model",
    "questionary",
    "rich.console",
    "starlette",
    "textual",
    "uvicorn",
    "yaml",
}
NOT_FOR_SERVERS = {
    "apprise",
    "callboard.cli.commands.open",
    "callboard.client.client",
    "callboard.server.openapi",
    "httpx",
    "jsonschema_rs",
    "mcp",
    "opentelemetry.sdk",
    "psutil",
    "pydantic.v1",
    "questionary",
    "rich.console",
    "textual",
    "webbrowser",
    "yaml",
}
LISTING = "from sys import modules; import atexit; atexit.register(lambda: print(*modules))"

FLOW = """
from callboard import Phase, State, Workflow, agent

@agent
async def work(state, ctx):
    return 1

flow = Workflow("flow", state=State, phases=[Phase("work", agent=work, terminal=True)])
"""


def environment(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "PATH": os.environ["PATH"]}


@pytest.mark.parametrize("command", ["sessions", "inbox", "plates", "stats"])
def test_a_command_that_reads_imports_little(command: str, tmp_path: Path):
    script = f"{LISTING}; from callboard.cli.main import run_command; run_command([{command!r}])"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=environment(tmp_path),
    )
    assert NOT_FOR_COMMANDS & set(done.stdout.splitlines()[-1].split()) == set()


def test_a_server_is_ready_without_what_only_some_requests_need(tmp_path: Path):
    (tmp_path / "flows.py").write_text(f"{LISTING}\n{FLOW}")
    process = subprocess.Popen(
        [sys.executable, "-m", "callboard", "serve", "flows.py", "--port=0", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(tmp_path),
    )
    assert process.stdout is not None
    with process:
        ready = json.loads(process.stdout.readline())
        process.terminate()
        modules = set(process.stdout.read().split())
    assert ready["url"]
    assert "callboard.server.wiring" in modules
    assert NOT_FOR_SERVERS & modules == set()
