"""The processes of `cluster.py`, what they say, and what they may know."""

import json
import os
import secrets
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

READY_WITHIN = 120.0
STOP_WITHIN = 30.0
"""Seconds. Workers and servers let running agents finish for 10 of them."""
TICK = 0.1
SHOWN_LINES = 15


class ClusterFailure(Exception):
    """What went wrong, and what to do about it."""


@dataclass(frozen=True)
class Secrets:
    """What only the owner of the cluster may know."""

    superuser: str = field(default_factory=lambda: secrets.token_hex(24))
    database: str = field(default_factory=lambda: secrets.token_hex(24))
    token: str = field(default_factory=lambda: f"cb_{secrets.token_urlsafe(32)}")

    @classmethod
    def of(cls, folder: Path) -> "Secrets":
        """Those of an earlier start, or new ones."""
        file = folder / "secrets.json"
        with suppress(FileNotFoundError):
            return cls(**json.loads(file.read_text()))
        made = cls()
        write_private(file, json.dumps(asdict(made)))
        return made


def write_private(file: Path, text: str) -> None:
    """Write a file that no one else can read, at any moment."""
    file.unlink(missing_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as opened:
        opened.write(text)


class Child:
    """One process, with a log. Ctrl-C reaches it only through us."""

    def __init__(self, name: str, command: Sequence[str], logs: Path, env: dict[str, str]) -> None:
        self.name = name
        self.log = logs / f"{name}.log"
        self._printed = logs / f"{name}.out"
        with self.log.open("wb") as errors, self._printed.open("wb") as printed:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=errors,
                env={**os.environ, **env},
                start_new_session=True,
            )

    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    def announced(self) -> bool:
        """Whether it has said that it is ready; raises an error if it has ended."""
        if self.exit_code() is not None:
            raise ClusterFailure(report(self.name, self.exit_code(), self.log))
        return b"\n" in self._printed.read_bytes()

    def said(self) -> dict[str, str]:
        """What it said when it was ready."""
        return json.loads(self._printed.read_bytes().partition(b"\n")[0])

    def stop(self) -> None:
        """Ask it to stop."""
        with suppress(ProcessLookupError):
            self._process.terminate()

    def wait(self) -> None:
        """Wait until it has ended; one that takes too long is killed."""
        try:
            self._process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()


def report(name: str, code: int | None, log: Path) -> str:
    """That a process has ended, with what it said last."""
    lines = log.read_text(errors="replace").splitlines()[-SHOWN_LINES:]
    shown = "".join(f"\n  {line}" for line in lines)
    return f"{name} ended with exit code {code}. The end of {log}:{shown or ' it is empty.'}"


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that has to come soon."""
    deadline = time.monotonic() + READY_WITHIN
    while not condition():
        if time.monotonic() > deadline:
            raise ClusterFailure(f"{what} was not ready within {READY_WITHIN:.0f} seconds.")
        time.sleep(TICK)
