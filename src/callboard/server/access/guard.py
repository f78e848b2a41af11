"""Checks every request before it reaches a route.

The order matters. The origin is checked before the sender, and both before the route is looked up,
so that a refusal doesn't reveal which routes exist.
"""

import asyncio
import logging
from typing import Final

from fastapi import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from callboard.errors import CallboardError, Overloaded, StoreError
from callboard.events.access import allows
from callboard.server.access.answers import completed, preflight
from callboard.server.access.audit import Audit, AuditEntry
from callboard.server.access.bodies import (
    QUESTIONS,
    check_length,
    check_values,
    has_body,
    read_again,
    read_body,
)
from callboard.server.access.credentials import Credentials
from callboard.server.access.head import Head, check_query
from callboard.server.access.hook_bodies import BATCHES, is_hook, is_reported, read_beginning
from callboard.server.access.identity import ADMITTED, Identity
from callboard.server.access.origins import Places, RequestOrigin, names_this_machine
from callboard.server.access.peers import KEY, Peer
from callboard.server.memory import HOLDING, ConnectionMemory, MemoryBudget
from callboard.server.problems import of_error, store_away, unexpected
from callboard.server.settings import ServerSettings

_log = logging.getLogger(__name__)

_REFUSALS: Final = frozenset({401, 403, 413, 429})
_LEFT: Final = 499
"""The status recorded for a command whose sender disconnected before the response."""
PAIRING: Final = "/relay/pair"
"""Where a machine without a token exchanges its code for one."""
_LARGEST_PAIRING: Final = 4096
_OPEN: Final = frozenset({"/", "/health", "/app", "/login"})


