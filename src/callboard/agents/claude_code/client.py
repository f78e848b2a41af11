"""The client's process: start it, exchange messages with it, and stop it reliably."""

import asyncio
import json
import os
import signal
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Self

from callboard.agents.claude_code.messages import Message
from callboard.agents.claude_code.orphans import end_leftovers, unmarked
from callboard.errors import AgentError, MissingExtra
from callboard.events.json_values import is_object
from callboard.waiting import wait_any

if TYPE_CHECKING:
    from callboard.systems.processes import Process

_LONGEST_LINE: Final = 256 * 1024 * 1024
_GRACE: Final = 3.0
"""Seconds the process gets to exit by itself and save its transcript."""
_LEAVING: Final = 30.0
"""The same, for a process that has finished and is silent."""


class ClaudeProcess:
    """One process of Claude Code, which leads a process group of its own."""

    def __init__(
        self, process: asyncio.subprocess.Process, complaints: IO[bytes], run: str
    ) -> None:
        self._process = process
        self._complaints = complaints
        self._run = run
        self._patience: float | None = None
        self._unmarked: Sequence[Process] = ()

    @classmethod
    async def start(
        cls, command: Sequence[str], cwd: Path, env: Mapping[str, str], run: str
    ) -> Self:
        """Start the process for a run; MissingExtra if the program isn't found."""
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
        except BaseException:
            # It was cancelled. asyncio ends the process, but not what that has started already.
            complaints.close()
            end_leftovers(run)
            raise
        return cls(process, complaints, run)

    async def send(self, message: Message) -> None:
        """Send a message; if the process no longer reads, the message is dropped."""
        assert self._process.stdin is not None
        with suppress(ConnectionError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            await self._process.stdin.drain()

    def finish(self) -> None:
        """Say that no more input will come: the process finishes its work and exits."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._patience = _LEAVING

    async def messages(
        self, beside: Mapping[str, asyncio.Task[None]]
    ) -> AsyncGenerator[Message | None, None]:
        """Its messages until it ends; None whenever one of the tasks in `beside` is done.

        A process that was told to finish and then stays silent for long counts as ended.
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
        """Wait for it to exit: the person's own hooks may run at the end, but not forever."""
        await self._wait(_LEAVING)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process.wait()

    async def complaint(self) -> str:
        """The end of its standard error, and its exit code."""
        await self.left()
        self._complaints.seek(0)
        told = self._complaints.read().decode(errors="replace").strip()
        code = self._process.returncode
        ended = "still running" if code is None else f"exit code {code}"
        return ended + (f": {told[-2000:]}" if told else "")

    async def stop(self) -> None:
        """Stop the process if it still runs, and everything it started unless it exited cleanly.

        What still runs after a clean exit was meant to: the client ends its own background work.
        """
        left_by_itself = self._patience is not None and self._process.returncode == 0
        try:
            if self._process.returncode is None:
                await self._end()
        finally:
            # Also if the wait is cancelled. The client's tools run in process groups of their own.
            if not left_by_itself:
                end_leftovers(self._run, self._unmarked)
            self._complaints.close()

    async def _end(self) -> None:
        self._unmarked = unmarked(self._run)
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
    """Parse a line as a message; None for anything else."""
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
            f"Claude Code is required, but {program!r} was not found. "
            "Install it: npm install -g @anthropic-ai/claude-code",
            program=program,
        )
    return AgentError(f"{program} cannot be started: {error.strerror or error}")
