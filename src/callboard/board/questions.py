"""The questions that plates ask: whose they are, and how they stand."""

from dataclasses import dataclass

from callboard.board.plate import Plate
from callboard.events.rows import Query
from callboard.interactions.kinds import is_from_board
from callboard.interactions.records import Interaction, interaction
from callboard.log.protocol import EventLog


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asked a question: a coding agent by its hook, or something else."""

    stream: str
    session_id: str | None
    by_hook: bool

    def is_session(self, session_id: str | None) -> bool:
        """Whether this session of a coding agent asked it."""
        return self.by_hook and self.session_id == session_id


async def who_asked(log: EventLog, interaction_id: str) -> Asker | None:
    """Who asked this; None when there is no such question."""
    rows = await log.rows(Query("human_interactions", {"id": interaction_id}))
    if not rows:
        return None
    row = rows[0]
    return Asker(row["stream"], row["execution_id"], is_from_board(row["type"]))


async def questions_of(log: EventLog, plate: Plate, now_ms: int) -> dict[str, Interaction]:
    """The questions of a plate whose outcome is not confirmed, by their ids."""
    ids = [one.id for one in (*plate.pending, *plate.unsettled) if one.id is not None]
    if not ids:
        return {}
    rows = await log.rows(Query("human_interactions", one_of=("id", ids)))
    return {row["id"]: interaction(row, now_ms) for row in rows}
