"""What a board in this process has about coding agents, and about the machines that they run on."""

from collections.abc import Callable

from callboard.board.agent_messages import AgentMessages
from callboard.board.conversations import PlateConversations
from callboard.board.hosts import local_host
from callboard.board.limits import AgentLimits
from callboard.board.logged_conversations import LoggedConversations
from callboard.board.pairing import Pairing
from callboard.board.plate_changes import AgentChanges
from callboard.board.plates import Plates
from callboard.board.prices import PriceList, load_prices
from callboard.board.relay_hosts import HostTraces, RelayHosts
from callboard.board.starting import PlateStarting
from callboard.board.tokens import AccessTokens
from callboard.clock import Clock
from callboard.log.protocol import EventLog


class CodingAgents:
    """The parts of a board that deal with coding agents, on one log."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self.plates = Plates(log, clock, local_host)
        self.tokens = AccessTokens(log.tokens, clock)
        self.limits = AgentLimits(log.slots)
        self.hosts = RelayHosts(log, clock, HostTraces(self.tokens, self.plates).remove)
        self.pairing = Pairing(log.server_state, self.tokens, clock)
        self.messages = AgentMessages(log, self.plates, self.hosts, clock)
        self.prices: Callable[[], PriceList] = load_prices
        prices = lambda: self.prices()  # noqa: E731 - they can be replaced later
        logged = LoggedConversations(log, clock)
        self.conversations = PlateConversations(self.plates, self.hosts, clock, logged, prices)
        self.changes = AgentChanges(self.plates, self.hosts, clock)
        self.starting = PlateStarting(self.plates, self.hosts, self.messages, log.path)
