"""Payloads that hooks left when no server took them: read in order, each by only one server.

A file is claimed by renaming it into our own folder; only one rename succeeds. A dead process
leaves its claims behind, and another takes them over. If there are several servers, one reads at a
time, until everything that it took is done or returned. Nothing in the spool may block it: what is
not a payload is set aside.
"""

import logging
import os
import re
import stat
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from callboard.board.hook_folders import full_marker, make_folders, spool_folder
from callboard.board.late_hook import LateHook
from callboard.board.spool.claims import Claims, Room, SpoolTurn
from callboard.board.spool.rejects import Rejects
from callboard.clock import Clock
from callboard.courier.delivery import LOST, MOST_BYTES, MOST_SPOOLED, is_agent
from callboard.courier.letters import LARGEST
from callboard.disk.files import BINARY, CLOEXEC, NOFOLLOW, NONBLOCK
from callboard.disk.private import open_private
from callboard.errors import StoreError
from callboard.ids import short_id

_log = logging.getLogger(__name__)

AT_ONCE: Final = 16 * 1024 * 1024
"""How many bytes to have in memory at once, plus one file."""
TOO_LARGE: Final = 2 * LARGEST
"""A larger file, in bytes, is not a usable payload."""
OLD_MS: Final = 10 * 60_000
"""A file that has been incomplete for this long will never be completed."""

_CLAIMED: Final = "claimed"
_REJECTED: Final = "rejected"
_READ: Final = os.O_RDONLY | NOFOLLOW | NONBLOCK | CLOEXEC | BINARY
_LOOK_FOR_DEAD_EVERY: Final = 5.0
_GIVEN_BACK: Final = re.compile(r"\.[0-9a-z]{8}[-=]$")
_MAYBE_HEARD: Final = "=.json"
_PID: Final = re.compile("[0-9]{1,10}")
_HOST: Final = re.compile(r"\.host-((?:[0-9a-f]{2})+)\.")
_PARTS: Final = 4
"""An agent, a process, something to make the name unique, and `json`."""


@dataclass(frozen=True, slots=True)
class Spooled:
    """One payload from the spool."""

    hook: LateHook
    name: str
    _claim: Path = field(repr=False)
    _spool: "Spool" = field(repr=False)

    # What can't be moved or removed stays claimed until we exit and another process takes it over.

    def done(self) -> None:
        """It was recorded: remove it."""
        self._spool.leave(self._claim, lambda claim: claim.unlink(missing_ok=True))

    def reject(self) -> None:
        """It can never be recorded: set it aside."""
        self._spool.leave(self._claim, self._spool.reject)

    def move(self, there: Path) -> None:
        """Take it out of the spool, with its time; OSError if that fails, and it stays claimed."""
        self._claim.rename(there)
        self._spool.leave(self._claim, lambda claim: None)

    def give_back(self, *, heard: bool = False) -> None:
        """It was not recorded: let it be read again, by any process.

        heard: it may have been recorded after all.
        """
        # With a name that no hook creates. It keeps its time, and so its place in the order.
        stem = _GIVEN_BACK.sub("", self.name.removesuffix(".json"))
        mark = "=" if heard or self.hook.again else "-"
        there = self._spool.folder / f"{stem}.{short_id(8)}{mark}.json"
        self._spool.leave(self._claim, lambda claim: claim.rename(there), is_back=True)


@dataclass(frozen=True, slots=True)
class _Found:
    at_ns: int
    name: str
    size: int

    @property
    def order(self) -> tuple[int, str]:
        """Where it belongs among the others."""
        return self.at_ns, self.name


@dataclass(slots=True)
class Counted:
    """What became of the files since this server started."""

    taken: int = 0
    rejected: int = 0
    lost: int = 0
    """Hooks that could leave only their name, because the disk was full."""


