"""Accepts hooks on this machine as a server does, from its own user only, and nothing else."""

import asyncio
import hmac
import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from callboard.board.spool.files import Spool
from callboard.courier.delivery import is_agent
from callboard.courier.letters import LARGEST
from callboard.errors import StoreError
from callboard.events.json_values import Object, as_object, as_text, as_whole
from callboard.relay.batches import GONE, HOOK, RECEIPT, REGISTERED, SIGHTING
from callboard.relay.outbox import HookOrigin, Outbox
from callboard.relay.processes import StartedAgents
from callboard.systems.current import system
from callboard.systems.processes import started_at
from callboard.systems.sockets import Ends

_log = logging.getLogger(__name__)

COMES_BACK_WITHIN: Final = 0.5
"""Seconds after which a hook that lost its connection counts as gone."""
_HEAD_WITHIN: Final = 10.0
_BODY_WITHIN: Final = 60.0
_LONGEST_HEAD: Final = 65_536
_MOST_READ: Final = 256 * 1_048_576
_MOST_AT_ONCE: Final = 256
_MOST_DECIDED: Final = 1000
_PART: Final = 65_536
_TAIL: Final = 4096
_AT_ONCE: Final = 20
_PREFIX: Final = "/hooks/"
STATE: Final = "/relay/state"
"""Where `callboard doctor` asks how the relay is."""
REGISTER: Final = "/plates/register"
_CLIENTS: Final = (REGISTER, "/plates/stopped")
_ABOUT_CLIENT: Final = ("agent", "pid", "proc_start", "project_path", "session_id")
_MEMBER: Final = b'"callboard":{'


HeardHook = Callable[[str, bytes, int | None], None]


def _ignored(agent: str, body: bytes, at_ms: int | None) -> None:
    """Do nothing with a hook."""


class _Refusal(Exception):
    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


