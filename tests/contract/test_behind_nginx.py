"""Behind nginx events come as they happen, not when the session ends."""

import asyncio
import shutil
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from tests.servers import TOKEN, serving

FLOWS = Path(__file__).parent.parent / "server_flows.py"
PATIENCE = 20

CONFIG = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass {upstream};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
    }}
  }}
}}
"""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@asynccontextmanager
async def nginx(folder: Path, upstream: str) -> AsyncGenerator[str]:
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    assert program, "nginx is missing; install it with: sudo apt-get install nginx-light"
    folder.mkdir()
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, port=port, upstream=upstream))
    process = await asyncio.create_subprocess_exec(
        program, "-p", folder, "-c", config, "-e", folder / "error.log"
    )
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    assert process.returncode is None, (folder / "error.log").read_text()
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    break
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


async def test_events_come_through_as_they_happen(tmp_path: Path):
    async with (
        serving(tmp_path / "x.db", FLOWS) as server,
        nginx(tmp_path / "nginx", server.url) as url,
        httpx.AsyncClient(
            base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE
        ) as http,
    ):
        body = {"workflowId": "trip", "input": "Lisbon"}
        session = (await http.post("/sessions", json=body)).json()["sessionId"]
        names: list[str] = []
        path, accept = f"/sessions/{session}/events", {"Accept": "text/event-stream"}
        async with asyncio.timeout(PATIENCE), http.stream("GET", path, headers=accept) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data: "):
                    names.append(httpx.Response(200, text=line[6:]).json()["name"])
                    if names[-1] == "input:requested":
                        # Only who has seen the question by now can answer it.
                        await http.post(f"/sessions/{session}/input", json={"input": "yes"})
        assert names[-1] == "workflow:completed"
