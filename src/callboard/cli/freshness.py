"""How current a command's view of coding agents is. Without a server, hooks wait in the spool: what
can be read quickly is read, and the rest is mentioned.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.board.hook_backlog import HookBacklog
from callboard.board.hook_folders import hooks_folder, spool_folder
from callboard.board.intake import Listener
from callboard.board.plate import Plate
from callboard.board.plates import Plates
from callboard.board.protocol import Board
from callboard.board.spool.drain import SpoolDrain
from callboard.board.spool.files import Spool
from callboard.cli.format import ago
from callboard.cli.targets import Database, Target
from callboard.clock import Clock
from callboard.display.amounts import counted
from callboard.errors import StoreError
from callboard.events.moments import from_ms
from callboard.log.presence import is_served

_PATIENCE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Freshness:
    """is_watched: a server follows the agents. backlog: what isn't shown yet."""

    is_watched: bool
    backlog: HookBacklog

    def notes(self, place: Target, plates: Sequence[Plate], now_ms: int) -> Iterator[str]:
        """What a person has to know about the output."""
        if self.backlog.hooks:
            reports = counted(self.backlog.hooks, "report")
            oldest = ago(from_ms(self.backlog.oldest_at or now_ms), from_ms(now_ms))
            yield f"{reports} from coding agents not shown yet; the oldest arrived {oldest}."
        if not self.is_watched and any(plate.status != "closed" for plate in plates):
            start = place.command("serve")
            yield f"No server is running, so agents that ended may still be listed. Start: {start}"


async def freshness(place: Target, board: Board) -> Freshness:
    """Read the spool if no server does; returns how current the board is then."""
    is_watched = not isinstance(place, Database) or is_served(place.path)
    if isinstance(place, Database) and isinstance(board.plates, Plates) and not is_watched:
        await _read_spool(hooks_folder(place.path), board.plates, board.clock)
    return Freshness(is_watched, await board.plates.backlog())


async def _read_spool(hooks: Path, plates: Plates, clock: Clock) -> None:
    if not spool_folder(hooks).is_dir():
        return
    drain = SpoolDrain(Spool(hooks, clock), Listener(plates, clock.now_ms), clock)
    try:
        await drain.catch_up(_PATIENCE)
    except StoreError:
        pass  # What wasn't read is in the backlog.
    finally:
        await drain.close()
