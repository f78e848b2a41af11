"""Choice: FastAPI or Litestar, on uvicorn or granian (docs/decisions says what follows from it).

Each pair serves the same three things in a process of its own, as we would write them: a read that
answers with JSON which is already there as a dict, a command whose body is validated, and a stream
of events that 300 readers follow. Sixteen keep-alive connections send the requests. The figures are
the processor time that the server spends on each request and each frame delivered: a busy machine
changes them less than rates.
"""

import argparse
import asyncio
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from common import progress

CONTENT = {
    "sessions": [{"sessionId": f"s-{n}", "status": "running", "position": n} for n in range(20)]
}
BODY = json.dumps({"value": "yes", "approved": True, "by": "Ada"}).encode()
READERS, FRAMES = 300, 60


def fastapi_app() -> Any:
    import orjson
    from fastapi import FastAPI, Response
    from pydantic import BaseModel
    from starlette.responses import StreamingResponse

    class Answer(BaseModel):
        value: str
        approved: bool | None = None
        by: str | None = None

    app = FastAPI()

    @app.get("/read")
    async def read() -> Response:
        return Response(orjson.dumps(CONTENT), media_type="application/json")

    @app.post("/command")
    async def command(given: Answer) -> Response:
        return Response(orjson.dumps({"ok": given.approved}), media_type="application/json")

    @app.get("/stream")
    async def stream() -> StreamingResponse:
        return StreamingResponse(frames(), media_type="text/event-stream")

    return app


def litestar_app() -> Any:
    from litestar import Litestar, get, post
    from litestar.response import Stream
    from pydantic import BaseModel

    class Answer(BaseModel):
        value: str
        approved: bool | None = None
        by: str | None = None

    @get("/read")
    async def read() -> dict[str, Any]:
        return CONTENT

    @post("/command", status_code=200)
    async def command(data: Answer) -> dict[str, Any]:
        return {"ok": data.approved}

    @get("/stream")
    async def stream() -> Stream:
        return Stream(frames(), media_type="text/event-stream")

    return Litestar([read, command, stream])


async def frames() -> Any:
    data = b"id: 1\ndata: " + b"x" * 400 + b"\n\n"
    for _ in range(FRAMES):
        yield data
        await asyncio.sleep(0.05)


APPS = {"FastAPI": fastapi_app, "Litestar": litestar_app}


def serve(framework: str, server: str, port: int) -> None:
    if server == "uvicorn":
        import uvicorn

        uvicorn.run(APPS[framework](), port=port, log_level="critical", access_log=False)
    else:
        from granian import Granian

        target = f"frameworks:{framework.lower()}_app"
        Granian(target, port=port, interface="asgi", factory=True, log_enabled=False).serve()


async def requests(port: int, head: bytes, seconds: float) -> int:
    """How many requests were answered over sixteen connections."""
    done = 0
    end = time.perf_counter() + seconds

    async def lane() -> None:
        nonlocal done
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < end:
            writer.write(head)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert b" 200 " in answer.split(b"\r\n")[0], answer
            length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            done += 1
        writer.close()

    await asyncio.gather(*(lane() for _ in range(16)))
    return done


async def readers(port: int) -> None:
    async def read() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        while await reader.read(65536):
            pass
        writer.close()

    await asyncio.gather(*(read() for _ in range(READERS)))


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def processor_time(pid: int) -> float:
    """Seconds that a process and its children have used."""
    pids = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    ticks = 0
    for one in pids:
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(framework: str, server: str, seconds: float) -> dict[str, float]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve", framework, server, str(port)],
        cwd=Path(__file__).parent,
    )
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        read = b"GET /read HTTP/1.1\r\nHost: x\r\n\r\n"
        command = (
            b"POST /command HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
        )
        asyncio.run(requests(port, read, 0.5))

        def spent(work: Any, count: int | None = None) -> float:
            before = processor_time(process.pid)
            done = asyncio.run(work)
            return (processor_time(process.pid) - before) / (count or done) * 1e6

        return {
            "µs a read": spent(requests(port, read, seconds)),
            "µs a command": spent(requests(port, command, seconds)),
            "µs a frame": spent(readers(port), READERS * FRAMES),
        }
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", nargs=3, metavar=("FRAMEWORK", "SERVER", "PORT"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    if options.serve:
        framework, server, port = options.serve
        return serve(framework, server, int(port))
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    pairs = [(f, s) for f in APPS for s in ("uvicorn", "granian")]
    runs: dict[tuple[str, str], list[dict[str, float]]] = {pair: [] for pair in pairs}
    for number in range(options.rounds):
        for pair in pairs:
            runs[pair].append(measure(*pair, options.seconds))
            progress(f"  round {number + 1}  {' on '.join(pair)}: {runs[pair][-1]}")
    print("| | µs a read | µs a command | µs a frame |\n|---|---|---|---|")
    for pair, results in runs.items():
        figures = (statistics.median(r[name] for r in results) for name in results[0])
        print(f"| {' on '.join(pair)} | " + " | ".join(f"{one:,.0f}" for one in figures) + " |")
    return None


if __name__ == "__main__":
    main()
