"""How a server is set up; the command line and tests make one of these."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from callboard.server.dashboard import BUILT


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Everything that can be chosen, with what is chosen when no one does."""

    host: str = "127.0.0.1"
    port: int = 2255
    cors_origins: Collection[str] = frozenset()
    """Origins of other sites whose pages may call this server with a token."""
    allowed_hosts: Collection[str] = frozenset()
    """Names under which the server is known beside those of loopback, as behind a proxy."""
    dev: bool = False
    """Pages of `cors_origins` need no token for what `callboard.server.access.pages` lists."""
    concurrency: int = 64
    """How many sessions are driven at once."""
    memory: int = 256 * 1_048_576
    """Bytes that all connections may hold together: bodies that arrive, answers not yet read."""
    max_body: int = 1_048_576
    max_question_body: int = 10 * 1_048_576
    """Bytes of a question: the context of a session may be large. Reading or writing more than this
    at once would keep the event loop busy for longer than 50 ms."""
    max_answer_body: int = 4 * 1_048_576
    """Bytes of what is done with a question: a transcript may be large, and more than this would
    keep the event loop busy for longer than 50 ms at a time."""
    max_hook_body: int = 4 * 1_048_576
    """Bytes that are read of a hook's payload; the rest is taken and forgotten."""
    grace: float = 10.0
    """Seconds that agents get to finish when the server stops."""
    heartbeat: float = 15.0
    """Seconds of silence after which a stream sends a comment."""
    write_every: float = 0.05
    """Frames of one stream that come within this many seconds share a write."""
    patience: float = 10.0
    """Seconds after which a reader that takes nothing is cut off."""
    page: int = 256
    """How many events are read and encoded at once."""
    cache: int = 16 * 1_048_576
    """Bytes of encoded events kept for further readers."""
    wrong_tokens: int = 10
    """How many wrong tokens a minute one address may send."""
    link_lives: float = 30.0
    """Seconds for which a one-time link can be used."""
    sign_in: str = "callboard open"
    """The command that signs a browser in; told to no one but the user who runs the server."""
    notify: tuple[str, ...] = field(default=(), repr=False)
    """Whom to tell that a person is needed: addresses of Apprise, which are secrets."""
    ui: Path = BUILT
    """The folder of the built dashboard; there need not be one."""
