"""The slots of limits in memory."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import islice

from callboard.errors import StoreError
from callboard.events.limits import AgentLimit, AgentSlot
from callboard.log.slots import LISTED, OwnRows, SlotCount, SlotRow, described


@dataclass(slots=True)
class SharedSlots:
    """The rows of all handles, each with its owner, in the order of the queue; and the numbers."""

    rows: dict[str, tuple[str, SlotRow]] = field(default_factory=dict[str, tuple[str, SlotRow]])
    numbers: dict[str, int] = field(default_factory=dict[str, int])

    def grant(self, name: str, at: int) -> None:
        """Grant the rows that have waited longest, if there is room."""
        queue = [(id, owner, row) for id, (owner, row) in self.rows.items() if row.name == name]
        waiting = [one for one in queue if one[2].taken_at is None]
        number = self.numbers.get(name)
        room = None if number is None else max(number - (len(queue) - len(waiting)), 0)
        for id, owner, row in islice(waiting, room):
            self.rows[id] = (owner, row._replace(taken_at=at))


class MemorySlots:
    """One handle's view of the slots; `announce` wakes everyone who listens to the log."""

    def __init__(
        self,
        owner: str,
        shared: SharedSlots,
        living: Collection[str],
        announce: Callable[[], None],
    ) -> None:
        self._owner = owner
        self._shared = shared
        self._living = living
        self._announce = announce

    async def change(self, leave: Sequence[SlotRow], enter: Sequence[SlotRow], at: int) -> OwnRows:
        """Remove rows, and add others that aren't there yet, at the end of their queues."""
        self._check_open()
        rows = self._shared.rows
        for row in leave:
            rows.pop(row.id, None)
        for row in enter:
            rows.setdefault(row.id, (self._owner, row))
        for name in {row.name for row in (*leave, *enter)}:
            self._shared.grant(name, at)
        if leave:
            self._announce()
        return await self.own()

    async def own(self) -> OwnRows:
        """The rows of this owner."""
        self._check_open()
        mine = [row for owner, row in self._shared.rows.values() if owner == self._owner]
        return OwnRows(frozenset(row.id for row in mine if row.taken_at is not None), len(mine))

    async def remove_dead(self, names: Collection[str], at: int) -> bool:
        """Remove the rows of dead owners from these queues; returns whether there were any."""
        rows = self._shared.rows
        dead = [
            row for owner, row in rows.values() if row.name in names and owner not in self._living
        ]
        for row in dead:
            del rows[row.id]
        for name in {row.name for row in dead}:
            self._shared.grant(name, at)
        if dead:
            self._announce()
        return bool(dead)

    async def list(self, session: str | None) -> list[AgentLimit]:
        """Every limit, with the slots of all sessions or of one."""
        self._check_open()
        rows = [(o, r) for o, r in self._shared.rows.values() if o in self._living]
        rows.sort(key=lambda one: (one[1].name, one[1].taken_at is None))
        counts = [SlotCount(row.name, owner, row.taken_at is None, 1) for owner, row in rows]
        wanted = (one for one in rows if session in (None, one[1].session))
        slots = [(row.name, _slot(owner, row)) for owner, row in islice(wanted, LISTED)]
        return described(self._shared.numbers, counts, slots, ())

    async def set(self, name: str, number: int | None, at: int) -> None:
        """Change a limit's number; None removes it."""
        self._check_open()
        if number is None:
            self._shared.numbers.pop(name, None)
        else:
            self._shared.numbers[name] = number
        self._shared.grant(name, at)
        self._announce()

    def _check_open(self) -> None:
        if self._owner not in self._living:
            raise StoreError("This log is closed; open it again.")


def _slot(owner: str, row: SlotRow) -> AgentSlot:
    since = row.since if row.taken_at is None else row.taken_at
    return AgentSlot(row.session, row.run, row.taken_at is None, since, owner)
