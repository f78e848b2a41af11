"""Saves the progress of a long session, so that another harness can continue it."""

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
    """A session's progress: the client's own session, and the seconds used so far."""

    session: str
    seconds: float = 0.0


def save(folder: Path, reached: Checkpoint) -> None:
    """Replace the saved checkpoint. A full disk doesn't end the session.

    folder: the one of all attempts at the question.
    """
    with suppress(OSError):
        Attempt(folder).write_json(_FILE, asdict(reached))


def saved(folders: Folders, question: str) -> Checkpoint | None:
    """The last checkpoint, if it belongs to this question and the client still has the session."""
    match Attempt(folders.of(question)).read_json(_FILE):
        case {"session": str(session), "seconds": int() | float() as seconds}:
            if session in sessions_of(question):
                return Checkpoint(session, max(0.0, seconds))
        case _:
            pass
    return None


def sessions_of(question: str) -> list[str]:
    """The client's sessions for all attempts at a question, oldest first, if it still has them."""
    tries = (launching.session_id(question, number) for number in range(1, _MOST_TRIES))
    return [one for one in tries if launching.transcript_of(one) is not None]


def forget(folder: Path) -> None:
    """Remove the checkpoint of a finished session, and a draft left by a harness that died."""
    with suppress(OSError):
        for path in folder.glob(f"*{_FILE}*"):
            path.unlink()
        folder.rmdir()
