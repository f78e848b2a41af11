"""How a session stands: gathered from the board, and told on a screen."""

from callboard.cli.places import Board, Place
from callboard.cli.reasons import Reason, Situation, reason
from callboard.cli.screen import Screen
from callboard.events import names


async def situation(board: Board, place: Place, session_id: str) -> Situation:
    """Everything that `reason` wants to know of a session."""
    info = await board.session(session_id)
    pause = None
    if info.status == "paused":
        events = await board.events(session_id)
        pause = next((e for e in reversed(events) if e.name == names.PAUSED), None)
    return Situation(
        info=info,
        view=await board.view(session_id),
        lease=await board.lease(session_id),
        pause=pause,
        now_ms=board.clock.now_ms(),
        command=place.command,
        watched=place.drives(info.workflow),
    )


async def reason_now(board: Board, place: Place, session_id: str) -> Reason:
    """Why a session stands where it stands."""
    return reason(await situation(board, place, session_id))


def tell_ways(screen: Screen, why: Reason) -> None:
    """Print what can be done, each with its exact commands."""
    for way in why.ways:
        screen.line(f"  {way.purpose}")
        for command in way.commands:
            screen.line("    ", (command, "command"))
