"""What `callboard doctor` finds at the port: nobody, a server of ours, or a stranger."""

import http.client
import json
import os
import socket
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

from callboard.cli.findings import Finding
from callboard.client.access import find_token

_PATIENCE = 5.0
_OK = 200
_LISTENS = "0A"


def server(host: str, port: int, database: Path) -> Iterator[Finding]:
    """Whether the port is free, or who has it."""
    where = f"{host}:{port}"
    if not _answers(host, port):
        yield _free(host, port)
        return
    try:
        status, told = _get(host, port, "/health")
    except (OSError, http.client.HTTPException, ValueError):
        yield _stranger(where)
        return
    if status == _OK and told == {"status": "ok"}:
        yield Finding("server", "ok", f"a Callboard server answers at {where}")
        yield from _version(host, port, database)
    elif isinstance(told, dict) and "error" in told:
        said = f"a Callboard server at {where} cannot read its database"
        yield Finding("server", "fail", said, "Read its log, and see the other lines here.")
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
            todo = "Choose another with `callboard serve --port`, or another --host."
            said = f"{host}:{port} cannot be used: {error.strerror}"
            return Finding("port", "fail", said, todo)
    return Finding("port", "ok", f"{host}:{port} is free; no server runs there")


def _stranger(where: str) -> Finding:
    todo = "End that program, or choose another port: callboard serve --port"
    return Finding("port", "fail", f"another program answers at {where}", todo)


def _version(host: str, port: int, database: Path) -> Iterator[Finding]:
    """The server's version, when it is safe to ask: a token is for nobody but its server."""
    token = find_token(f"http://{_bracketed(host)}:{port}", database)
    if token is None or not _is_our_own(port):
        return
    try:
        status, told = _get(host, port, "/openapi.json", token)
    except (OSError, http.client.HTTPException, ValueError):
        return
    if status != _OK:
        said = "it does not take the token of this database"
        yield Finding("token", "warn", said, "Give its database with --db, or CALLBOARD_TOKEN.")
        return
    running, ours = _told_version(told), version("callboard")
    if running is None:
        yield _stranger(f"{host}:{port}")
    elif running == ours:
        yield Finding("server version", "ok", running)
    else:
        said = f"the server is {running}, this is {ours}"
        yield Finding("server version", "warn", said, "Restart the server.")


def _told_version(document: Any) -> str | None:
    try:
        return str(document["info"]["version"])
    except (KeyError, TypeError):
        return None


def _is_our_own(port: int) -> bool:
    """Whether this user, and no other, listens there. Only Linux tells."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, local, _, state, *rest = line.split()
            if state == _LISTENS and int(local.rpartition(":")[2], 16) == port:
                return int(rest[3]) == os.getuid()
    return False


def _get(host: str, port: int, path: str, token: str | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE)
    with closing(connection):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read(10_000_000))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
