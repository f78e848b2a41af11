"""What harnesses that died have left: decisions that nobody recorded."""

from collections.abc import Callable
from contextlib import suppress

from callboard.board.processes import is_alive
from callboard.errors import CallboardError
from callboard.harness.claims import Harness
from callboard.harness.folders import Attempt, Folders
from callboard.harness.ports import Desk
from callboard.harness.recording import Record, recorded
from callboard.interactions.records import Interaction


async def record_leftovers(
    desk: Desk, folders: Folders, tell: Callable[[str], None]
) -> list[Interaction]:
    """Record what was decided, and clear away the rest; gives what was recorded."""
    found: list[Interaction] = []
    for attempt in list(folders.all()):
        if is_in_use(attempt):
            continue
        record, asked = _left(attempt), attempt.asked
        if record is not None and asked is not None:
            try:
                found.append(await recorded(desk, asked.id, record, tell))
            except CallboardError as error:
                tell(error.message)
                continue  # It is kept, and tried again.
        attempt.remove()
    return found


def is_in_use(attempt: Attempt) -> bool:
    """Whether its harness or its agent lives: one may outlive the other for a moment."""
    told = attempt.read_json("harness.json")
    if told is None:
        return False
    with suppress(KeyError, TypeError):
        harness = Harness(told["pid"], told["start"], told["host"])
        if not harness.is_dead:
            return True
        agent = attempt.read_json("agent.json") or {}
        return "pid" in agent and is_alive(agent["pid"], agent["start"])
    return False


def _left(attempt: Attempt) -> Record | None:
    ending, decision = attempt.read_json("ending.json"), attempt.decision
    if ending is not None:
        return Record.from_json(ending)
    return None if decision is None else Record("completed", decision["decision"])
