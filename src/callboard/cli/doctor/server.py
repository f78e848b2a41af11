"""What `callboard doctor` finds at the port: nothing, our server, or another program."""

import http.client
import json
import os
import socket
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from callboard.cli.doctor.findings import Finding
from callboard.client.access import find_token
from callboard.events.json_values import as_object
from callboard.systems.current import system

_PATIENCE = 5.0
_OK = 200
_FORBIDDEN = 403


def server(host: str, port: int, database: Path) -> Iterator[Finding]:
    """Whether the port is free, or who uses it."""
    where = f"{host}:{port}"
    if not _answers(host, port):
        yield _free(host, port)
        return
    try:
        status, told = get(host, port, "/health")
    except (OSError, http.client.HTTPException, ValueError):
        yield _stranger(where)
        return
    if status == _OK and told == {"status": "ok"}:
        yield Finding("server", "ok", f"a Callboard server is running at {where}")
        yield from _version(host, port, database)
    elif isinstance(told, dict) and "error" in told:
        said = f"a Callboard server at {where} cannot read its database"
        yield Finding("server", "fail", said, "Check its log and the other findings here.")
    else:
        yield _stranger(where)


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=_PATIENCE).close()
    except OSError:
        return False
    return True


def _free(host: str, port: int) -> Finding:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            todo = (
                "Choose another port: callboard serve --port 0 (any free one), or another --host."
            )
            said = f"{host}:{port} cannot be used: {error.strerror}"
            return Finding("port", "fail", said, todo)
    return Finding("port", "ok", f"{host}:{port} is free; no server is running there")


def _stranger(where: str) -> Finding:
    todo = "Stop that program, or choose another port: callboard serve --port 0 (any free one)"
    return Finding("port", "fail", f"another program is using {where}", todo)


def _version(host: str, port: int, database: Path) -> Iterator[Finding]:
    """The server's version, if it is safe to ask: a token is only for its own server."""
    token = find_token(f"http://{_bracketed(host)}:{port}", database)
    listening = system.listener_of(port)
    if token is None or listening is None or listening != os.getuid():
        return
    try:
        status, told = get(host, port, "/server", token)
    except (OSError, http.client.HTTPException, ValueError) as error:
        yield Finding("server version", "warn", f"it could not be read: {error}", "Check its log.")
        return
    if status == _FORBIDDEN:
        return  # Such as a token that may only read, which is fine.
    if status != _OK:
        said = "it does not accept this database's token"
        yield Finding("token", "warn", said, "Pass its database with --db, or set CALLBOARD_TOKEN.")
        return
    running = as_object(told).get("version")
    ours = version("callboard")
    if running is None:
        yield _stranger(f"{host}:{port}")
    elif running == ours:
        yield Finding("server version", "ok", ours)
    else:
        said = f"the server is {running}, this is {ours}"
        yield Finding("server version", "warn", said, "Restart the server.")


def get(host: str, port: int, path: str, token: str | None = None) -> tuple[int, object]:
    """The status and JSON of a server's response."""
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE)
    with closing(connection):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read(10_000_000))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
