"""The payloads of events about questions to people."""

from typing import Literal, NotRequired, TypedDict

from callboard.events.envelope import Json
from callboard.events.payloads.workflow import Authored

Receipt = Literal["pending", "delivered", "overruled", "lost"]
"""What became of an answer: on its way, taken, overruled in the terminal, or never received."""

Source = Literal["hook", "transcript", "registry", "silence"]
"""What shows how a coding agent decided."""


class Answered(Authored):
    """Who answered, and where: `terminal`, `board`, `handler` and so on."""

    via: NotRequired[str]
    override: NotRequired[bool]
    """An admin answered in place of the assignees."""


class QuestionEnd(Answered):
    """The end of a question. Everything but `id` is only for interactive sessions."""

    id: str
    outcome: NotRequired[str]
    durationMs: NotRequired[int]
    transcript: NotRequired[str]


class LeftQuestion(QuestionEnd):
    """The end of a question that has no answer."""

    value: NotRequired[Json]
    """An earlier decision, if several people have to decide, or the value that counts instead."""
    error: NotRequired[str]


class PlainRule(TypedDict):
    """At the deadline, keep waiting, fail the phase, or end the interactive session."""

    action: Literal["wait", "fail", "end"]


class AnswerRule(TypedDict):
    """At the deadline, this is the answer."""

    action: Literal["answer"]
    value: Json
    approved: NotRequired[bool]


class EscalationRule(TypedDict):
    """At the deadline, ask more people, optionally with another deadline."""

    action: Literal["escalate"]
    to: list[str]
    afterMs: int | None
    then: "TimeoutRule"


TimeoutRule = PlainRule | AnswerRule | EscalationRule


class AskedQuestion(TypedDict):
    """What is asked."""

    prompt: str
    type: str
    options: NotRequired[list[str]]
    other: NotRequired[bool]
    """Any text is a valid answer, too."""
    config: NotRequired[dict[str, Json]]
    assignees: NotRequired[list[str]]
    """The only people and groups (group:NAME) who may answer. Without it, anyone may."""


class AuthoredQuestion(Authored, AskedQuestion):
    """What is asked, and by whom."""


class Asker(TypedDict):
    """Which part of a workflow asks."""

    phase: NotRequired[str]
    inline: NotRequired[bool]
    """This is the phase's own question."""
    run: NotRequired[str]
    """Which run of an agent asked. Only such questions have `attempt`, `key` and `nth`."""
    attempt: NotRequired[int]
    key: NotRequired[str]
    nth: NotRequired[int]


class InputRequestedPayload(AuthoredQuestion, Asker):
    """A question was asked."""

    id: str
    deadline: NotRequired[int]
    onTimeout: NotRequired[TimeoutRule | None]
    standalone: NotRequired[bool]
    """The question belongs to no session. Its stream has the same id."""
    executionId: NotRequired[str]
    """The session of the coding agent that asks."""


class InputDetachedPayload(TypedDict):
    """The workflow ended before an interactive session that does not block it.

    The session stays open with the same id, and is continued in a stream of its own.
    """

    id: str
    stream: str
    deadline: NotRequired[int]
    """When it times out, if it does."""


class InputClaimedPayload(TypedDict):
    """Someone claimed the question. Until then, no one else can claim it."""

    id: str
    by: str
    until: int


class InputReleasedPayload(TypedDict):
    """The claim was released."""

    id: str


class InputAssignedPayload(Authored):
    """Someone changed who is expected to answer. It does not change who may."""

    id: str
    to: list[str]
    """People and groups (group:NAME). Empty: the question is unassigned."""


class InputContributedPayload(QuestionEnd):
    """One of several people who all have to decide has decided."""

    value: Json
    responses: dict[str, Json]
    """Everyone's decisions so far."""
    approved: NotRequired[bool]
    error: NotRequired[str]


class InputAcceptedPayload(Answered):
    """An answer to a coding agent was accepted. No other answer will be.

    Its outcome is not known yet.
    """

    id: str
    response: Json


class InputReceivedPayload(QuestionEnd):
    """A person answered. For a coding agent: what it actually did."""

    value: Json
    approved: NotRequired[bool]
    """The verdict of an approval."""
    message: NotRequired[str]
    """Why the answer is no."""
    status: NotRequired[str]
    """How a confirmation was answered."""
    receipt: NotRequired[Receipt | None]
    """What became of an accepted answer."""
    error: NotRequired[str]


class InputCorrectedPayload(Answered):
    """Later evidence showed that a coding agent did something other than what was recorded.

    This replaces the record.
    """

    id: str
    status: str
    """`completed` or `cancelled`."""
    response: Json
    source: Source
    receipt: NotRequired[Receipt | None]


class InputCancelledPayload(LeftQuestion):
    """The answer is no longer needed, or the question was withdrawn."""

    reason: str
    receipt: NotRequired[Receipt | None]


class InputExpiredPayload(LeftQuestion):
    """The deadline passed and `on_timeout` closed it, or an interactive session took too long."""

    timedOut: bool
    approved: NotRequired[bool]
    fail: NotRequired[bool]
    """`on_timeout` was `"fail"`."""


class InputFailedPayload(QuestionEnd):
    """An interactive session failed."""

    error: str
    value: NotRequired[Json]


class InputRemindedPayload(TypedDict):
    """The deadline passed and `on_timeout` was `"wait"`: the question stays open."""

    id: str


class InputEscalatedPayload(TypedDict):
    """The deadline passed and the question went to more people."""

    id: str
    to: list[str]
    assignees: NotRequired[list[str]]
    """Everyone who may answer from now on, if that is restricted."""
    deadline: NotRequired[int]
    onTimeout: NotRequired[TimeoutRule | None]
