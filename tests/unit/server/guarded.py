"""A guard around an application that says whom it let in, and a way to ask it anything."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from callboard.board.tokens import AccessTokens
from callboard.log.memory import MemoryLog
from callboard.server.access.audit import Audit
from callboard.server.access.credentials import Credentials, Failures
from callboard.server.access.guard import Guard
from callboard.server.access.login import Links, SignIn
from callboard.server.access.proxy_sign_in import proxy_sign_in
from callboard.server.access.sign_ins import SignIns
from callboard.server.access.tokens import Tokens
from callboard.server.problems import reply
from callboard.server.settings import ServerSettings
from callboard.testing.fake_clock import FakeClock

HOST = ("host", "callboard.localhost:2255")
Headers = Sequence[tuple[str, str]]


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return self.json["error"]["code"]


@dataclass
class Guarded:
    """Everything around one guard, in a folder of its own."""

    folder: Path
    settings: ServerSettings = field(default_factory=ServerSettings)
    clock: FakeClock = field(default_factory=FakeClock)
    reached: list[Scope] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.db = self.folder / "x.db"
        log = MemoryLog(clock=self.clock)
        self.tokens = Tokens(self.db, AccessTokens(log.tokens, self.clock))
        self.links = Links(log.server_state, self.clock, 30)
        self.sign_ins = SignIns(log.server_state, self.clock)
        self.proxy = proxy_sign_in(self.settings.proxy_auth, self.clock)
        self.guard = self.fresh()

    def fresh(self) -> Guard:
        """A guard that remembers no failures."""
        return Guard(
            self._app,
            settings=self.settings,
            credentials=Credentials(
                self.tokens,
                self.links,
                Failures(self.clock),
                dev=self.settings.dev,
                proxy=self.proxy,
                sign_ins=self.sign_ins,
            ),
            audit=Audit(self.db, self.clock),
        )

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.reached.append(scope)
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        self.bodies.append(body)
        await reply({"reached": True})(scope, receive, send)

    @property
    def right(self) -> tuple[str, str]:
        return ("authorization", f"Bearer {self.tokens.admin()}")

    async def cookie(self) -> tuple[str, str]:
        return ("cookie", f"callboard={await self.links.cookie(SignIn('ada'))}")

    @property
    def audited(self) -> list[dict[str, Any]]:
        path = self.folder / "x.db.audit.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    async def ask(
        self,
        method: str = "GET",
        path: str = "/sessions",
        headers: Headers = (HOST,),
        chunks: Sequence[bytes] = (b"",),
        **more: Any,
    ) -> Answer:
        """Send one request, as a server would hand it in."""
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        scope = request(method, path, raw) | more
        waiting = [
            {"type": "http.request", "body": part, "more_body": n < len(chunks)}
            for n, part in enumerate(chunks, 1)
        ]
        sent: list[Message] = []

        async def receive() -> Message:
            return waiting.pop(0) if waiting else {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.guard(scope, receive, send)
        start, *rest = sent
        told = {n.decode("latin-1").lower(): v.decode("latin-1") for n, v in start["headers"]}
        return Answer(start["status"], told, b"".join(one.get("body", b"") for one in rest))


def request(method: str, path: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    """A request as ASGI has it."""
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(errors="surrogateescape"),
        "query_string": b"",
        "scheme": "http",
        "headers": headers,
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 2255),
    }
