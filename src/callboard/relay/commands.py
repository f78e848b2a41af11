"""Takes commands from the server and does those that this machine knows."""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Final

from callboard.clock import Clock
from callboard.events.json_values import Object, as_object, as_text
from callboard.relay.batches import RECEIPT
from callboard.relay.command_table import CommandTable
from callboard.relay.contact import Backoff, ServerContact
from callboard.relay.http import HttpConnection, HttpFailed, HttpReply
from callboard.relay.outbox import Outbox
from callboard.relay.uplink import RelayRefused, is_refusal, message_of

_log = logging.getLogger(__name__)

PATH: Final = "/relay/commands"
SILENCE: Final = 30.0
"""Seconds without a sign of the server after which the connection counts as lost."""
_OK: Final = 200
_LASTED: Final = 1.0
"""Seconds after which a stream has worked. If one ends sooner, the next one has to wait."""
_LARGEST: Final = 16 * 1_048_576
NAME: Final = "commands"
"""The connection's name."""

Handler = Callable[[Object], None]


class Commands:
    """What the server sends.

    hello: what this machine says about itself when it asks for commands. handlers: what is done for
    the questions of its agents, at once. table: what needs a result.
    """

    def __init__(
        self,
        outbox: Outbox,
        hello: Callable[[], Object],
        handlers: Mapping[str, Handler],
        contact: ServerContact,
        table: CommandTable,
    ) -> None:
        self._table = table
        self._tasks: set[asyncio.Task[None]] = set()
        self._outbox = outbox
        self._contact = contact
        self._hello = hello
        self._handlers = handlers
        self._backoff = Backoff()

    async def run(self, server: HttpConnection, clock: Clock) -> None:
        """Take commands for as long as the server accepts this machine."""
        while True:
            least, since, is_over = 0.0, clock.monotonic(), False
            try:
                reply = await self._take(server)
                if is_refusal(reply):
                    raise RelayRefused(message_of(reply))
                least, is_over = reply.retry_after, reply.status == _OK
                if not is_over:
                    self._contact.failed(NAME, message_of(reply))
            except HttpFailed as error:
                # The server, or a proxy, closes connections that were quiet for a while.
                if error.is_stale:
                    continue
                self._contact.failed(NAME, str(error))
            if clock.monotonic() - since >= _LASTED:
                self._backoff.reset()
                if is_over:
                    continue
            await self._contact.pause(self._backoff.seconds(least))

    async def _take(self, server: HttpConnection) -> HttpReply:
        """Read one stream to its end; returns its head, or the whole response if it is refused."""
        body = json.dumps(self._hello()).encode()
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        rest = bytearray()
        async with aclosing(server.stream(PATH, body, headers, SILENCE)) as stream:
            reply = await anext(stream)
            assert isinstance(reply, HttpReply)
            if reply.status == _OK:
                self._contact.worked(NAME)
            async for part in stream:
                assert isinstance(part, bytes)
                rest += part
                if len(rest) > _LARGEST:
                    raise HttpFailed("a command is too large")
                if reply.status == _OK:
                    while (end := rest.find(b"\n\n")) >= 0:
                        self._read(bytes(rest[:end]))
                        del rest[: end + 2]
                        await asyncio.sleep(0)
        return HttpReply(reply.status, reply.headers, bytes(rest))

    def _read(self, frame: bytes) -> None:
        pairs = (line.partition(": ") for line in frame.decode("utf-8", "replace").split("\n"))
        told = {name: value for name, _, value in pairs}
        if "event" not in told:
            return  # A sign that the server is there.
        try:
            data = as_object(json.loads(told.get("data", "")))
        except (ValueError, RecursionError):
            return
        try:
            self.do(told["event"], told.get("id", ""), data)
        except OSError as error:
            # Without a receipt, nothing was done. The next stream brings the command again.
            raise HttpFailed(f"{self._outbox.folder}: {error.strerror or error}") from error

    def do(self, name: str, id: str, data: Object) -> None:
        """Do a command, at once or meanwhile, or refuse it."""
        handler = self._handlers.get(name)
        if handler is not None:
            return handler(data)
        task = asyncio.create_task(self._ask(name, id, data))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return None

    async def _ask(self, name: str, id: str, told: Object) -> None:
        within = told.get("within")
        seconds = float(within) if isinstance(within, int | float) else 0.0
        receipt = await self._table.do(name, id, as_object(told.get("data")), seconds)
        if receipt is None or self._outbox.is_full:
            return
        try:
            self._outbox.add(RECEIPT, json.dumps(receipt).encode())
        except OSError as error:
            _log.error("The result of %r is lost: %s", name, error.strerror or error)


def decide_with(decide: Callable[..., None]) -> Handler:
    """The command that brings the decision on a question."""

    def handle(data: Object) -> None:
        output, is_answer = as_object(data.get("output")), data.get("answers") is True
        decide(as_text(data.get("hold")), output, is_answer=is_answer)

    return handle
