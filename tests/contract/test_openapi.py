"""The OpenAPI document is complete, and Schemathesis finds nothing against it."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.servers import TOKEN, serving

FLOWS = Path(__file__).parent.parent / "server_flows.py"

ROUTES = {
    "GET /workflows",
    "POST /sessions",
    "GET /sessions",
    "GET /sessions/{session_id}",
    "DELETE /sessions/{session_id}",
    "GET /sessions/{session_id}/events",
    "GET /sessions/{session_id}/state",
    "POST /sessions/{session_id}/input",
    "POST /sessions/{session_id}/pause",
    "POST /sessions/{session_id}/resume",
    "POST /sessions/{session_id}/cancel",
    "POST /sessions/{session_id}/fork",
    "POST /sessions/{session_id}/retry",
    "GET /interactions",
    "GET /interactions/{interaction_id}",
    "POST /interactions",
    "POST /interactions/{interaction_id}/assign",
    "POST /interactions/{interaction_id}/claim",
    "POST /interactions/{interaction_id}/release",
    "POST /interactions/{interaction_id}/answer",
    "POST /interactions/{interaction_id}/complete",
    "POST /interactions/{interaction_id}/cancel",
    "GET /stream",
    "GET /health",
    "GET /metrics",
}


async def test_every_route_of_the_design_is_described(tmp_path: Path):
    async with serving(tmp_path / "x.db", FLOWS) as server, server.client() as http:
        document = (await http.get("/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    described = {
        f"{method.upper()} {path}"
        for path, operations in document["paths"].items()
        for method in operations
    }
    assert described >= ROUTES
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation.get("summary"), (method, path)
            assert operation.get("description") or path == "/health", (method, path)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("examples", [2, pytest.param(100, marks=pytest.mark.long)])
async def test_schemathesis_finds_nothing(tmp_path: Path, examples: int):
    limits = ["--wrong-tokens=1000000"]
    document = tmp_path / "openapi.json"
    async with serving(tmp_path / "x.db", FLOWS, options=limits) as server:
        async with server.client() as http:  # It would itself give up after ten seconds.
            document.write_bytes((await http.get("/openapi.json")).content)
        process = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).parent / "schemathesis"),
            "run",
            str(document),
            f"--url={server.url}",
            f"--header=Authorization: Bearer {TOKEN}",
            "--checks=all",
            # What a workflow takes as input, or a question as an answer, no schema can say.
            "--exclude-checks=positive_data_acceptance",
            "--phases=examples,coverage,fuzzing,stateful",
            f"--max-examples={examples}",
            "--seed=1",
            "--continue-on-failure",
            "--warnings=off",
            "--suppress-health-check=all",
            # A stream that never ends: the tests of streams read it.
            "--exclude-path=/stream",
            "--request-timeout=20",
            "--no-color",
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()[-20_000:]
