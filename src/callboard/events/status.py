"""The seven words for how a session stands, as one function for every surface."""

from typing import Final, Literal

Status = Literal["pending", "running", "waiting", "paused", "completed", "failed", "cancelled"]

ENDED: Final = ("completed", "failed", "cancelled")
"""Those from which no session continues."""


def status_of(*, ended: str | None, paused: bool, questions: int, entered: bool) -> Status:
    """How a session stands, from the four facts that decide it.

    `waiting` means that a person is needed, also while other parts of the session still run;
    `paused` outranks it, because an answer would be recorded and not acted on.
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
