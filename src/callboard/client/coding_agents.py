"""What a client has about coding agents, and about the machines that they run on."""

from callboard.client.changes import RemoteChanges
from callboard.client.conversations import RemoteConversations
from callboard.client.limits import RemoteLimits
from callboard.client.messages import RemoteMessages
from callboard.client.plates import RemoteHosts, RemotePlates
from callboard.client.starting import RemoteStarting
from callboard.client.tokens import RemoteTokens
from callboard.client.transport import Transport


class RemoteCodingAgents:
    """The parts of a board that deal with coding agents, as `CodingAgents` has them."""

    def __init__(self, transport: Transport) -> None:
        self.plates = RemotePlates(transport)
        self.tokens = RemoteTokens(transport)
        self.limits = RemoteLimits(transport)
        self.hosts = RemoteHosts(transport)
        self.messages = RemoteMessages(transport)
        self.conversations = RemoteConversations(transport)
        self.changes = RemoteChanges(transport)
        self.starting = RemoteStarting(transport)