class RelayHooks:
    """Hooks of this machine: those that are delivered, those in the spool, and those that wait.

    token: what hooks show, from the connection file. before: called before a hook is taken, so
    that what happened earlier is in the outbox first. state: what the relay says about itself.
    heard: called with the agent, the payload and the time of each hook, once it is kept.
    """

    def __init__(
        self,
        outbox: Outbox,
        spool: Spool,
        token: str,
        before: Callable[[], None],
        state: Callable[[], Object] = dict,
        heard: HeardHook = _ignored,
    ) -> None:
        self._heard = heard
        self._outbox = outbox
        self._spool = spool
        self._token = token.encode()
        self._before = before
        self._state = state
        self._boot_id = system.boot_id()
        self._started = StartedAgents(outbox, self._boot_id)
        self._held: dict[str, asyncio.Future[Object]] = {}
        self._decided: dict[str, tuple[Object, bool]] = {}
        self._open = 0
        self._leaving: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._room = (True, True)
        self._loses = False

    @property
    def holds(self) -> list[str]:
        """The questions whose hooks wait here."""
        return list(self._held)

    async def take_all_spooled(self) -> None:
        """Move what hooks left in the spool to the outbox, as far as it has room."""
        while True:
            if self._take_spooled():
                return
            await asyncio.sleep(0)

    def tell_room(self) -> None:
        """Log when there is no room for more reports, and when there is again."""
        if self._outbox.is_full:
            self._spool.weigh()
        room = (not self._outbox.is_full, not self._spool.is_full)
        if room == self._room:
            return
        self._room = room
        if not room[1]:
            self._loses = True
            _log.error("No room for more reports. Hooks are lost until the server can be reached.")
        elif not room[0]:
            _log.warning("%d reports wait. More of them stay in the spool.", len(self._outbox))
        elif self._loses:
            self._loses = False
            _log.error("There is room for reports again. Some hooks were lost.")
        else:
            _log.info("There is room for reports again.")

    def _take_spooled(self) -> bool:
        """Move some of it; returns whether that was everything."""
        if not self._spool.has_some:
            return True
        taken = [] if self._outbox.is_full else self._spool.take(_AT_ONCE)
        for number, one in enumerate(taken):
            pid = one.hook.pid
            start = None if pid is None else started_at(pid)
            origin = HookOrigin(one.hook.agent, pid, start, self._boot_id)
            try:
                self._started.heard(pid)
                self._outbox.take_in(one, origin)
            except OSError as error:
                _log.error("A hook stays in the spool: %s", error.strerror)
                for left in taken[number:]:
                    left.give_back()
                return True
            self._heard(one.hook.agent, one.hook.body, one.hook.at_ms)
        return not taken

    def decide(self, hold: str, output: Object, *, is_answer: bool) -> None:
        """Let a waiting hook print this. If it is just coming back, it gets it then.

        OSError if the receipt can't be written; the hook then keeps waiting.
        """
        # Kept even if it waits: if it loses its connection now, it asks again.
        self._decided[hold] = (output, is_answer)
        if len(self._decided) > _MOST_DECIDED:
            del self._decided[next(iter(self._decided))]
        waiting = self._held.get(hold)
        if waiting is None or waiting.done():
            return
        if is_answer:
            # First the receipt: a hook that had its answer must never ask again for nothing.
            receipt = {"command": "decide", "hold": hold, "result": "handed"}
            self._outbox.add(RECEIPT, json.dumps(receipt).encode())
        waiting.set_result(output)

    def close(self) -> None:
        """Send waiting hooks away; they come back to the next relay."""
        self._is_closed = True
        for waiting in self._held.values():
            waiting.cancel()

    # ------------------------------------------------------------------ requests

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, with one request."""
        self._open += 1
        try:
            await self._answer(reader, writer)
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
            pass
        finally:
            self._open -= 1
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._open > _MOST_AT_ONCE:
                raise _Refusal("503 Service Unavailable")
            _check_user(writer)
            async with asyncio.timeout(_HEAD_WITHIN):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path, length = self._checked(head)
            async with asyncio.timeout(_BODY_WITHIN):
                body = await _beginning(reader, length)
            output = await self._do(path, body, reader)
            status, content = "200 OK", json.dumps(output).encode()
        except _Refusal as refusal:
            status, content = refusal.status, b"{}"
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode()
            + content
        )
        await writer.drain()

    def _checked(self, head: str) -> tuple[str, int]:
        """The path and the length of a request; any other request is refused."""
        first, *lines = head.rstrip().split("\r\n")
        pairs = (line.partition(":") for line in lines)
        fields = {name.strip().lower(): told.strip() for name, _, told in pairs}
        shown = fields.get("authorization", "").removeprefix("Bearer ").encode()
        if not hmac.compare_digest(shown, self._token):
            raise _Refusal("401 Unauthorized")
        method, _, rest = first.partition(" ")
        path = rest.partition(" ")[0]
        agent = path.removeprefix(_PREFIX)
        is_hook = agent != path and is_agent(agent)
        if method != "POST" or not (is_hook or path in (STATE, *_CLIENTS)):
            raise _Refusal("404 Not Found")
        length = fields.get("content-length", "")
        if not length.isdecimal() or len(length) > 12:
            raise _Refusal("411 Length Required")
        return path, int(length)

    async def _do(self, path: str, body: bytes, reader: asyncio.StreamReader) -> Object:
        if path == STATE:
            return self._state()
        if path in _CLIENTS:
            return self._client(path, body)
        return await self._hook(path.removeprefix(_PREFIX), body, reader)

    def _client(self, path: str, body: bytes) -> Object:
        """`callboard watch` has started a client, or saw one end."""
        if path == REGISTER:
            if self._outbox.is_full:
                raise _Refusal("503 Service Unavailable")
            try:
                told = as_object(json.loads(body))
                known = {name: told[name] for name in _ABOUT_CLIENT if name in told}
                said = {"event": REGISTERED, "boot": self._boot_id, **known}
                self._outbox.add(SIGHTING, json.dumps(said).encode())
            except (OSError, StoreError, ValueError, RecursionError) as error:
                raise _Refusal("503 Service Unavailable") from error
        else:
            self._before()
        return {}

    async def _hook(self, agent: str, body: bytes, reader: asyncio.StreamReader) -> Object:
        try:
            await self.take_all_spooled()
            self._before()
            if self._outbox.is_full or self._is_closed:
                raise _Refusal("503 Service Unavailable")  # The hook uses the spool then.
            told = facts(body)
            self._started.heard(as_whole(told.get("pid")) or None)
            self._outbox.add(HOOK, body, HookOrigin(agent, boot_id=self._boot_id))
            self._heard(agent, body, None)
        except (OSError, StoreError) as error:
            raise _Refusal("503 Service Unavailable") from error
        hold = as_text(told.get("hold"))
        if not hold or told.get("gone") is True:
            return {}
        return await self._wait(hold, self._wait_for(hold), reader)

    def _wait_for(self, hold: str) -> "asyncio.Future[Object]":
        before = self._held.get(hold)
        if before is not None:
            before.cancel()
        waiting = asyncio.get_running_loop().create_future()
        self._held[hold] = waiting
        return waiting

    async def _wait(
        self, hold: str, waiting: "asyncio.Future[Object]", reader: asyncio.StreamReader
    ) -> Object:
        known = self._decided.get(hold)
        if known is not None:
            with suppress(OSError):  # Full disk: the next stream of commands brings it again.
                self.decide(hold, known[0], is_answer=known[1])
        left = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({waiting, left}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.cancelled():
                raise _Refusal("503 Service Unavailable")
            if waiting.done():
                return waiting.result()
            self._leave(hold)
            return {}
        finally:
            left.cancel()
            if self._held.get(hold) is waiting:
                del self._held[hold]

    def _leave(self, hold: str) -> None:
        task = asyncio.create_task(self._miss(hold))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _miss(self, hold: str) -> None:
        await asyncio.sleep(COMES_BACK_WITHIN)
        if hold not in self._held and not self._is_closed:
            self.gone(hold)

    def gone(self, hold: str) -> bool:
        """Report that no hook waits for this question; returns whether that could be written."""
        try:
            self._outbox.add(GONE, json.dumps({"hold": hold}).encode())
        except OSError:  # Full disk: the watch tries again.
            return False
        return True


def facts(body: bytes) -> Object:
    """What our hook client added at the end of a payload; the payload itself isn't parsed."""
    tail = body[-_TAIL:].rstrip()
    at = tail.rfind(_MEMBER)
    if at < 0 or not tail.endswith(b"}}"):
        return {}
    try:
        return as_object(json.loads(tail[at + len(_MEMBER) - 1 : -1]))
    except (ValueError, RecursionError):
        return {}


def _check_user(writer: asyncio.StreamWriter) -> None:
    """Refuse other users of this machine, where the system shows who they are."""
    if not system.SHOWS_CLIENTS:
        return
    ends = Ends(writer.get_extra_info("peername")[:2], writer.get_extra_info("sockname")[:2])
    found = system.find_socket(ends) or system.find_in_tables(ends)
    if found is not None and found.inode and found.user != os.getuid():
        raise _Refusal("403 Forbidden")


async def _beginning(reader: asyncio.StreamReader, length: int) -> bytes:
    """Read a whole body, and return as much of it as is kept."""
    kept = bytearray()
    left = min(length, _MOST_READ)
    while left:
        part = await reader.read(min(left, _PART))
        if not part:
            raise EOFError
        left -= len(part)
        kept += part[: max(0, LARGEST + _TAIL - len(kept))]
    return bytes(kept)
