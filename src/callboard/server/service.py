"""What the routes work on, made when the server starts and let go of when it stops."""

from dataclasses import dataclass

from callboard.drivers.watching import WatchingDriver
from callboard.server.access.links import Links
from callboard.server.access.tokens import Tokens
from callboard.server.dashboard import Dashboard
from callboard.server.metrics import Metrics
from callboard.server.ports import Board
from callboard.server.settings import Settings
from callboard.server.streams import Streams


@dataclass(frozen=True, slots=True)
class Service:
    """The board, its driver, its live streams, and who is let in."""

    board: Board
    settings: Settings
    streams: Streams
    links: Links
    tokens: Tokens
    driver: WatchingDriver
    metrics: Metrics
    dashboard: Dashboard