class Spool:
    """The spool in a hooks folder."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder = spool_folder(folder)
        self.counted = Counted()
        self.hooks = folder
        self._full = full_marker(folder)
        self._clock = clock
        self._claims: Claims | None = None
        self._rejects = Rejects(self.folder / _REJECTED)
        self._turn = SpoolTurn(self.folder / _CLAIMED)
        self._waiting: deque[_Found] = deque()
        self._taken: set[Path] = set()
        self._look_for_dead_at = 0.0

    @property
    def has_some(self) -> bool:
        """Whether to try to take files: there are some, or dead processes are to be checked."""
        if self._waiting or self._clock.monotonic() >= self._look_for_dead_at:
            return True
        try:
            with os.scandir(self.folder) as entries:
                return any(entry.name not in (_CLAIMED, _REJECTED) for entry in entries)
        except OSError:
            return True

    @property
    def is_full(self) -> bool:
        """Whether hooks write nothing until the spool has been read."""
        return self._full.exists()

    def weigh(self) -> None:
        """Tell hooks whether there is room. `take` does that too, but may not be called for hours.

        StoreError if the spool can't be read.
        """
        try:
            self._look()
        except OSError as error:
            raise self._unreadable(error) from error

    def take(self, limit: int) -> list[Spooled]:
        """Claim up to `limit` payloads, oldest first. Those of dead processes come first.

        Empty while another server is reading.
        """
        taken: list[Spooled] = []
        try:
            claims = self._opened()
            if self._turn.take():
                self._fill(claims, Room(limit, AT_ONCE), taken)
        except OSError as error:
            for one in taken:
                one.give_back()
            self._pass_on()
            raise self._unreadable(error) from error
        self._pass_on()
        self.counted.taken += len(taken)
        return taken

    def leave(self, claim: Path, move: Callable[[Path], object], *, is_back: bool = False) -> None:
        """Release something that was taken, and move it where it belongs."""
        with suppress(OSError):
            move(claim)
        self._taken.discard(claim)
        if is_back:
            # It is older than everything that waits.
            self._waiting.clear()
        self._pass_on()

    def reject(self, path: Path) -> None:
        """Set something aside that is not a payload."""
        if self._rejects.take(path):
            self.counted.rejected += 1

    def close(self) -> None:
        """Leave; what was taken and is not done is left to others."""
        if self._claims is not None:
            self._claims.close()
            self._claims = None
        self._waiting.clear()
        self._taken.clear()
        self._turn.give()

    def _unreadable(self, error: OSError) -> StoreError:
        why = error.strerror or error
        return StoreError(f"{self.folder} cannot be read: {why}.", path=str(self.folder))

    def _pass_on(self) -> None:
        """Let others take their turn once everything that we have taken or seen is done."""
        if not self._taken and not self._waiting:
            self._turn.give()

    def _opened(self) -> Claims:
        if self._claims is None or not self._claims.is_there:
            self.close()
            make_folders(self.hooks)
            self._claims = Claims(self.folder / _CLAIMED)
            self._look_for_dead_at = 0.0
        return self._claims

    def _fill(self, claims: Claims, room: Room, taken: list[Spooled]) -> None:
        if not self._waiting:
            self._waiting.extend(self._look())
        self._take_over(claims, room, taken)
        while room.is_left and (one := self._next(claims)) is not None:
            room.fill(len(one.hook.body))
            taken.append(one)

    def _take_over(self, claims: Claims, room: Room, taken: list[Spooled]) -> None:
        now = self._clock.monotonic()
        # What dead processes had is older than everything that waits, so it goes first.
        if now < self._look_for_dead_at and not self._waiting:
            return
        left = claims.take_over(room)
        self._look_for_dead_at = now + (_LOOK_FOR_DEAD_EVERY if room.is_left else 0.0)
        for claim, name in left:
            one = self._read(claim, name, again=True)
            taken += [] if one is None else [one]
        taken.sort(key=lambda one: one.hook.at_ms)

    def _next(self, claims: Claims) -> Spooled | None:
        """The oldest remaining file; if all that we saw are gone, look again."""
        if not self._waiting:
            self._waiting.extend(self._look())
        while self._waiting:
            found = self._waiting.popleft()
            claim = claims.claim(self.folder / found.name, found.name)
            if claim is not None and (one := self._read(claim, found.name)) is not None:
                return one
        return None

    def _look(self) -> list[_Found]:
        found = self._scan()
        if found:
            # A scan may miss a file that is written meanwhile, and have one that was written after
            # it. The next scan has everything that is older than what this one has.
            last = found[-1].order
            found = [one for one in self._scan() if one.order <= last]
        self._mark(len(found), sum(one.size for one in found))
        return found

    def _scan(self) -> list[_Found]:
        found: list[_Found] = []
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name not in (_CLAIMED, _REJECTED, self._full.name):
                    one = self._judge(entry)
                    found += [one] if one is not None else []
        return sorted(found, key=lambda one: one.order)

    def _judge(self, entry: os.DirEntry[str]) -> _Found | None:
        """A file that can be a payload; anything else is set aside if it is complete or old."""
        try:
            told = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        is_file = stat.S_ISREG(told.st_mode)
        if is_file and entry.name.endswith(LOST):
            self._count_lost(Path(entry.path))
            return None
        if is_file and not entry.name.endswith(".json"):
            if self._clock.now_ms() - told.st_mtime_ns // 1_000_000 > OLD_MS:
                self.reject(Path(entry.path))
            return None
        if not is_file or told.st_size > TOO_LARGE or _parsed(entry.name) is None:
            self.reject(Path(entry.path))
            return None
        return _Found(told.st_mtime_ns, entry.name, told.st_size)

    def _count_lost(self, path: Path) -> None:
        with suppress(OSError):
            path.unlink()
            self.counted.lost += 1
            _log.error(
                "A hook of %s was lost: the disk was full, and no server took it",
                path.name.partition(".")[0],
            )

    def _read(self, claim: Path, name: str, *, again: bool = False) -> Spooled | None:
        sender = _parsed(name)
        try:
            with os.fdopen(os.open(claim, _READ), "rb") as file:
                told = os.fstat(file.fileno())
                payload = file.read(TOO_LARGE + 1) if stat.S_ISREG(told.st_mode) else None
        except FileNotFoundError:
            return None
        except OSError:
            payload, told = None, None
        if sender is None or payload is None or told is None or len(payload) > TOO_LARGE:
            self.reject(claim)
            return None
        agent, pid = sender
        at_ms = told.st_mtime_ns // 1_000_000
        again = again or name.endswith(_MAYBE_HEARD)
        self._taken.add(claim)
        hook = LateHook(agent, payload, at_ms, pid, again, _host_in(name))
        return Spooled(hook, name, claim, self)

    def _mark(self, files: int, size: int) -> None:
        """Tell hooks to stop writing, or that they may write again."""
        with suppress(OSError):
            if files >= MOST_SPOOLED or size >= MOST_BYTES:
                os.close(open_private(self._full))
            elif files <= MOST_SPOOLED // 2 and size <= MOST_BYTES // 2:
                self._full.unlink(missing_ok=True)


def host_part(host: str | None) -> str:
    """The part of a file's name that says which host its sender's token is limited to."""
    # In hexadecimal, because a host may have any name, and the parts are separated by dots.
    return "" if host is None else f".host-{host.encode().hex()}"


def _host_in(name: str) -> str | None:
    found = _HOST.search(name)
    return None if found is None else bytes.fromhex(found[1]).decode(errors="replace")


def _parsed(name: str) -> tuple[str, int | None] | None:
    """The agent and its process, from a file name."""
    parts = name.split(".")
    if len(parts) < _PARTS or not is_agent(parts[0]) or not _PID.fullmatch(parts[1]):
        return None
    return parts[0], int(parts[1]) or None
