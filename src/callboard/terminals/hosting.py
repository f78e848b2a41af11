"""Keeps an agent's terminal: shows it to a person who attaches, and does what programs ask.

One person at a time: an agent asks its terminal questions, which only one may answer, and has one
size. While no person is attached, we answer.
"""

import os
import select
import signal
import socket
import time
from collections import deque
from contextlib import suppress
from typing import Final

from callboard.events.json_values import Object
from callboard.terminals.agent_job import AgentJob
from callboard.terminals.callers import IsAgents
from callboard.terminals.frames import (
    INPUT,
    OUTPUT,
    WORDS,
    FrameReader,
    framed,
    told_in,
    worded,
)
from callboard.terminals.screen import LARGEST, TerminalScreen
from callboard.terminals.terminal_modes import TerminalOutput

ROWS, COLUMNS = 50, 160
"""The size of a terminal that no person has attached to yet."""
GRACE: Final = 5.0
"""Seconds for an agent to end when it was asked to."""
_PIECE: Final = 65_536
_MOST_TYPED: Final = 1_048_576
_MOST_UNSENT: Final = 1_048_576
_MOST_REPLIES: Final = 4 * _MOST_UNSENT
_MOST_CONNECTIONS: Final = 32
_LAST_WORDS: Final = 1.0


