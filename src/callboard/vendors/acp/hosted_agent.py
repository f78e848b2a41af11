"""The agent that a host process keeps: its process, its session, and what people ask for."""

import asyncio
import os
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp.exceptions import RequestError

from callboard.errors import ConflictError
from callboard.events.json_values import Object, as_list, as_text
from callboard.terminals.callers import agents_callers
from callboard.terminals.frames import WORDS, FrameReader, told_in, worded
from callboard.terminals.hosting import GRACE
from callboard.vendors.acp.opening import WITHIN, AgentOpening, Opened
from callboard.vendors.acp.pipe import AgentPipe
from callboard.vendors.acp.reporting import BoardReports
from callboard.vendors.acp.session import AgentSession, said_by
from callboard.waiting import wait_any

_WATCH: Final = 'read -r done && exit 0; sleep 2; kill -KILL -- "-$1"'
"""Kills the agent and its child processes if our end of a pipe is closed without a word."""
_LAST_WORDS: Final = 2_000
_SENT_WITHIN: Final = 30.0
_HUNG_UP: Final = "The agent closed its output, so nothing more can be heard of it."
_PIECE: Final = 65_536
_REFUSED: Final[Object] = {"error": "agent"}
"""For agents: what people want of an agent, another one must not pretend to want."""
_MOST_CONNECTIONS: Final = 32


