"""The payloads of events about messages to a coding agent. They are in the stream of its plate."""

from typing import Literal, NotRequired, TypedDict

MessageTiming = Literal["now", "after_turn"]
"""At the agent's next opportunity, or once its turn is over."""


class AboutMessage(TypedDict):
    """One message. id: unique in the log."""

    id: str


class MessageByPerson(AboutMessage):
    """Something that a person, or a program for one, did with a message."""

    by: NotRequired[str]
    via: NotRequired[str]


class MessageQueuedPayload(MessageByPerson):
    """Someone wrote a message, and it waits to be handed over."""

    text: str
    """Empty for those who may not read messages to agents."""
    when: MessageTiming
    place: int
    """Its place among the messages of its plate; lower ones are handed over first."""


class MessageChangedPayload(MessageByPerson):
    """Someone changed a message that was still queued."""

    text: NotRequired[str]
    when: NotRequired[MessageTiming]


class MessageMovedPayload(MessageByPerson):
    """Someone moved a message that was still queued."""

    places: dict[str, int]
    """The new places of all messages that have another one now, by id."""


class MessageWithdrawnPayload(MessageByPerson):
    """Someone withdrew a message before it was handed over. The agent never gets it."""


class MessageHandedPayload(AboutMessage):
    """The board is about to hand a message over to the agent's client.

    Recorded before that is done: from now on, the agent may have it.
    """

    attempt: int
    way: str
    """How: `inbox`, `app_server`, `plugin`, `hook`, `terminal` or `prompt`."""
    authority: bool
    """Whether the model takes the message as its person's own words."""
    session: str
    """The client's session that it is meant for."""
    pid: NotRequired[int]
    """The process that the session runs in, if that is known."""
    procStart: NotRequired[str]
    """When that started, as its system says it, since a process id can be reused."""


class MessageReturnedPayload(AboutMessage):
    """Handing a message over certainly did nothing: it waits again."""

    attempt: int
    note: NotRequired[str]


class MessageHeldPayload(AboutMessage):
    """The client has the message, and asks the person at its terminal whether to accept it."""

    note: NotRequired[str]


class MessageDeliveredPayload(AboutMessage):
    """The client has the message: its own hook, API or transcript shows it."""

    way: NotRequired[str]
    at: NotRequired[int]
    """When, in milliseconds, if the client says."""


class MessageSeenPayload(AboutMessage):
    """The model was given the message."""

    at: NotRequired[int]
    """When, in milliseconds, if the client says."""


class MessageLostPayload(AboutMessage):
    """The agent did not get the message, or nothing shows that it did. It is not sent again."""

    reason: str


class InterruptRequestedPayload(TypedDict):
    """Someone is about to interrupt the agent's turn."""

    by: NotRequired[str]
    via: NotRequired[str]


class InterruptAnsweredPayload(TypedDict):
    """What came of an interrupt."""

    wasInterrupted: bool
    """Whether the client was told to stop."""
