"""A model server on loopback that plays scripts: no key, no network, no surprise.

Which script, and how far it is, is read from each request: a client sends the whole conversation
every time. So the server remembers nothing but what it was sent.
"""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Protocol, Self

from tests.real_clients.script import OFF_SCRIPT, Fail, Hold, Place, Script, Turn

LONGEST_HOLD = 60


@dataclass(frozen=True)
class Reply:
    """An answer over HTTP."""

    body: bytes
    type: str = "application/json"
    status: int = 200

    @classmethod
    def json(cls, value: Any, status: int = 200) -> Self:
        return cls(json.dumps(value).encode(), status=status)

    @classmethod
    def stream(cls, events: list[tuple[str, Any]]) -> Self:
        """Server-sent events, all at once."""
        text = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        return cls(text.encode(), "text/event-stream")


class Dialect(Protocol):
    """How one vendor's clients talk with their model."""

    def place(self, request: Any) -> Place | None:
        """Where in a script the conversation stands; None when none was asked for."""
        ...

    def reply(self, path: str, request: Any, turn: Turn) -> Reply:
        """A turn in the vendor's words."""
        ...


@dataclass
class Model:
    """Plays `scripts` in one dialect."""

    dialect: Dialect
    scripts: dict[str, Script] = field(default_factory=dict[str, Script])
    heard: list[str] = field(default_factory=list[str], repr=False)

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def was_told(self, text: str) -> bool:
        """Whether a client ever sent this."""
        wanted = json.dumps(text)[1:-1]
        return any(wanted in sent for sent in self.heard)

    def reply(self, path: str, sent: str) -> Reply:
        """The reply to one request."""
        request = json.loads(sent or "{}")
        self.heard.append(sent)
        turn = self._turn(self.dialect.place(request))
        for step in turn:
            if isinstance(step, Hold):
                step.gate.wait(LONGEST_HOLD)
            elif isinstance(step, Fail):
                error = {"type": step.kind, "message": "scripted"}
                return Reply.json({"type": "error", "error": error}, step.status)
        return self.dialect.reply(path, request, turn)

    def _turn(self, place: Place | None) -> Turn:
        if place is None:
            return OFF_SCRIPT
        script = self.scripts[place.script]
        return script[place.turn] if place.turn < len(script) else OFF_SCRIPT


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are two writes: without this the second often waits 40 ms for the client.
        disable_nagle_algorithm = True

        def do_HEAD(self) -> None:
            self._send(Reply(b""))

        def do_GET(self) -> None:
            self._send(Reply.json({"data": [], "models": []}))

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length", 0)))
            self._send(model.reply(self.path, sent.decode()))

        def _send(self, reply: Reply) -> None:
            try:
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.type)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(reply.body)
            except ConnectionError:
                self.close_connection = True  # A person pressed Esc, and the client hung up.

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing."""

    return Handler