class HostedAgent:
    """One agent, from its start to its end. given: what to start. listener: who wants something."""

    def __init__(self, given: Object, listener: socket.socket) -> None:
        self._words = [as_text(one) for one in as_list(given.get("words"))]
        self._folder = as_text(given.get("folder"))
        self._prompt = as_text(given.get("prompt"))
        self._resumed = as_text(given.get("session")) or None
        within = given.get("within")
        self._within = within if isinstance(within, float) else WITHIN
        self._listener = listener
        self._is_agents = agents_callers(Path(as_text(given.get("terminals"))))
        # Until it has a session, it is known by this.
        session = self._resumed or f"{as_text(given.get('id'))}-not-started"
        self._reports = BoardReports(as_text(given.get("hooks")), self._folder, session)
        self._last_words = b""
        self._stopping = asyncio.Event()
        self._connections = 0
        self._session: AgentSession | None = None

    async def run(self) -> None:
        """Keep it until it ends, and until everything about it has been reported."""
        reporting = asyncio.create_task(self._reports.run())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._stopping.set)
        server = await asyncio.start_unix_server(self._serve, sock=self._listener)
        try:
            await self._keep()
        finally:
            self._reports.end()
            await asyncio.wait({reporting}, timeout=_SENT_WITHIN)
            # Else the thread that waits for a server or for room would never let us end.
            self._reports.give_up()
            await reporting
            server.close()

    async def _keep(self) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            why = f"{self._words[0]} can't be started: {error.strerror or error}."
            self._reports.add("end", error=why, reason=why)
            return
        guard: subprocess.Popen[bytes] | None = None
        hearing = asyncio.create_task(self._hear(process))
        try:
            guard = _guard(process.pid)
            ended = await self._live(process)
        except OSError as error:
            ended = f"The agent had to be stopped: {error.strerror or error}."
        finally:
            _kill(process.pid, signal.SIGKILL)
            await process.wait()
            await asyncio.wait({hearing}, timeout=1)
            hearing.cancel()
            if guard is not None:
                with suppress(OSError, subprocess.SubprocessError):
                    await asyncio.to_thread(guard.communicate, b"done\n", 1)
        self._report_end(ended, process.returncode or 0)

    async def _live(self, process: asyncio.subprocess.Process) -> str | None:
        """Open its session and keep it; returns why it had to be given up, if it had."""
        assert process.stdin is not None
        assert process.stdout is not None
        tell = self._notice
        pipe = AgentPipe(process.stdout, process.stdin, self._reports.room, tell)
        session = AgentSession(pipe, self._reports)
        opening = AgentOpening(session.connection, os.environ, self._within)
        over = asyncio.create_task(process.wait())
        stopping = asyncio.create_task(self._stopping.wait())
        work = asyncio.create_task(opening.open(self._folder, self._resumed))
        await wait_any(over, stopping, work)
        failure: str | None = None
        if work.done() and isinstance(work.exception(), ConnectionError):
            # It has closed its output, most likely because it ends: how, says more.
            await wait_any(over, stopping, timeout=1)
        if work.done() and not over.done():
            failure = self._begin(session, work)
        if failure is None:
            failure = await self._until_over(pipe, over, stopping)
        work.cancel()
        session.close_questions()
        if not over.done():
            await session.connection.close()
            _kill(process.pid, signal.SIGTERM)
            await asyncio.wait({over}, timeout=GRACE)
        else:
            # What it said last may still be on its way.
            await asyncio.sleep(0.2)
            await session.connection.close()
        return failure

    async def _until_over(
        self, pipe: AgentPipe, over: "asyncio.Task[int]", stopping: "asyncio.Task[bool]"
    ) -> str | None:
        """Wait until it ends or is to end; returns why it is given up, if it hangs up instead."""
        await wait_any(over, stopping, pipe.ended.wait())
        # If it hung up, it may still end.
        await wait_any(over, stopping, timeout=GRACE)
        return None if over.done() or stopping.done() else _HUNG_UP

    def _begin(self, session: AgentSession, work: asyncio.Task[Opened]) -> str | None:
        """Start with the first prompt; returns why there is no session, if there is none."""
        error = work.exception()
        if error is None:
            session.begin(work.result())
            self._session = session
            if self._prompt:
                session.say("start", self._prompt)
            return None
        if isinstance(error, RequestError):
            return f"The agent refused to start a session: {said_by(error)}"
        if isinstance(error, ConflictError):
            return error.message
        return f"The agent could not be started: {error}"

    def _report_end(self, failure: str | None, code: int) -> None:
        last = self._last_words.decode("utf-8", "replace").strip()
        if failure is not None:
            told = f"{failure}\n{last}" if last else failure
            self._reports.add("end", error=told, reason=failure)
        elif self._stopping.is_set() or code == 0:
            self._reports.add("end", reason="stopped" if self._stopping.is_set() else "exited")
        else:
            how = f"exit code {code}" if code > 0 else f"signal {-code}"
            why = f"The agent ended with {how}."
            self._reports.add("end", error=f"{why}\n{last}" if last else why, reason=why)

    def _notice(self, text: str) -> None:
        self._reports.add("notice", text=text)

    async def _hear(self, process: asyncio.subprocess.Process) -> None:
        """Keep the end of what it prints as errors, in case it is the reason for its own."""
        assert process.stderr is not None
        while piece := await process.stderr.read(_PIECE):
            self._last_words = (self._last_words + piece)[-_LAST_WORDS:]

    # ------------------------------------------------------------------ requests

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        frames = FrameReader()
        connected: socket.socket = writer.get_extra_info("socket")
        is_agents = await asyncio.to_thread(self._is_agents, connected)
        try:
            while self._connections <= _MOST_CONNECTIONS and (data := await reader.read(_PIECE)):
                for kind, content in frames.feed(data):
                    if kind == WORDS:
                        told = _REFUSED if is_agents else await self._do(told_in(content))
                        writer.write(worded(told))
                        await writer.drain()
        except (OSError, ValueError):
            pass
        finally:
            self._connections -= 1
            writer.close()

    async def _do(self, told: Object) -> Object:
        session = self._session
        match told.get("do"):
            case "stop":
                self._stopping.set()
                return {"ok": True}
            case "reach":
                is_open = session is not None
                return {"open": is_open, "takes": is_open and session.takes_prompts}
            case "say" if session is not None:
                return {"ok": session.say(as_text(told.get("id")), as_text(told.get("text")))}
            case "look" if session is not None:
                known = session.messages.get(as_text(told.get("id")))
                return {} if known is None else {"status": known.status, "at": known.at_ms}
            case "interrupt" if session is not None:
                return {"told": await session.interrupt()}
            case _:
                return {"error": "unknown"}


def _guard(group: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        ["/bin/sh", "-c", _WATCH, "sh", str(group)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


def _kill(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
