"""A server's settings, as made by the command line and by tests."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from callboard.drivers.choice import DriverName
from callboard.server.dashboard import BUILT


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """All settings and their defaults."""

    host: str = "127.0.0.1"
    port: int = 2255
    cors_origins: Collection[str] = frozenset()
    """Origins of other sites whose pages may call this server with a token."""
    allowed_hosts: Collection[str] = frozenset()
    """Names of the server in addition to the loopback names, as when it is behind a proxy."""
    proxy_auth: Path | None = None
    """The file that says how a proxy signs people in: see `server.access.proxy_settings`. Without
    it, nothing that a proxy says about people is read.
    """
    dev: bool = False
    """Pages of `cors_origins` need no token for what `callboard.server.access.pages` lists."""
    driver: DriverName = "local"
    """What drives sessions: this server, the workers of an engine, or other processes."""
    concurrency: int = 64
    """How many sessions are driven at once."""
    memory: int = 256 * 1_048_576
    """Bytes that all connections may hold together: incoming bodies and unread responses."""
    prices: Path | None = None
    """The file with the prices of models; by default, see `board.prices.load_prices`."""
    max_body: int = 1_048_576
    max_question_body: int = 10 * 1_048_576
    """Maximum bytes of a question, because a session's context may be large. Parsing or writing
    more than this at once would block the event loop for longer than 50 ms.
    """
    max_answer_body: int = 4 * 1_048_576
    """Maximum bytes of an action on a question, because a transcript may be large. More than this
    would block the event loop for longer than 50 ms.
    """
    max_hook_body: int = 4 * 1_048_576
    """Bytes of a hook's payload that are read; the rest is received and discarded."""
    grace: float = 10.0
    """Seconds that agents get to finish when the server stops."""
    heartbeat: float = 15.0
    """Seconds of silence after which a stream sends a comment."""
    write_every: float = 0.05
    """Frames of one stream that come within this many seconds share a write."""
    patience: float = 10.0
    """Seconds after which a reader that stops reading is cut off."""
    page: int = 256
    """How many events are read and encoded at once."""
    cache: int = 16 * 1_048_576
    """Bytes of encoded events to cache for other readers."""
    wrong_tokens: int = 10
    """How many wrong tokens a minute one address may send."""
    link_lives: float = 30.0
    """Seconds for which a one-time link can be used."""
    sign_in: str = "callboard open"
    """The command that signs a browser in; shown only to the user who runs the server."""
    notify: tuple[str, ...] = field(default=(), repr=False)
    """Whom to notify that a person is needed: Apprise URLs, which are secret."""
    ui: Path = BUILT
    """The folder of the built dashboard. It may be missing."""
