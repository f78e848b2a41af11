"""The client's process: started, spoken to, heard, and really stopped."""

import asyncio
import json
import os
import signal
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Self

from callboard.agents.claude_code.messages import Message
from callboard.agents.claude_code.orphans import end_leftovers
from callboard.errors import AgentError, MissingExtra
from callboard.events.json_values import is_object
from callboard.waiting import wait_any

_LONGEST_LINE: Final = 256 * 1024 * 1024
_GRACE: Final = 3.0
"""Seconds that it has to leave by itself, and to write down where it was."""
_LEAVING: Final = 30.0
"""The same for one that is done, and silent."""


class ClaudeProcess:
    """One process of Claude Code, which leads a process group of its own."""

    def __init__(self, process: asyncio.subprocess.Process, complaints: IO[bytes]) -> None:
        self._process = process
        self._complaints = complaints
        self._patience: float | None = None

    @classmethod
    async def start(cls, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> Self:
        """Start it; MissingExtra when there is none."""
        complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=cwd,
                env=env,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=complaints,
                limit=_LONGEST_LINE,
                start_new_session=True,
            )
        except OSError as error:
            complaints.close()
            raise _not_started(command[0], cwd, error) from error
        return cls(process, complaints)

    async def send(self, message: Message) -> None:
        """Tell it something; what it no longer hears is dropped."""
        assert self._process.stdin is not None
        with suppress(ConnectionError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            await self._process.stdin.drain()

    def finish(self) -> None:
        """Say that nothing more will come: it does what it still has to do, and leaves."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._patience = _LEAVING

    async def messages(
        self, beside: Mapping[str, asyncio.Task[None]]
    ) -> AsyncGenerator[Message | None, None]:
        """What it tells, to its end; None whenever one of the tasks beside is done.

        One that has been told to finish and then says nothing for long has come to its end too.
        """
        assert self._process.stdout is not None
        reading = asyncio.ensure_future(self._process.stdout.readline())
        try:
            while True:
                await wait_any(reading, *beside.values(), timeout=self._patience)
                if not reading.done() and not any(task.done() for task in beside.values()):
                    return
                if any(task.done() for task in beside.values()):
                    yield None
                if reading.done():
                    line = reading.result()
                    if not line:
                        return
                    if (message := _message(line)) is not None:
                        yield message
                    reading = asyncio.ensure_future(self._process.stdout.readline())
        finally:
            reading.cancel()

    async def left(self) -> None:
        """Wait until it is gone: hooks of the person's own may run at the end, but not for ever."""
        await self._wait(_LEAVING)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process.wait()

    async def complaint(self) -> str:
        """The last that it wrote on standard error, and how it ended."""
        await self.left()
        self._complaints.seek(0)
        told = self._complaints.read().decode(errors="replace").strip()
        code = self._process.returncode
        ended = "it does not end" if code is None else f"exit code {code}"
        return ended + (f": {told[-2000:]}" if told else "")

    async def stop(self, run: str) -> None:
        """End it if it still runs, and all that it started unless it was done and left by itself.

        What runs on after a good end was meant to: the client ends its own background work.
        """
        left_by_itself = self._patience is not None and self._process.returncode == 0
        try:
            if self._process.returncode is None:
                await self._end()
        finally:
            # Also when the wait is cancelled. Its tools run in groups of their own.
            if not left_by_itself:
                end_leftovers(run)
            self._complaints.close()

    async def _end(self) -> None:
        self._signal(signal.SIGTERM)
        try:
            await self._wait(_GRACE)
        finally:
            if self._process.returncode is None:
                self._signal(signal.SIGKILL)
        await self._process.wait()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _message(line: bytes) -> Message | None:
    """A line as a message; anything else was not meant for us."""
    try:
        told = json.loads(line)
    except ValueError:
        return None
    return told if is_object(told) else None


def _not_started(program: str, cwd: Path, error: OSError) -> AgentError | MissingExtra:
    if not cwd.is_dir():
        return AgentError(f"Claude Code cannot work in {cwd}: there is no such folder.")
    if isinstance(error, FileNotFoundError):
        return MissingExtra(
            f"This needs Claude Code, and there is no {program!r}. "
            "Install it: npm install -g @anthropic-ai/claude-code",
            program=program,
        )
    return AgentError(f"{program} cannot be started: {error.strerror or error}")
