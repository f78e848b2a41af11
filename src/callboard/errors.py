"""Every error that Callboard raises, in one tree.

    CallboardError
    ├── DefinitionError            a workflow, phase or question is not defined correctly
    ├── ValidationError            a value from outside is not valid
    │   ├── AnswerInvalid          an answer that the question does not allow
    │   ├── ResponseInvalid        a response that does not match the caller's `result_type`
    │   ├── RecordingInvalid       a recorded model call that was edited, cut off or is too new
    │   └── EditInvalid            a JSON Patch that cannot be applied
    ├── NotFound
    │   ├── SessionNotFound
    │   ├── WorkflowNotFound
    │   ├── InteractionNotFound
    │   ├── PlateNotFound
    │   └── TranscriptUnreadable   a coding agent's own record of its conversation
    ├── ConflictError              someone else was first
    │   ├── AlreadyAnswered · InteractionClosed · Claimed
    │   ├── InteractivePending     one interactive session at a time
    │   ├── NoExecution            no session is running that the question could belong to
    │   ├── NotResumable · SessionExists
    │   ├── SessionOwned           another process drives this session
    │   ├── OwnershipLost          another process took over a session that this one was driving
    │   ├── PositionConflict       the stream is longer than the writer expected
    │   └── HistoryChanged         events that were already read are gone
    ├── StateError
    │   ├── StateNotSerializable
    │   └── StateInvalid
    ├── AgentError
    │   ├── AgentOutputInvalid · AgentTimedOut · AgentUncertain
    │   ├── NotRecorded            a model call in playback that there is no recording of
    │   ├── RateLimited            the model accepts no more requests for now
    │   └── RetryAfter             an agent cannot run yet; retried later, not a failure
    ├── PhaseError                 a function of a phase raised: update, human, next, …
    ├── QuestionTimedOut           a question with `on_timeout="fail"` timed out
    ├── InteractiveFailed          an interactive session failed
    ├── HandlerFailed              the caller's own `human_input` raised
    ├── MissingExtra               an optional dependency is not installed
    ├── SettingsUnusable           a coding agent's settings cannot be changed
    ├── WorktreeUnreadable         git can't say what changed in a folder
    ├── SystemUnsupported          this system cannot do it, such as Windows
    ├── Unauthenticated · Forbidden · TooLarge · TooManyFailures   what a server refuses
    │   └── PowerNotGranted        a machine's owner has not allowed it there
    ├── HostUnreachable · HostTimedOut · HostFailed   another machine didn't do it
    ├── Overloaded                 too much work or too little memory at the moment
    ├── ServerUnreachable          the client cannot reach a server
    ├── ServerFailed               a server had an unexpected error
    └── StoreError                 the database operation failed
        ├── StoreBusy · StoreFull · StoreCorrupt · StoreTooNew · StoreForeign

Each class has a stable `code`, and its docstring is its default message. Details are available as
attributes, so that callers never have to parse the message.
"""

from collections.abc import Mapping

TYPE_CHECKING = False  # Importing `typing` takes longer than the rest, and hooks load this.
if TYPE_CHECKING:
    from typing import ClassVar


class CallboardError(Exception):
    """Callboard could not do what was asked."""

    code: "ClassVar[str]" = "ERROR"

    def __init_subclass__(cls, code: str | None = None) -> None:
        if code is not None:
            cls.code = code

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
        """The error as it appears in events and JSON responses."""
        told = {k: v for k, v in self.context.items() if isinstance(v, str | int | float | bool)}
        return {"code": self.code, "message": self.message, **{_camel(k): told[k] for k in told}}


class DefinitionError(CallboardError, code="WRONG_DEFINITION"):
    """The workflow definition is not valid."""


class ValidationError(CallboardError, code="VALIDATION_ERROR"):
    """The value is not valid."""


class AnswerInvalid(ValidationError):
    """This is not a valid answer to the question."""


class ResponseInvalid(ValidationError):
    """The response does not match result_type."""


class RecordingInvalid(ValidationError, code="RECORDING_INVALID"):
    """This recording of a model call cannot be used."""


class EditInvalid(ValidationError):
    """The edit cannot be applied to the state."""


class NotFound(CallboardError, code="NOT_FOUND"):
    """Not found."""


class SessionNotFound(NotFound, code="SESSION_NOT_FOUND"):
    """There is no session with this id."""


class WorkflowNotFound(NotFound, code="WORKFLOW_NOT_FOUND"):
    """No workflow of this name is registered here."""


class InteractionNotFound(NotFound, code="INTERACTION_NOT_FOUND"):
    """There is no question with this id."""


class PlateNotFound(NotFound, code="PLATE_NOT_FOUND"):
    """There is no plate with this id."""


class TranscriptUnreadable(NotFound, code="TRANSCRIPT_UNREADABLE"):
    """The agent's transcript isn't there, or can't be read."""


class ConflictError(CallboardError, code="CONFLICT"):
    """Something else changed it first."""


class AlreadyAnswered(ConflictError, code="ALREADY_ANSWERED"):
    """This question has already been answered."""


class InteractionClosed(ConflictError, code="INTERACTION_CLOSED"):
    """This question is no longer open."""


class Claimed(ConflictError, code="CLAIMED"):
    """Someone else is working on this question."""


class InteractivePending(ConflictError, code="INTERACTIVE_PENDING"):
    """Cannot create a new interactive session while one is already pending"""


class NoExecution(ConflictError, code="NO_EXECUTION"):
    """No active execution. Give session_id=..., or standalone=True to ask outside any session."""


