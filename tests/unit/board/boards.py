"""A board on a log in memory, with a clock that stands still until something is heard."""

from typing import Any

from callboard.board.plate import Plate
from callboard.board.plate_store import Heard
from callboard.board.plates import Plates
from callboard.events.envelope import Event
from callboard.events.event_name import Entry
from callboard.events.rows import Query
from callboard.interactions.records import Interaction, interaction
from callboard.log.memory import MemoryLog
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.agents import VENDORS
from callboard.vendors.reports import Report

SESSION = "s1"


class Board:
    """Hears payloads and signals, each a tenth of a second after the one before."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.log = MemoryLog(project, self.clock)
        self.plates = Plates(self.log, self.clock)

    async def hear(self, report: Report, *, after: float = 0.1) -> Plate:
        return (await self.heard(report, after=after)).plate

    async def heard(self, report: Report, *, after: float = 0.1) -> Heard:
        self.clock.skip(after)
        return await self.plates.hear(report)

    async def payload(self, agent: str, payload: Any, *, hold: str | None = None) -> Plate:
        if hold is not None:
            payload = {**payload, "callboard": {"hold": hold}}
        report = VENDORS[agent].translate(payload)
        assert report is not None
        return await self.hear(report)

    async def tell(
        self, name: str, *, session: str = SESSION, at_ms: int | None = None, **details: Any
    ) -> Plate:
        return await self.hear(Report("claude", session, (Entry(name, details),), at_ms=at_ms))

    async def events(self, plate: Plate) -> list[Event]:
        return await self.log.read(plate.plate_id)

    async def interaction(self, id: str) -> Interaction:
        (row,) = await self.log.rows(Query("human_interactions", {"id": id}))
        return interaction(row, self.clock.now_ms())
