"""Notify other processes that something was committed.

A datagram to a socket next to the database takes well under a millisecond. It carries no data and
may get lost, so listeners also poll from time to time.
"""

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from callboard.disk.files import CLOEXEC, DIRECTORY, OPENS_FOLDERS
from callboard.log.owners import Owners
from callboard.systems.open_files import short_folder

_LONGEST_ADDRESS = 100
"""The kernel accepts 108 bytes on Linux and 104 on macOS."""

_FULL = (errno.EAGAIN, errno.EWOULDBLOCK, errno.ENOBUFS)
"""The errors for a listener that has notifications waiting; macOS reports the last one."""

_TICK_MS = 50
"""A folder's modification time is only as precise as the kernel's tick. This is well above it."""


class Doorbell:
    """Notifies every other handle on the database, and gets notified by them."""

    def __init__(self, owners: Owners, now_ms: Callable[[], int]) -> None:
        self._owners = owners
        self._now_ms = now_ms
        self._folder = -1
        if OPENS_FOLDERS:
            self._folder = os.open(owners.folder, os.O_RDONLY | DIRECTORY | CLOEXEC)
        self._short: str | None = None
        self._sender = _socket() if OPENS_FOLDERS else None
        self._ear: socket.socket | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._peers: list[str] = []
        self._listed_at = -1

    def ring(self) -> None:
        """Notify the others; skips those that are gone or already have notifications waiting."""
        if self._sender is None:  # Windows: everyone polls.
            return
        self._look_for_peers()
        for owner in tuple(self._peers):
            try:
                self._sender.sendto(b"!", self._address(self._owners.socket_of(owner)))
            except OSError as error:
                if error.errno in _FULL:
                    continue
                # Nothing listens there: the owner has left, or died without removing its socket.
                self._peers.remove(owner)
                self._owners.alive(owner)

    def _look_for_peers(self) -> None:
        changed_at = os.fstat(self._folder).st_mtime_ns
        if changed_at == self._listed_at:
            return
        listening = [file.stem for file in self._owners.folder.glob("*.sock")]
        self._peers = [owner for owner in listening if owner != self._owners.owner]
        # A socket created within the same tick would go unnoticed, so list again until then.
        settled = self._now_ms() - changed_at // 1_000_000 > _TICK_MS
        self._listed_at = changed_at if settled else -1

    def _address(self, path: Path) -> str:
        if len(os.fsencode(path)) <= _LONGEST_ADDRESS:
            return str(path)
        if self._short is None:
            self._short = short_folder(self._owners.folder, self._folder)
        return f"{self._short}/{path.name}"

    def listen(self, heard: Callable[[], None]) -> None:
        """Call `heard` in the running loop on each notification; never without a socket."""
        self.stop()
        if self._sender is None:
            return
        loop = asyncio.get_running_loop()
        ear = _socket()
        try:
            ear.bind(self._address(self._owners.socket_of(self._owners.owner)))
        except OSError:
            ear.close()
            return
        self._ear, self._loop = ear, loop
        loop.add_reader(ear, self._hear, ear, heard)

    def _hear(self, ear: socket.socket, heard: Callable[[], None]) -> None:
        with suppress(BlockingIOError):
            while True:
                ear.recv(16)
        heard()

    def stop(self) -> None:
        """Stop listening."""
        if self._ear is None or self._loop is None:
            return
        if not self._loop.is_closed():
            self._loop.remove_reader(self._ear)
        self._ear.close()
        self._ear = None
        self._owners.socket_of(self._owners.owner).unlink(missing_ok=True)

    def close(self) -> None:
        """Close sockets and folder."""
        self.stop()
        if self._sender is not None:
            self._sender.close()
            os.close(self._folder)


def _socket() -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made
