"""The seven statuses of a session, as one function for every surface."""

from typing import Final, Literal

Status = Literal["pending", "running", "waiting", "paused", "completed", "failed", "cancelled"]

ENDED: Final = ("completed", "failed", "cancelled")
"""The statuses of sessions that have ended."""


def status_of(*, ended: str | None, paused: bool, questions: int, entered: bool) -> Status:
    """A session's status, from the four facts that determine it.

    `waiting` means that a person is needed, even while other parts of the session still run.
    `paused` takes precedence, because an answer would be recorded but not acted on.
    """
    match ended:
        case "completed" | "failed" | "cancelled":
            return ended
        case _:
            pass
    if paused:
        return "paused"
    if questions:
        return "waiting"
    return "running" if entered else "pending"
