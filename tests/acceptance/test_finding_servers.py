"""Every command finds the running server by the same rule."""

import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from tests.acceptance.cli_process import CallboardCommand


class Servers:
    """Starts servers, and calls commands that have no database in their environment."""

    def __init__(self, folder: Path) -> None:
        self.call = CallboardCommand(folder)
        del self.call.env["CALLBOARD_DB"]
        self.call.env |= {"BROWSER": "true %s", "XDG_CACHE_HOME": str(folder / "cache")}
        self.running: list[subprocess.Popen[str]] = []

    def serve(self, *words: str) -> str:
        process = self.call.start("serve", *words, "--port", "0", "--json")
        self.running.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()
        return orjson.loads(line)["url"]

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        while self.running:
            process = self.running.pop()
            process.send_signal(how)
            process.communicate(timeout=120)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    found = Servers(tmp_path)
    yield found
    found.stop()


def port_of(url: str) -> str:
    return url.rpartition(":")[2]


def test_a_typed_database_leads_to_its_server(servers: Servers):
    url = servers.serve("flows.py", "--db", "x.db")
    servers.serve("--db", "y.db")
    opened = servers.call("open", "--db", "x.db")
    assert f":{port_of(url)}/app/" in opened.out
    assert opened.err == ""
    assert f":{port_of(url)}/app/" in servers.call("--db", "x.db", "open").out


def test_a_typed_address_gets_the_token_of_that_server(servers: Servers):
    url = servers.serve("flows.py", "--db", "x.db")
    assert servers.call.here("sessions", "--server", url).err == ""
    assert f":{port_of(url)}/app/" in servers.call("open", "--server", url).out


def test_the_environment_is_next(servers: Servers):
    url, other = servers.serve("--db", "x.db"), servers.serve("--db", "y.db")
    assert port_of(url) in servers.call("open", CALLBOARD_DB="x.db").out
    assert port_of(other) in servers.call("open", CALLBOARD_SERVER=other).out
    typed = servers.call("open", "--db", "x.db", CALLBOARD_SERVER=other)
    assert port_of(url) in typed.out


def test_the_only_server_is_found_and_named(servers: Servers):
    url = servers.serve("flows.py", "--db", "x.db")
    path = servers.call.folder / "x.db"
    note = f"Using the server at {url} (database {path}).\n"
    opened = servers.call("open")
    assert port_of(url) in opened.out
    assert opened.err == note
    ran = servers.call.here("run", "flows.py:trip", "--input", "Rome", code=3)
    assert ran.err == note
    session = re.search(r"session (\w+)", ran.out)
    assert session is not None
    assert session[1] in servers.call.here("sessions", "--db", "x.db").out
    for words in (["inbox"], ["plates"], ["sessions"], ["why", session[1]], ["token", "list"]):
        assert servers.call.here(*words).err == note, words
    assert servers.call.here("sessions", "--json").err == ""


def test_of_several_servers_none_is_guessed(servers: Servers):
    servers.serve("--db", "x.db")
    servers.serve("--db", "y.db")
    refused = servers.call("open", code=1).err
    assert "Several servers are running" in refused
    assert "No server is running on " in refused
    servers.serve()
    assert servers.call("open").err == ""


def test_a_killed_server_does_not_count(servers: Servers):
    servers.serve("--db", "x.db")
    servers.stop(signal.SIGKILL)
    refused = servers.call("open", "--db", "x.db", code=1).err
    assert "Start one: callboard serve --db x.db" in refused
    assert servers.call.here("sessions").err == ""


def test_a_workflow_given_by_its_name_runs_on_the_server_that_has_it(servers: Servers):
    url = servers.serve("flows.py", "--db", "x.db")
    ran = servers.call.here("run", "trip", "--input", "Rome", "--db", "x.db", code=3)
    assert f"--server {url}" in ran.out
    refused = servers.call.here("run", "nothing", code=2).err
    assert "There is no file nothing, and the server has no such workflow (it has: " in refused
    assert "trip" in refused


def test_a_port_that_our_own_server_has_is_explained(servers: Servers):
    url = servers.serve("--db", "x.db")
    path = servers.call.folder / "x.db"
    words = ("serve", "flows.py", "--port", port_of(url), "--db", "y.db")
    refused = servers.call(*words, code=2).err
    assert refused == (
        f"error: A Callboard server is already running at {url}, on the database {path}. "
        f"Open it: callboard open --db {path}  "
        "Or start this one on another port: callboard serve flows.py --port 0 --db y.db\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = servers.call("serve", "--port", port, "--db", "y.db", code=2).err
    assert f"Cannot listen at 127.0.0.1:{port}: " in refused


def test_the_doctor_looks_at_the_server_that_is_running(servers: Servers):
    url = servers.serve("--db", "x.db")
    where = url.removeprefix("http://")
    assert f"a Callboard server is running at {where}" in servers.call.here("doctor").out
    free = servers.call.here("doctor", "--port", "1").out
    assert "127.0.0.1:1" in free


def test_open_and_run_take_a_database_or_a_server(servers: Servers):
    for command in ("open", "board", "run flows.py", "inbox"):
        words = [*command.split(), "--db", "x.db", "--server", "http://127.0.0.1:1"]
        assert "Give --db or --server, not both" in servers.call.here(*words, code=2).err


def test_what_listens_at_the_usual_port_gets_no_token(servers: Servers):
    """A token of the default database exists, and someone else has the address of its server."""
    servers.serve()
    servers.stop()
    with _Eavesdropper() as heard:
        told = servers.call.folder / "share" / "callboard" / "callboard.db.hooks" / "connection"
        told.write_text(f"127.0.0.1:{heard.port}\n{told.read_text().split()[1]}\n")
        assert "No server is running" in servers.call("open", code=1).err
    assert heard.requests
    assert not [one for one in heard.requests if b"authorization" in one.lower()]


class _Eavesdropper:
    """Answers every request like a healthy server, and remembers it."""

    def __init__(self) -> None:
        import socket
        from threading import Thread

        self.requests: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._thread = Thread(target=self._listen)

    def __enter__(self) -> "_Eavesdropper":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        import socket

        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self.requests.append(connection.recv(65_536))
                connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"status":"ok"}')
