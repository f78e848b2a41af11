"""Servers for benchmarks: started in processes of their own, asked over HTTP, and weighed.

Only the standard library, as in `common`: our server and the peers' are treated alike.
"""

import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from common import HERE, QUIET

TOKEN = "cb_a-token-for-benchmarks"
FLOWS = HERE / "server_flows.py"
PATIENCE = 120.0


class Process:
    """A process whose first line of output is a JSON object; a server's has its `url`."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self.began = time.monotonic()
        self._log = log
        with log.open("ab") as errors:
            self._popen = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **QUIET, "CALLBOARD_TOKEN": TOKEN},
            )
        line = self._first_line()
        self.listening = time.monotonic()
        self.url: str = json.loads(line).get("url", "")  # workers have none

    def _first_line(self) -> bytes:
        assert self._popen.stdout is not None
        ready, _, _ = select.select([self._popen.stdout], [], [], PATIENCE)
        line = self._popen.stdout.readline() if ready else b""
        if not line:
            self._popen.kill()
            raise RuntimeError(f"the server did not start:\n{self._log.read_text()[-4000:]}")
        return line

    @property
    def pid(self) -> int:
        return self._popen.pid

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._popen.poll() is None:
            self._popen.send_signal(how)
        try:
            self._popen.wait(30)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        if self._popen.stdout is not None:
            self._popen.stdout.close()

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    def memory(self) -> int:
        """Bytes in memory that are its own (RSS, as the system counts it)."""
        return self._status("VmRSS") * 1024

    def highest(self) -> int:
        """The most that `memory` ever was."""
        return self._status("VmHWM") * 1024

    def share(self) -> int:
        """Bytes in memory, where those that several processes use count in part for each (PSS)."""
        lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024

    def threads(self) -> int:
        return self._status("Threads")

    def _status(self, key: str) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == key:
                return int(value.split()[0])
        raise KeyError(key)

    def busy(self) -> float:
        """Seconds of processor time that it has taken."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def waited(self) -> float:
        """Seconds for which its threads could have run, and had no processor."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[1]) for file in tasks) / 1e9

    def ran(self) -> dict[str, int]:
        """Nanoseconds that each of its threads has run: `busy` counts in hundredths of a second."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return {file.parent.name: int(file.read_text().split()[0]) for file in tasks}


def idle_shares(servers: Sequence[Process], seconds: float) -> list[float]:
    """Which share of a core each of them takes, all in the same time, while no one calls."""
    before = [server.ran() for server in servers]
    began = time.monotonic()
    time.sleep(seconds)  # an interval to count in, not something that is waited for
    took = time.monotonic() - began
    after = [server.ran() for server in servers]
    return [
        sum(ns - old.get(thread, 0) for thread, ns in new.items()) / 1e9 / took
        for old, new in zip(before, after, strict=True)
    ]


@contextmanager
def running(process: Process) -> Iterator[Process]:
    try:
        yield process
    finally:
        process.stop()


def serve(folder: Path, *options: str, flows: Path = FLOWS, db: str = "callboard.db") -> Process:
    """`callboard serve`, as anyone would start it."""
    command = [sys.executable, "-m", "callboard", "serve", str(flows)]
    where = [f"--db={folder / db}", "--port=0", "--json"]
    return Process([*command, *where, *options], folder / "server.log")


class Caller:
    """One connection that is kept, without delay: what a quick client does, and nothing more."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        assert place.hostname is not None
        self._connection = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}

    def __call__(self, method: str, path: str, body: object = None) -> Any:
        sent = None if body is None else json.dumps(body)
        self._connection.request(method, path, sent, self._headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:500]!r}")
        if "json" not in (answer.getheader("Content-Type") or ""):
            return text.decode()
        return json.loads(text)

    def stream(self, path: str) -> http.client.HTTPResponse:
        """A response without an end."""
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        if answer.status != 200:
            raise RuntimeError(f"GET {path}: {answer.status} {answer.read()[:500]!r}")
        return answer

    def close(self) -> None:
        self._connection.close()


def until(condition: Callable[[], bool], seconds: float = PATIENCE, every: float = 0.01) -> float:
    """Wait for something; returns when it was seen (monotonic)."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:g} s: {condition}")
        time.sleep(every)
    return time.monotonic()


def mb(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"