class NotResumable(ConflictError, code="NOT_RESUMABLE"):
    """This session has ended and cannot continue."""


class SessionExists(ConflictError, code="SESSION_EXISTS"):
    """A session with this id already exists."""


class SessionOwned(ConflictError, code="SESSION_OWNED"):
    """Another process drives this session."""


class OwnershipLost(ConflictError, code="OWNERSHIP_LOST"):
    """Another process has taken this session over."""


class HistoryChanged(ConflictError, code="HISTORY_CHANGED"):
    """Events that were read are gone: the database was restored, or failed over. Read it again."""


class PositionConflict(ConflictError, code="POSITION_CONFLICT"):
    """The stream has grown since it was read."""


class StateError(CallboardError, code="STATE_ERROR"):
    """The state cannot take this change."""


class StateNotSerializable(StateError, code="STATE_NOT_SERIALIZABLE"):
    """A value in the state cannot be written as JSON."""


class StateInvalid(StateError, code="STATE_INVALID"):
    """A value does not match the type declared in the state."""


class AgentError(CallboardError, code="AGENT_ERROR"):
    """The agent failed."""


class AgentOutputInvalid(AgentError, code="AGENT_OUTPUT_INVALID"):
    """The agent's output does not match its declared type."""


class AgentTimedOut(AgentError, code="AGENT_TIMED_OUT"):
    """The agent took longer than the phase allows."""


class AgentUncertain(AgentError, code="AGENT_UNCERTAIN"):
    """The process died while the agent was running, so its outcome is unknown."""


class NotRecorded(AgentError, code="NOT_RECORDED"):
    """There is no recording of this model call, and in playback no model is called."""


class RateLimited(AgentError, code="RATE_LIMITED"):
    """The model accepts no more requests for now; retry after `retry_after` seconds."""


class RetryAfter(AgentError, code="RETRY_AFTER"):
    """The agent cannot run yet and will be started again later.

    Raised by an agent. It is not a failure and does not use up an attempt of `retry`. `seconds`
    defaults to a minute.
    """

    def __init__(
        self, message: str | None = None, *, seconds: float = 60.0, **context: object
    ) -> None:
        super().__init__(message, seconds=seconds, **context)
        self.delay_ms = max(round(seconds * 1000), 0)


class PhaseError(CallboardError, code="PHASE_ERROR"):
    """A function of the phase failed."""


class QuestionTimedOut(CallboardError, code="QUESTION_TIMED_OUT"):
    """No one answered the question in time."""


class InteractiveFailed(CallboardError, code="INTERACTIVE_FAILED"):
    """The interactive session failed."""


class HandlerFailed(CallboardError, code="HANDLER_FAILED"):
    """The human_input handler failed; the question is still pending."""


class MissingExtra(CallboardError, code="MISSING_EXTRA"):
    """An optional part of Callboard is not installed."""


class SettingsUnusable(CallboardError, code="SETTINGS_UNUSABLE"):
    """The settings of a coding agent cannot be changed."""


class WorktreeUnreadable(CallboardError, code="WORKTREE_UNREADABLE"):
    """git can't say what changed in this folder."""


class SystemUnsupported(CallboardError, code="SYSTEM_UNSUPPORTED"):
    """This system cannot do it."""


class Unauthenticated(CallboardError, code="UNAUTHENTICATED"):
    """This needs a token: send `Authorization: Bearer TOKEN`, or log in with `callboard open`."""


class Forbidden(CallboardError, code="FORBIDDEN"):
    """This token, host or origin may not do that."""


class PowerNotGranted(Forbidden, code="POWER_NOT_GRANTED"):
    """The owner of this machine has not allowed it there: callboard relay --allow POWERS"""


class HostUnreachable(CallboardError, code="HOST_UNREACHABLE"):
    """This machine can't be reached at the moment. Nothing was done there."""


class HostTimedOut(CallboardError, code="HOST_TIMED_OUT"):
    """This machine didn't answer in time, and may have done it or not."""


class HostFailed(CallboardError, code="HOST_FAILED"):
    """This machine could not do it."""


class TooLarge(CallboardError, code="TOO_LARGE"):
    """The request body is too large."""


class TooManyFailures(CallboardError, code="TOO_MANY_FAILURES"):
    """Too many failed attempts. Wait before you try again."""


class Overloaded(CallboardError, code="OVERLOADED"):
    """The server is too busy for this now; try again in a moment."""


class ServerUnreachable(CallboardError, code="SERVER_UNREACHABLE"):
    """Can't reach the server. Start one: callboard serve FILE"""


class ServerFailed(CallboardError, code="INTERNAL_ERROR"):
    """Unexpected server error; see the server's log."""


class StoreError(CallboardError, code="STORE_ERROR"):
    """The database operation failed; nothing was written."""


class StoreBusy(StoreError, code="STORE_BUSY"):
    """The database is locked by another process."""


class StoreFull(StoreError, code="STORE_FULL"):
    """The disk is full; nothing was written and nothing is lost."""


class StoreCorrupt(StoreError, code="STORE_CORRUPT"):
    """The database is damaged."""


class StoreTooNew(StoreError, code="STORE_TOO_NEW"):
    """The database was written by a newer Callboard."""


class StoreForeign(StoreError, code="STORE_FOREIGN"):
    """The file is a database, but not one of Callboard's."""


class Unwound(BaseException):
    """Unwinds a waiting agent; not an Exception, so that `except Exception` does not catch it.

    The agent runs again when its question is answered; what it already asked, and did with
    `ctx.once`, is then read from the log.
    """


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
