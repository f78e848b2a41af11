"""Who has a database open: each owner holds a lock while its process lives."""

import asyncio
import json
import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from callboard.disk.files import OPENS_FOLDERS
from callboard.disk.locks import hold, is_held
from callboard.events.json_values import Object, as_object, as_text, as_whole
from callboard.ids import short_id
from callboard.log.registry import Description, OwnerInfo

_BEAT_EVERY = 2.0


class Owners:
    """The folder of a database's owners, and this handle's own entry in it."""

    def __init__(
        self,
        folder: Path,
        monotonic: Callable[[], float],
        frozen_after: float = 15.0,
        started_at: int | None = None,
    ) -> None:
        self.folder = folder
        self._started_at = started_at
        # Contains the process id, for people who ask which process drives a session.
        self.owner = f"{os.getpid()}-{short_id(8)}"
        # Several beats before others would consider this handle frozen.
        self.beat_every = min(_BEAT_EVERY, frozen_after / 5)
        self._monotonic = monotonic
        self._frozen_after = frozen_after
        self._watched: dict[str, tuple[int, float]] = {}
        self._lock = hold(self._lock_of(self.owner), self._told(Description()))
        self._sweep()

    def _lock_of(self, owner: str) -> Path:
        return self.folder / f"{owner}.lock"

    def socket_of(self, owner: str) -> Path:
        """The path where an owner listens for commits."""
        return self.folder / f"{owner}.sock"

    def beat(self) -> None:
        """Show that this handle is alive."""
        os.utime(self._lock if OPENS_FOLDERS else self._lock_of(self.owner))

    def alive(self, owner: str) -> bool:
        """Whether an owner holds its lock and has sent a heartbeat recently.

        "Recently" is measured from when we first saw this beat, on a clock that stops while the
        machine sleeps.
        """
        if owner == self.owner:
            return True
        beaten = self._beat_of(owner)
        if beaten is None:
            self._watched.pop(owner, None)
            return False
        now = self._monotonic()
        seen, since = self._watched.get(owner, (None, now))
        if seen != beaten:
            self._watched[owner] = (beaten, now)
            return True
        return now - since < self._frozen_after

    async def has_died(self, owner: str) -> bool:
        """Whether an owner is dead or frozen."""
        return not self.alive(owner)

    def others(self) -> Sequence[str]:
        """The owners of all other open handles."""
        known = [file.stem for file in self.folder.glob("*.lock") if file.stem != self.owner]
        return [other for other in known if self._beat_of(other) is not None]

    def elected(self) -> bool:
        """Every handle is: what the elected one does can be done twice."""
        return True

    async def describe(self, described: Description) -> None:
        """Let others know what this handle can drive: its lock file says so."""
        content = self._told(described)
        os.lseek(self._lock, 0, os.SEEK_SET)
        os.write(self._lock, content)
        os.ftruncate(self._lock, len(content))

    def _told(self, described: Description) -> bytes:
        told = {"workflows": described.to_json(), "engineWorker": described.engine_worker}
        return json.dumps({**told, "startedAt": self._started_at}).encode()

    async def list(self) -> Sequence[OwnerInfo]:
        """Every open handle."""
        return [self._info(owner) for owner in sorted([self.owner, *self.others()])]

    def _info(self, owner: str) -> OwnerInfo:
        told = self._told_by(owner)
        described = Description.from_json(
            as_text(told.get("workflows")) or "[]", as_text(told.get("engineWorker")) or None
        )
        pid = int(owner.partition("-")[0])
        started_at = as_whole(told.get("startedAt")) or None
        host, alive = socket.gethostname(), self.alive(owner)
        return OwnerInfo(owner, host, pid, started_at, alive, described)

    def _told_by(self, owner: str) -> Object:
        try:
            return as_object(json.loads(self._lock_of(owner).read_bytes()))
        except (OSError, ValueError):  # It has left, never said anything, or is just writing.
            return {}

    def _beat_of(self, owner: str) -> int | None:
        """The time of an owner's last heartbeat; None if it died, after removing its files."""
        lock = self._lock_of(owner)
        try:
            if is_held(lock):
                return lock.stat().st_mtime_ns
        except FileNotFoundError:
            return None
        self._remove(owner)
        return None

    def _sweep(self) -> None:
        for file in self.folder.glob("*.lock"):
            if file.stem != self.owner:
                self._beat_of(file.stem)

    def _remove(self, owner: str) -> None:
        for file in (self.socket_of(owner), self._lock_of(owner)):
            file.unlink(missing_ok=True)

    def close(self, *, crashed: bool = False) -> None:
        """Leave: from now on, this owner counts as dead."""
        if not OPENS_FOLDERS:  # Windows removes no file that is open.
            os.close(self._lock)
        if not crashed:
            self._remove(self.owner)
        if OPENS_FOLDERS:
            os.close(self._lock)


class Heartbeat:
    """One timer per open handle, started with its first lease. Doesn't write to the database."""

    def __init__(self, owners: Owners) -> None:
        self._owners = owners
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start beating in the running loop, unless already started."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._beat(loop)

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        self._owners.beat()
        self._timer = loop.call_later(self._owners.beat_every, self._beat, loop)

    def stop(self) -> None:
        """Stop beating."""
        if self._timer is not None:
            self._timer.cancel()
