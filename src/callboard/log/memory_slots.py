"""The slots of limits in memory."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from callboard.errors import StoreError
from callboard.events.limits import AgentLimit, AgentSlot
from callboard.log.slots import LISTED, NO_ONE, OwnRows, SlotCount, SlotRow, described


@dataclass(slots=True)
class SharedSlots:
    """The rows of all handles, each with its owner, in the order of the queue; and the numbers."""

    rows: dict[str, tuple[str, SlotRow]] = field(default_factory=dict[str, tuple[str, SlotRow]])
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    late: set[str] = field(default_factory=set[str])

    def grant(self, name: str, at: int) -> None:
        """Grant the rows that have waited longest, if there is room."""
        queue = [(id, owner, row) for id, (owner, row) in self.rows.items() if row.name == name]
        waiting = [one for one in queue if one[2].taken_at is None and one[0] not in self.late]
        number = self.numbers.get(name)
        taken = sum(one[2].taken_at is not None for one in queue)
        room = None if number is None else max(number - taken, 0)
        for id, owner, row in islice(waiting, room):
            self.rows[id] = (owner, row._replace(taken_at=at))

    def kept(self, session: str | None = None) -> list[SlotRow]:
        """The rows that belong to no one."""
        rows = [row for owner, row in self.rows.values() if owner == NO_ONE]
        return [row for row in rows if session in (None, row.session)]

    def remove(self, rows: Iterable[SlotRow], at: int) -> None:
        """Remove rows, and grant what is free then."""
        gone = [row for row in rows if self.rows.pop(row.id, None) is not None]
        self.late.difference_update(row.id for row in gone)
        for name in {row.name for row in gone}:
            self.grant(name, at)

    def take_back(self, entering: Sequence[SlotRow], owner: str) -> list[SlotRow]:
        """Give rows that belong to no one to who comes back for them; returns those left over."""
        sessions = {row.session for row in entering}
        kept = {_key(row): row for row in reversed(self.kept()) if row.session in sessions}
        back = {kept[key].id: row for row in entering if (key := _key(row)) in kept}
        self.rows = {
            back[id].id if id in back else id: (owner, row._replace(id=back[id].id))
            if id in back
            else (whose, row)
            for id, (whose, row) in self.rows.items()
        }
        self.late.difference_update(back)
        return [row for row in self.kept() if row.session in sessions]


def _key(row: SlotRow) -> tuple[str, str, str]:
    return row.name, row.session, row.run


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
            if row.id in rows and rows[row.id][0] == self._owner:
                del rows[row.id]
        self._shared.remove(self._shared.take_back(enter, self._owner), at)
        rows = self._shared.rows
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

    async def remove_dead(self, names: Collection[str] | None, at: int) -> bool:
        """Remove the rows of dead owners from these queues; returns whether there were any."""
        dead = [
            row
            for owner, row in self._shared.rows.values()
            if (names is None or row.name in names) and owner not in (*self._living, NO_ONE)
        ]
        self._shared.remove(dead, at)
        if dead:
            self._announce()
        return bool(dead)

    async def keep(self, rows: Sequence[SlotRow], at: int) -> None:
        """Let these rows of this owner belong to no one; add those that are missing."""
        self._check_open()
        for row in rows:
            self._shared.rows[row.id] = (NO_ONE, self._shared.rows.get(row.id, (NO_ONE, row))[1])
        for name in {row.name for row in rows}:
            self._shared.grant(name, at)

    async def due(self, session: str | None, most: int) -> Sequence[tuple[str, int | None]]:
        """Sessions whose rows are granted, and since when; then those whose rows are late."""
        self._check_open()
        kept, late = self._shared.kept(session), self._shared.late
        granted = sorted((row.taken_at, row.session) for row in kept if row.taken_at is not None)
        found = [(session, at) for at, session in granted]
        return [*found, *((row.session, None) for row in kept if row.id in late)][:most]

    async def pass_over(self, granted_until: int, at: int) -> None:
        """Take the slots from rows that were granted at this time or before: they are late."""
        self._check_open()
        late = [
            row
            for row in self._shared.kept()
            if row.taken_at is not None and row.taken_at <= granted_until
        ]
        for row in late:
            self._shared.rows[row.id] = (NO_ONE, row._replace(taken_at=None))
            self._shared.late.add(row.id)
        for name in {row.name for row in late}:
            self._shared.grant(name, at)

    async def leave(self, session: str, at: int) -> bool:
        """Remove the rows of a session; returns whether there were any."""
        self._check_open()
        kept = self._shared.kept(session)
        self._shared.remove(kept, at)
        if kept:
            self._announce()
        return bool(kept)

    async def list(self, session: str | None) -> list[AgentLimit]:
        """Every limit, with the slots of all sessions or of one."""
        self._check_open()
        there = {*self._living, NO_ONE}
        rows = [(o, r) for o, r in self._shared.rows.values() if o in there]
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
