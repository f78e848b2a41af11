"""What the routes work on, made when the server starts and let go of when it stops."""

from dataclasses import dataclass

from callboard.board.emptying import Emptying
from callboard.board.holding import Holding
from callboard.board.leaving import Leavings
from callboard.board.listening import Listener
from callboard.board.plates import Plates
from callboard.board.rounds import Rounds
from callboard.drivers.watching import WatchingDriver
from callboard.server.access.links import Links
from callboard.server.access.tokens import Tokens
from callboard.server.dashboard import Dashboard
from callboard.server.memory import Memory
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
    memory: Memory
    dashboard: Dashboard
    plates: Plates
    listener: Listener
    holding: Holding
    leavings: Leavings
    spool: Emptying
    rounds: Rounds
