"""FastAPI and a transcript that is read as a whole, as boards of this kind do: every line is
parsed, and all messages are returned, or the last of them.
"""

import asyncio
import json
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

app = FastAPI()
path = Path(sys.argv[1])


@app.get("/conversation")
def conversation(last: int = 0) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    found = [
        {"id": one.get("uuid"), "role": one["type"], "content": one["message"].get("content")}
        for one in records
        if one.get("type") in ("user", "assistant")
    ]
    return found[-last:] if last else found


async def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        await asyncio.sleep(0.001)
    port = listening.getsockname()[1]
    print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)
    await serving


asyncio.run(main())
