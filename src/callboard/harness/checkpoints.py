"""Where a long session stands, saved now and then: so that another harness can continue with it."""

from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from callboard.harness.folders import Attempt, Folders
from callboard.vendors.claude import launching

_FILE: Final = "checkpoint.json"
_MOST_TRIES: Final = 50


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a session has come: the client's own session, and the seconds that it has taken."""

    session: str
    seconds: float = 0.0


def save(folder: Path, reached: Checkpoint) -> None:
    """Keep it in the place of the one before; a full disk ends no session.

    folder: that of all tries at the question.
    """
    with suppress(OSError):
        Attempt(folder).write_json(_FILE, asdict(reached))


def saved(folders: Folders, question: str) -> Checkpoint | None:
    """What was kept last, if that is a session of this question, and the client still has it."""
    match Attempt(folders.of(question)).read_json(_FILE):
        case {"session": str(session), "seconds": int() | float() as seconds}:
            if session in sessions_of(question):
                return Checkpoint(session, max(0.0, seconds))
        case _:
            pass
    return None


def sessions_of(question: str) -> list[str]:
    """The client's sessions of all tries at a question, oldest first, as far as it has them."""
    tries = (launching.session_id(question, number) for number in range(1, _MOST_TRIES))
    return [one for one in tries if launching.transcript_of(one) is not None]


def forget(folder: Path) -> None:
    """The session is over. A draft may be left of a harness that died as it saved."""
    with suppress(OSError):
        for path in folder.glob(f"*{_FILE}*"):
            path.unlink()
        folder.rmdir()
