"""Every error that Callboard raises, in one tree.

    CallboardError
    ├── DefinitionError            a workflow, phase or question is defined wrongly
    ├── ValidationError            a value from outside does not fit
    │   ├── AnswerInvalid          an answer that the question did not offer
    │   ├── ResponseInvalid        a response that does not fit the caller's `result_type`
    │   └── EditInvalid            a JSON Patch that cannot be applied
    ├── NotFound
    │   ├── SessionNotFound
    │   ├── WorkflowNotFound
    │   ├── InteractionNotFound
    │   └── PlateNotFound
    ├── ConflictError              somebody else was first
    │   ├── AlreadyAnswered · InteractionClosed · Claimed
    │   ├── InteractivePending     one interactive session at a time
    │   ├── NoExecution            nothing runs that a question could belong to
    │   ├── NotResumable · SessionExists
    │   ├── SessionOwned           another process drives this session
    │   ├── OwnershipLost          this process drove it, and was replaced
    │   └── PositionConflict       the stream is longer than the writer thought
    ├── StateError
    │   ├── StateNotSerializable
    │   └── StateInvalid
    ├── AgentError
    │   ├── AgentOutputInvalid · AgentTimedOut · AgentUncertain
    │   ├── RateLimited            a model takes no more requests for now
    │   └── RetryAfter             an agent cannot work yet: try again later, it is no failure
    ├── PhaseError                 a function of a phase raised: update, human, next, …
    ├── QuestionTimedOut           a question with `on_timeout="fail"` ran out
    ├── InteractiveFailed          an interactive session broke off
    ├── HandlerFailed              the caller's own `human_input` raised
    ├── MissingExtra               an optional dependency is not installed
    ├── SettingsUnusable           a coding agent's settings cannot be changed
    ├── Unauthenticated · Forbidden · TooLarge · TooManyFailures   what a server refuses
    ├── Overloaded                 there is too much to do, or too little memory, for now
    ├── ServerUnreachable          no server answers a client
    ├── ServerFailed               a server met an error that it did not expect
    └── StoreError                 the database cannot do it
        ├── StoreBusy · StoreFull · StoreCorrupt · StoreTooNew · StoreForeign

Each class has a stable `code`; its docstring is its default message; what was involved
is kept as attributes, so that no caller has to parse a sentence.
"""

from collections.abc import Mapping

TYPE_CHECKING = False  # To load `typing` takes longer than all of this, and hooks load this.
if TYPE_CHECKING:
    from typing import ClassVar


class CallboardError(Exception):
    """Callboard could not do what was asked."""

    code: "ClassVar[str]" = "ERROR"

    def __init__(self, message: str | None = None, **context: object) -> None:
        self.message = message or (type(self).__doc__ or "").split("\n")[0]
        self.context: Mapping[str, object] = context
        super().__init__(self.message)

    def __getattr__(self, name: str) -> object:
        context = self.__dict__.get("context", {})
        if name in context:
            return context[name]
        raise AttributeError(name)

    def as_payload(self) -> dict[str, object]:
        """The error as events and JSON answers carry it."""
        told = {k: v for k, v in self.context.items() if isinstance(v, str | int | float | bool)}
        return {"code": self.code, "message": self.message, **{_camel(k): told[k] for k in told}}


class DefinitionError(CallboardError):
    """The workflow is defined wrongly."""

    code = "WRONG_DEFINITION"


class ValidationError(CallboardError):
    """A value does not fit."""

    code = "VALIDATION_ERROR"


class AnswerInvalid(ValidationError):
    """The question does not take this answer."""


class ResponseInvalid(ValidationError):
    """The response does not fit result_type."""


class EditInvalid(ValidationError):
    """The edit cannot be applied to the state."""


class NotFound(CallboardError):
    """There is no such thing."""

    code = "NOT_FOUND"


class SessionNotFound(NotFound):
    """There is no session with this id."""

    code = "SESSION_NOT_FOUND"


class WorkflowNotFound(NotFound):
    """No workflow of this name is registered here."""

    code = "WORKFLOW_NOT_FOUND"


class InteractionNotFound(NotFound):
    """There is no question with this id."""

    code = "INTERACTION_NOT_FOUND"


class PlateNotFound(NotFound):
    """There is no plate with this id."""

    code = "PLATE_NOT_FOUND"


class ConflictError(CallboardError):
    """Something else happened first."""

    code = "CONFLICT"


class AlreadyAnswered(ConflictError):
    """This question has been answered already."""

    code = "ALREADY_ANSWERED"


class InteractionClosed(ConflictError):
    """This question is no longer open."""

    code = "INTERACTION_CLOSED"


class Claimed(ConflictError):
    """Somebody else sees to this question just now."""

    code = "CLAIMED"


class InteractivePending(ConflictError):
    """Cannot create a new interactive session while one is already pending"""

    code = "INTERACTIVE_PENDING"


class NoExecution(ConflictError):
    """No active execution. Give session_id=..., or standalone=True to ask outside any session."""

    code = "NO_EXECUTION"