class Guard:
    """ASGI middleware: hosts, origins, sizes, tokens, headers, audit."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ServerSettings,
        credentials: Credentials,
        audit: Audit,
    ) -> None:
        self.app = app
        self.places = Places(settings)
        self.credentials = credentials
        self.audit = audit
        self.settings = settings
        self.memory = MemoryBudget(settings.memory)
        """For requests that don't come through our own connection class."""

    def most(self, path: str) -> int:
        """The size limit of a body; for hooks, how much of it is kept."""
        if is_hook(path):
            return self.settings.max_hook_body
        if path == PAIRING:
            return _LARGEST_PAIRING
        if path == BATCHES:
            return 2 * self.settings.max_hook_body + self.settings.max_body
        if path == QUESTIONS:
            return self.settings.max_question_body
        of_answer = path.startswith(f"{QUESTIONS}/")
        return self.settings.max_answer_body if of_answer else self.settings.max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or respond to it."""
        if scope["type"] == "http":
            await _Passage(self, scope, receive, send).go()
        elif scope["type"] == "websocket":
            # The server has no websockets. Closing one before it opens refuses it.
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self.app(scope, receive, send)


class _Left(Exception):
    """The client disconnected before its request was complete."""


class _Passage:
    """One request passing the guard."""

    def __init__(self, guard: Guard, scope: Scope, receive: Receive, send: Send) -> None:
        self._guard = guard
        self._scope = scope
        self._receive = receive
        self._send = send
        self._head = Head(scope)
        self._sender: RequestOrigin | None = None
        self._identity: Identity | None = None
        self._noted = False
        self._started = False
        self._holding: ConnectionMemory = scope.get(HOLDING) or guard.memory.holding(
            "", lambda: None
        )
        self._body_size = 0

    async def go(self) -> None:
        try:
            await self._pass_on()
        except asyncio.CancelledError:
            # Only a server that stops does this, when it waits no longer.
            if not self._started:
                await self._answer(of_error(_abandoned()))
        finally:
            self._let_go()
            if self._head.commands and not is_reported(self._head.path):
                self._note(_LEFT)

    async def _pass_on(self) -> None:
        try:
            refusal = await self._check()
        except StoreError as error:
            _log.error("%s %s: %s", self._head.method, self._head.path, error.message)
            refusal = of_error(store_away(error))
        except CallboardError as error:
            refusal = of_error(error)
        except _Left:
            return self._note(_LEFT)
        except Exception as error:
            refusal = unexpected(self._head.method, self._head.path, error)
        if refusal is not None:
            return await self._answer(refusal)
        return await self._guard.app(self._inner(), self._receive, self._completed())

    async def _check(self) -> Response | None:
        """Raise an error if the request is forbidden; returns a response if no route is needed."""
        guard, head = self._guard, self._head
        self._sender = guard.places.check(head)
        answer = preflight(head, self._sender)
        if answer is not None:
            return answer
        check_query(self._scope)
        if not is_hook(head.path):
            check_length(head, guard.most(head.path))
        try:
            self._identity = await guard.credentials.find(head, self._sender)
        except StoreError:
            if not _is_open(head):
                raise
        if self._identity is None and not _is_open(head):
            raise await guard.credentials.refusal(head, await self._sign_in())
        await self._take_body()
        return None

    async def _take_body(self) -> None:
        if self._identity is not None:
            self._holding.belongs_to(self._identity.name)
        elif self._head.path != PAIRING:
            return  # Other routes that need no token take no body.
        if has_body(self._head):
            self._receive = read_again(await self._body(), self._receive)

    async def _sign_in(self) -> str | None:
        """The command that signs a browser in. It contains a path, so only its owner may see it."""
        peer: Peer | None = self._scope.get(KEY)
        assert self._sender is not None
        is_own_page = self._sender.named is None and names_this_machine(self._head)
        is_told = is_own_page and peer is not None and await peer.is_ours()
        return self._guard.settings.sign_in if is_told else None

    async def _body(self) -> bytes:
        """The body. It counts toward the memory budget until the response is sent."""
        most, before = self._guard.most(self._head.path), self._holding.held
        read = read_beginning if is_hook(self._head.path) else read_body
        try:
            body = await read(self._receive, most, self._holding)
            if body is None:
                raise _Left
            if not is_reported(self._head.path):
                await check_values(body)
        except BaseException:
            self._holding.give(self._holding.held - before)
            raise
        # A hook may be held for hours, and its body isn't kept for that time.
        self._body_size = 0 if is_hook(self._head.path) else len(body)
        self._holding.give(len(body) - self._body_size)
        return body

    def _inner(self) -> Scope:
        """The request's scope for the routes."""
        assert self._sender is not None
        inner = {
            **self._scope,
            "scheme": self._sender.scheme,
            "callboard.identity": self._identity,
            ADMITTED: self._is_admitted,
        }
        if self._head.path == "/login":
            # The server's own log would show the code. From here on, only the route sees it.
            self._scope["query_string"] = b""
        return inner

    async def _is_admitted(self) -> bool:
        """Whether the sender may still read: the token may have expired or been revoked."""
        assert self._sender is not None
        assert self._identity is not None
        found = await self._guard.credentials.find(self._head, self._sender)
        # A relay reads commands with a token that can't read anything else.
        needed = "hook" if self._identity.scope == "hook" else "read"
        return found is not None and allows(found.scope, needed)

    async def _answer(self, response: Response) -> None:
        if self._head.all("expect"):
            # A client that waits for `100 Continue` may or may not send its body now, so the next
            # request on this connection couldn't be told apart from it.
            response.headers["connection"] = "close"
        await response(self._scope, self._receive, self._completed())

    def _completed(self) -> Send:
        return completed(self._send, self._sender, self._guard.places.names_others, self._answered)

    def _answered(self, status: int) -> None:
        self._started = True
        self._let_go()
        # What hooks report is in the log itself, and there may be hundreds a second.
        commands = self._head.commands and not is_reported(self._head.path)
        if commands or status in _REFUSALS:
            self._note(status)
        elif not self._head.commands:
            self._guard.audit.note_reading(self._entry(status))
        self._noted = True

    def _let_go(self) -> None:
        """The body has been processed. From now on, the response counts."""
        self._holding.give(self._body_size)
        self._body_size = 0

    def _note(self, status: int) -> None:
        if self._noted:
            return
        self._noted = True
        self._guard.audit.note(self._entry(status))

    def _entry(self, status: int) -> AuditEntry:
        head = self._head
        return AuditEntry(self._identity, head.method, head.path, status, head.remote)


def _abandoned() -> Overloaded:
    return Overloaded(
        "The server stopped before this request was finished, and may have done it or not. Check "
        "before you repeat it.",
        retry_after=1,
    )


def _is_open(head: Head) -> bool:
    """Whether it needs no token: the health check, signing in, pairing, the dashboard's files."""
    if head.path == PAIRING:
        return head.method == "POST"
    is_page = head.path in _OPEN or head.path.startswith("/app/")
    return is_page and head.method in ("GET", "HEAD")
