"""A hook that waits for a decision, across server restarts, as long as its agent lives."""

import signal
import time

from callboard.courier.delivery import deliver, drop, hand_over, print_decision
from callboard.courier.letters import Letter, read_payload
from callboard.courier.processes import Process
from callboard.courier.wire import LOOK_EVERY, Refused, Timeouts, ask, read_connection
from callboard.disk.files import posix

FAREWELL_WITHIN = 0.12
"""Seconds to tell the server that no one waits anymore, before using the spool."""
TELL_AFTER = 3.0
"""Seconds without a server after which the question is spooled.

A server that we can't find may read it and at least show people that the agent waits for them.
"""
NO_SERVER_FOR = 600.0
"""Seconds without a server after which to give up.

Otherwise, an agent whose dialogs are answered in its terminal would pile up waiting clients.
"""
RESTARTS_WITHIN = 10.0
"""The same for agents that show their own dialog only after this process has ended."""

SUBAGENT_WAITS = 60.0
"""Seconds for an answer to a subagent: its agent shows no dialog before this process has ended."""

_SUBAGENT_WAITS = b"CALLBOARD_SUBAGENT_WAIT"
"""The variable with another number of seconds; 0 leaves subagents' questions to the terminal."""
_LONGEST_WAIT = 86_400.0
_ASKS_MEANWHILE = "claude"
"""The agent whose own dialog stays usable while we wait."""
_SOONEST, _LATEST = 0.2, 2.0
_LONGEST_SEND = 10.0
_LEAVE = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_NEVER_TAKEN = frozenset({400, 404, 405, 410, 413, 415, 422, 501})
"""How a server of another version responds to requests that it doesn't know."""


class _Left(BaseException):
    """No one needs the decision anymore."""


class _AsLongAsNeeded(Timeouts):
    """Waits for some time, or without a limit, but no longer than the agent lives."""

    def __init__(self, agent: Process, seconds: float | None = None) -> None:
        super().__init__(_LONGEST_SEND)
        self._agent = agent
        self._until = None if seconds is None else time.monotonic() + seconds
        self._parent = posix.getppid()
        self._look_at = 0.0

    def left(self) -> float:
        now = time.monotonic()
        if self._until is not None and now >= self._until:
            raise _Left
        if now >= self._look_at:
            self._look_at = now + LOOK_EVERY / 2
            if posix.getppid() != self._parent or not self._agent.lives:
                raise _Left
        return _LONGEST_SEND if self._until is None else min(_LONGEST_SEND, self._until - now)


def hold_errand(folder: str, agent: str, payload: bytes | None = None) -> None:
    """Wait for the decision on a payload, by default from standard input, and print it."""
    letter = None
    hold = posix.urandom(12).hex()
    try:
        for number in _LEAVE:
            signal.signal(number, _leave)
        letter = Letter(folder, agent, read_payload() if payload is None else payload)
        print_decision(wait(letter, hold))
    except _Left:
        if letter is not None and letter.is_object:
            hand_over(letter, letter.body(hold, gone=True), FAREWELL_WITHIN)


def wait(letter: Letter, hold: str) -> bytes:
    """The decision, once there is one; empty if there is nothing to wait for."""
    is_known = read_connection(letter.folder) is not None
    patience = _patience(letter, is_known)
    if not patience:
        deliver(letter)
        return b""
    body = letter.body(hold)
    needed = _AsLongAsNeeded(letter.sender, _subagent_waits() if letter.is_subagents else None)
    pause, alone_since, is_told = _SOONEST, time.monotonic(), False
    tell_after = TELL_AFTER if is_known else 0.0
    while time.monotonic() - alone_since < patience:
        began = time.monotonic()
        if began - alone_since >= tell_after and not is_told:
            # As it is sent, so that the board knows that both are the same request.
            is_told = True
            drop(letter, body)
        try:
            return _ask(letter, body, needed)
        except Refused as refused:
            if refused.status in _NEVER_TAKEN:
                break
        except (OSError, ValueError):
            pass
        if time.monotonic() - began > _LATEST:  # A server held it, so it knows it.
            pause, alone_since, is_told = _SOONEST, time.monotonic(), True
        _sleep(pause, needed)
        pause = min(_LATEST, pause * 1.5)
    drop(letter, letter.body(hold, gone=True))
    return b""


def _patience(letter: Letter, is_known: bool) -> float:
    """How many seconds to wait without a server; 0 if no one could answer.

    is_known: whether a server has run here before.
    """
    if not letter.is_object or not _is_attended():
        return 0.0
    if letter.is_subagents and not _subagent_waits():
        return 0.0
    if letter.agent == _ASKS_MEANWHILE and not letter.is_subagents:
        return NO_SERVER_FOR
    return RESTARTS_WITHIN if is_known else 0.0


def _is_attended() -> bool:
    """Whether a person is using the agent interactively.

    Otherwise there is no dialog in the terminal, and the agent would wait only for us.
    """
    return posix.environ.get(b"CLAUDE_CODE_SESSION_ATTENDED") != b"0"


def _subagent_waits() -> float:
    """How many seconds to wait for the answer to a subagent."""
    told = posix.environ.get(_SUBAGENT_WAITS, b"")
    return min(float(told), _LONGEST_WAIT) if told.isdigit() else SUBAGENT_WAITS


def _ask(letter: Letter, body: bytes, needed: Timeouts) -> bytes:
    # Read it each time: the next server may have another address.
    server = read_connection(letter.folder)
    if server is None:
        raise ValueError("no server")
    return ask(server, f"/hooks/{letter.agent}", body, needed)


def _sleep(seconds: float, needed: Timeouts) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        needed.left()
        time.sleep(min(left, LOOK_EVERY))


def _leave(number: int, frame: object) -> None:
    """Handle only the first signal: the cleanup that it starts must not be interrupted."""
    for other in _LEAVE:
        signal.signal(other, signal.SIG_IGN)
    raise _Left
