"""Which machine an agent is on, and whether that can be reached. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from callboard.board.plate import Plate
from callboard.board.relay_hosts import RelayHost
from callboard.tui.text import one_line


@dataclass(frozen=True, slots=True)
class Place:
    """The machine of an agent.

    label: its name, if the board has agents on several; otherwise empty. lost_at_ms: when it was
    last seen, if it can't be reached: what the board shows is from then.
    """

    name: str = ""
    label: str = ""
    lost_at_ms: int | None = None

    @property
    def is_lost(self) -> bool:
        """Whether it can't be reached."""
        return self.lost_at_ms is not None


HERE: Final = Place()

ANSWERS_WAIT: Final = "Answers are delivered when it's back, if the agent is still waiting."
"""What happens to an answer while its agent's machine can't be reached."""


def unreachable(ago: str) -> str:
    """That a machine can't be reached, and since when: `3 min ago`."""
    return f"Unreachable · last seen {ago}"


def whereabouts(plates: Iterable[Plate], hosts: Iterable[RelayHost]) -> dict[str, Place]:
    """The place of each plate, by the plate's id."""
    found = list(plates)
    several = len({plate.host for plate in found}) > 1
    lost = {one.id: one.seen_at for one in hosts if not one.connected}
    return {
        plate.plate_id: Place(
            name := one_line(plate.host_name),
            name if several else "",
            lost.get(plate.host) if plate.status != "closed" else None,
        )
        for plate in found
    }
