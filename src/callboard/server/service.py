"""What the routes work with, created when the server starts and closed when it stops."""

from dataclasses import dataclass
from pathlib import Path

from callboard.app import Callboard
from callboard.board.arrivals import Arrivals
from callboard.board.budget_watch import BudgetWatch
from callboard.board.held_hooks import HeldHooks, Leavings
from callboard.board.intake import Listener
from callboard.board.message_delivery import MessageDelivery
from callboard.board.pairing import Pairing
from callboard.board.plates import Plates
from callboard.board.spool.drain import SpoolDrain
from callboard.board.usage_recording import UsageRecorder
from callboard.board.watchdog import Rounds
from callboard.drivers.watching import Dispatcher
from callboard.server.access.login import Links
from callboard.server.access.proxy_sign_in import ProxySignIn
from callboard.server.access.sign_ins import SignIns
from callboard.server.access.tokens import Tokens
from callboard.server.dashboard import Dashboard
from callboard.server.memory import MemoryBudget
from callboard.server.metrics import Metrics
from callboard.server.own_machine import OwnMachine
from callboard.server.relay_intake import RelayIntake
from callboard.server.relays import Relays
from callboard.server.settings import ServerSettings
from callboard.server.streams import Streams


@dataclass(frozen=True, slots=True)
class Service:
    """The board, its driver, its live streams, and access control."""

    board: Callboard
    settings: ServerSettings
    streams: Streams
    links: Links
    sign_ins: SignIns
    proxy: ProxySignIn | None
    """Signs people in whom a proxy has authenticated, if that is turned on."""
    tokens: Tokens
    database: Path
    """Where the database is, or would be if it weren't in memory. Hooks use files next to it."""
    started_at: int
    """When the server started, in milliseconds."""
    listener: Listener
    driver: Dispatcher
    metrics: Metrics
    memory: MemoryBudget
    dashboard: Dashboard
    plates: Plates
    arrivals: Arrivals
    holding: HeldHooks
    leavings: Leavings
    spool: SpoolDrain
    rounds: Rounds
    relay_intake: RelayIntake
    relays: Relays
    own_machine: OwnMachine
    delivery: MessageDelivery
    usage: UsageRecorder
    budget: BudgetWatch
    pairing: Pairing

    @property
    def name(self) -> str:
        """Identifies this server among those of its database, also after a restart."""
        return f"{self.plates.host().id} {self.database}"