class NotResumable(ConflictError):
    """This session has ended and cannot go on."""

    code = "NOT_RESUMABLE"


class SessionExists(ConflictError):
    """A session with this id exists already."""

    code = "SESSION_EXISTS"


class SessionOwned(ConflictError):
    """Another process drives this session."""

    code = "SESSION_OWNED"


class OwnershipLost(ConflictError):
    """Another process has taken this session over."""

    code = "OWNERSHIP_LOST"


class PositionConflict(ConflictError):
    """The stream has grown since it was read."""

    code = "POSITION_CONFLICT"


class StateError(CallboardError):
    """The state cannot take this change."""

    code = "STATE_ERROR"


class StateNotSerializable(StateError):
    """A value in the state cannot be written as JSON."""

    code = "STATE_NOT_SERIALIZABLE"


class StateInvalid(StateError):
    """A value does not fit the type that the state declares for it."""

    code = "STATE_INVALID"


class AgentError(CallboardError):
    """The agent failed."""

    code = "AGENT_ERROR"


class AgentOutputInvalid(AgentError):
    """The agent returned something else than it declares."""

    code = "AGENT_OUTPUT_INVALID"


class AgentTimedOut(AgentError):
    """The agent took longer than the phase allows."""

    code = "AGENT_TIMED_OUT"


class AgentUncertain(AgentError):
    """The process died while the agent ran, and nobody knows what it had done."""

    code = "AGENT_UNCERTAIN"


class RateLimited(AgentError):
    """The model takes no more requests for now; `retry_after` says for how many seconds."""

    code = "RATE_LIMITED"


class RetryAfter(AgentError):
    """The agent cannot work yet, and wants to be started again later.

    Raised by an agent. It is no failure: no attempt of its `retry` is used up. Without `seconds`
    it is a minute.
    """

    code = "RETRY_AFTER"

    def __init__(
        self, message: str | None = None, *, seconds: float = 60.0, **context: object
    ) -> None:
        super().__init__(message, seconds=seconds, **context)
        self.delay_ms = max(round(seconds * 1000), 0)


class PhaseError(CallboardError):
    """A function of the phase failed."""

    code = "PHASE_ERROR"


class QuestionTimedOut(CallboardError):
    """Nobody answered the question in time."""

    code = "QUESTION_TIMED_OUT"


class InteractiveFailed(CallboardError):
    """The interactive session failed."""

    code = "INTERACTIVE_FAILED"


class HandlerFailed(CallboardError):
    """The human_input handler failed; the question is still pending."""

    code = "HANDLER_FAILED"


class MissingExtra(CallboardError):
    """An optional part of Callboard is not installed."""

    code = "MISSING_EXTRA"


class SettingsUnusable(CallboardError):
    """The settings of a coding agent cannot be changed."""

    code = "SETTINGS_UNUSABLE"


class Unauthenticated(CallboardError):
    """This needs a token: send `Authorization: Bearer TOKEN`, or log in with `callboard open`."""

    code = "UNAUTHENTICATED"


class Forbidden(CallboardError):
    """This token, host or origin may not do that."""

    code = "FORBIDDEN"


class TooLarge(CallboardError):
    """The body is larger than this server takes."""

    code = "TOO_LARGE"


class TooManyFailures(CallboardError):
    """Too many wrong tokens came from there; wait before the next."""

    code = "TOO_MANY_FAILURES"


class Overloaded(CallboardError):
    """The server is too busy for this now; try again in a moment."""

    code = "OVERLOADED"


class ServerUnreachable(CallboardError):
    """No server answers there. Start one: callboard serve FILE"""

    code = "SERVER_UNREACHABLE"


class ServerFailed(CallboardError):
    """The server met an error that it did not expect; its log says more."""

    code = "INTERNAL_ERROR"


class StoreError(CallboardError):
    """The database could not do it; nothing was written."""

    code = "STORE_ERROR"


class StoreBusy(StoreError):
    """Another process holds the database for too long."""

    code = "STORE_BUSY"


class StoreFull(StoreError):
    """The disk is full; nothing was written and nothing is lost."""

    code = "STORE_FULL"


class StoreCorrupt(StoreError):
    """The database is damaged."""

    code = "STORE_CORRUPT"


class StoreTooNew(StoreError):
    """The database was written by a newer Callboard."""

    code = "STORE_TOO_NEW"


class StoreForeign(StoreError):
    """The file is a database, but not one of Callboard's."""

    code = "STORE_FOREIGN"


class Unwound(BaseException):
    """Takes a waiting agent off the stack; `except Exception` must not stop it.

    The agent runs again when its question is answered, and what it already asked and did
    with `ctx.once` is answered from the log.
    """


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def describe(error: BaseException) -> dict[str, object]:
    """Any exception as the `error` of an event: code, message, and the type's name."""
    if isinstance(error, CallboardError):
        return {**error.as_payload(), "type": type(error).__name__}
    message = str(error) or type(error).__name__
    return {"code": AgentError.code, "message": message, "type": type(error).__name__}
