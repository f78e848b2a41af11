"""Record the end of a session once, even if the server goes away in between."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Final

from callboard.board.question_protocols import Questions
from callboard.errors import (
    AlreadyAnswered,
    InteractionClosed,
    ServerFailed,
    ServerUnreachable,
    StoreError,
    TooLarge,
    ValidationError,
)
from callboard.events.envelope import Json
from callboard.interactions.records import Interaction

VIA: Final = "attend"

_TRY_AGAIN: Final = 1.0
_PASSING: Final = (ServerUnreachable, ServerFailed, StoreError)


@dataclass(frozen=True, slots=True)
class EndRecord:
    """What to record about a session."""

    outcome: str
    response: Json = None
    error: str | None = None
    duration_ms: int | None = None
    transcript: str | None = None
    by: str | None = None


async def recorded(
    desk: Questions, interaction_id: str, record: EndRecord, tell: Callable[[str], None]
) -> Interaction:
    """Record it, retrying until it is done; returns the question as it is then.

    Someone else may have closed it; the first end counts.
    """
    told = False
    while True:
        try:
            return await desk.complete(interaction_id, **asdict(record), via=VIA)
        except _PASSING as error:
            if not told:
                tell(f"{error.message} Your decision is saved and will be recorded later.")
            told = True
            await asyncio.sleep(_TRY_AGAIN)
        except (AlreadyAnswered, InteractionClosed):
            return await desk.get(interaction_id)
        except (TooLarge, ValidationError) as error:
            record = _lesser(record, error)


def _lesser(record: EndRecord, refused: TooLarge | ValidationError) -> EndRecord:
    """What to record instead of what was refused; raises the refusal if nothing is left to drop."""
    if isinstance(refused, TooLarge) and record.transcript is not None:
        return replace(record, transcript=None)
    if record.outcome == "failed" or refused.context.get("field") == "by":
        raise refused
    return replace(record, outcome="failed", response=None, error=refused.message)
