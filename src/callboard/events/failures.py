"""An exception as events describe it."""

from typing import Final, NotRequired, TypedDict, cast

from callboard.errors import AgentError, CallboardError


class ErrorDescription(TypedDict):
    """An error, as events record it. Other keys, such as `sessionId`, depend on the code."""

    code: str
    message: str
    type: NotRequired[str]
    """The name of the exception's type."""
    phase: NotRequired[str]
    """The phase in which the workflow failed."""
    where: NotRequired[str]
    """The function that raised it."""
    traceback: NotRequired[str]
    """Where it was raised: the lines in the workflow's own files, as Python prints them."""


UNKNOWN_ERROR: Final[ErrorDescription] = {"code": AgentError.code, "message": "Unknown error"}
"""For a failure that was recorded without an error."""


def describe(error: BaseException) -> ErrorDescription:
    """Any exception as the `error` of an event: code, message, and the name of its type."""
    if isinstance(error, CallboardError):
        described = {**error.as_payload(), "type": type(error).__name__}
        return cast("ErrorDescription", described)  # It may have more keys.
    message = str(error) or type(error).__name__
    return {"code": AgentError.code, "message": message, "type": type(error).__name__}