class _Connection:
    """One person or program. unsent: frames, of which the first may be sent in part."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.reader = FrameReader()
        self.unsent: deque[bytes] = deque()
        self.size = 0
        self.is_agents: bool | None = None
        self.is_stale = False
        """Whether output was dropped, because it was too slow: it needs to be drawn again."""

    def send(self, data: bytes) -> None:
        self.unsent.append(data)
        self.size += len(data)

    def drop_output(self) -> None:
        del_from = 1 if self.unsent else 0
        while len(self.unsent) > del_from:
            self.unsent.pop()
        self.size = sum(map(len, self.unsent))
        self.is_stale = True

    def flush(self) -> bool:
        """Send what it takes; returns whether it is still there."""
        try:
            while self.unsent:
                sent = self.socket.send(self.unsent[0])
                self.size -= sent
                if sent < len(self.unsent[0]):
                    self.unsent[0] = self.unsent[0][sent:]
                    return True
                self.unsent.popleft()
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True


class TerminalHost:
    """One agent in a terminal, from its start to its end.

    listener: where people and programs connect. wakes: becomes readable when a signal arrives.
    is_agents: recognizes connections from agents, which could answer their own dialogs here.
    """

    def __init__(
        self, job: AgentJob, listener: socket.socket, wakes: int, is_agents: IsAgents
    ) -> None:
        self._job = job
        self._listener = listener
        self._wakes = wakes
        self._is_agents = is_agents
        self._screen = TerminalScreen(ROWS, COLUMNS)
        self._modes = TerminalOutput()
        self._connections: dict[int, _Connection] = {}
        self._attached: _Connection | None = None
        self._typed = bytearray()
        self._serial = 0
        self._kill_at: float | None = None

    def run(self) -> int:
        """Keep it until the agent ends; returns its exit code, or a signal's negative number."""
        while self._job.status is None:
            self._turn()
            self._job.look()
        # What it started may have the terminal, too, and never stop printing.
        ends = time.monotonic() + _LAST_WORDS
        while (data := self._job.read()) and time.monotonic() < ends:
            self._show(data)
        code = os.waitstatus_to_exitcode(self._job.status)
        self._say_goodbye(code)
        return code

    def end(self) -> None:
        """Ask the agent to end. It is killed if it doesn't in time."""
        if self._kill_at is None:
            self._kill_at = time.monotonic() + GRACE
            self._job.send(signal.SIGTERM)

    # ------------------------------------------------------------------ one turn

    def _turn(self) -> None:
        known, terminal = self._connections, self._job.terminal
        reading = [self._listener.fileno(), self._wakes, terminal]
        if len(self._typed) < _MOST_TYPED:
            reading += known
        writing = [number for number, one in known.items() if one.unsent]
        if self._typed:
            writing.append(terminal)
        ready, free, _ = select.select(reading, writing, [], self._patience())
        self._pass_on(set(ready), set(free))
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            self._job.send(signal.SIGKILL, to_all=True)
            self._kill_at = None

    def _pass_on(self, ready: set[int], free: set[int]) -> None:
        if self._wakes in ready:
            os.read(self._wakes, _PIECE)
        if self._job.terminal in ready:
            self._listen()
        if self._job.terminal in free:
            del self._typed[: self._job.write(bytes(self._typed[:_PIECE]))]
        for number in (ready | free) & self._connections.keys():
            # One of them may have been closed for another one.
            if (one := self._connections.get(number)) is not None:
                self._attend(one, number in ready)
        if self._listener.fileno() in ready:
            self._accept()

    def _patience(self) -> float | None:
        """Seconds until something is due."""
        return None if self._kill_at is None else max(0.0, self._kill_at - time.monotonic())

    def _listen(self) -> None:
        data = self._job.read()
        if data:
            self._show(data)
            return
        # Nothing has the terminal open: it would be readable all the time until the agent ends.
        self._job.look()
        if self._job.status is None:
            time.sleep(0.05)

    def _show(self, data: bytes) -> None:
        self._serial += len(data)
        self._screen.feed(data)
        self._modes.feed(data)
        if self._attached is None:
            if len(self._typed) < _PIECE:  # An agent that asks may never read.
                self._typed += self._screen.replies.encode()
        elif not self._attached.is_stale:
            self._attached.send(framed(OUTPUT, data))
            if self._attached.size > _MOST_UNSENT:
                self._attached.drop_output()
        self._screen.replies = ""

    def _accept(self) -> None:
        with suppress(OSError):
            connected, _ = self._listener.accept()
            if len(self._connections) >= _MOST_CONNECTIONS:
                connected.close()
                return
            connected.setblocking(False)
            self._connections[connected.fileno()] = _Connection(connected)

    def _attend(self, one: _Connection, is_ready: bool) -> None:
        if is_ready and not self._hear(one):
            self._leave(one)
            return
        if not one.flush():
            self._leave(one)
        elif one.is_stale and not one.unsent:
            one.is_stale = False
            self._draw(one)

    def _leave(self, one: _Connection) -> None:
        self._connections.pop(one.socket.fileno(), None)
        one.socket.close()
        if self._attached is one:
            self._attached = None

    def _hear(self, one: _Connection) -> bool:
        """Take what it sent; returns whether it is still there."""
        try:
            data = one.socket.recv(_PIECE)
            frames = one.reader.feed(data)
        except BlockingIOError:
            return True
        except (OSError, ValueError):
            return False
        for kind, content in frames:
            if kind == INPUT and one is self._attached:
                self._typed += content
            elif kind == WORDS and not self._reply(one, told_in(content)):
                return False
        return bool(data)

    def _reply(self, one: _Connection, told: Object) -> bool:
        """Do what it asks; returns whether it reads the replies."""
        one.send(worded(self._do(one, told)))
        if one.size > _MOST_REPLIES:
            if one is not self._attached:
                return False
            one.drop_output()  # A person's screen may be as large.
        if one is self._attached and one.is_stale:
            one.is_stale = False
            self._draw(one)
        return True

    # ------------------------------------------------------------------ requests

    def _do(self, one: _Connection, told: Object) -> Object:
        what = told.get("do")
        if one.is_agents is None:
            one.is_agents = self._is_agents(one.socket)
        if one.is_agents:
            return {"error": "agent"}
        if what == "attach":
            return self._attach(one, told)
        if what == "resize" and one is self._attached:
            self._resize(told)
        elif what == "screen":
            return {
                "lines": self._screen.lines,
                "row": self._screen.cursor[0],
                "column": self._screen.cursor[1],
                "serial": self._serial,
                "attached": self._attached is not None,
            }
        elif what == "type":
            return self._type(told)
        elif what == "stop":
            self.end()
        else:
            return {"error": "unknown"}
        return {"ok": True}

    def _attach(self, one: _Connection, told: Object) -> Object:
        other = self._attached
        if other is not None and other is not one:
            if told.get("take") is not True:
                return {"error": "attached"}
            other.drop_output()
            other.send(worded({"taken": True}))
            other.flush()
            self._leave(other)
        self._attached = one
        self._resize(told)
        one.is_stale = True  # Drawn after the reply.
        return {"ok": True}

    def _draw(self, one: _Connection) -> None:
        drawing = self._screen.drawing() + self._modes.doing()
        for start in range(0, len(drawing), _PIECE):
            one.send(framed(OUTPUT, drawing[start : start + _PIECE]))
        one.flush()

    def _resize(self, told: Object) -> None:
        rows, columns = told.get("rows"), told.get("columns")
        if not (isinstance(rows, int) and isinstance(columns, int)):
            return
        size = max(2, min(rows, LARGEST)), max(2, min(columns, LARGEST))
        if size != self._screen.size:
            self._screen.resize(*size)
            self._job.resize(*size)

    def _type(self, told: Object) -> Object:
        text, serial = told.get("text"), told.get("serial")
        if not isinstance(text, str) or serial not in (None, self._serial):
            return {"ok": False}
        self._typed += text.encode("utf-8", "replace")
        return {"ok": True}

    def _say_goodbye(self, code: int) -> None:
        """Let those who are connected see the agent's last output, and how it ended."""
        ends = time.monotonic() + _LAST_WORDS
        waiting = list(self._connections.values())
        for one in waiting:
            one.send(worded({"ended": code}))
        while waiting and time.monotonic() < ends:
            waiting = [one for one in waiting if one.flush() and one.unsent]
            if waiting:
                select.select([], [one.socket for one in waiting], [], ends - time.monotonic())
        for one in self._connections.values():
            one.socket.close()
