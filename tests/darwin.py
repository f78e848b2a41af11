"""A Mac's C library and its kqueue, as far as Callboard calls them, filled from Linux's /proc.

The structures are those of `sys/proc_info.h`, byte by byte, so that what reads them is tested; none
of this has run on a Mac.
"""

import ctypes
import errno
import os
import select
import struct
import time
from pathlib import Path
from typing import Any

BOOT = "6F0F4A32-0E0A-4B0B-9C0D-0123456789AB"

_TICKS = os.sysconf("SC_CLK_TCK")
_TCP_STATES = {1: 4, 2: 2, 3: 3, 4: 6, 5: 9, 6: 10, 7: 0, 8: 5, 9: 8, 10: 1, 11: 7}
"""Linux's number of a TCP state, and the Mac's."""
_VALID_FOR = 0.1
"""Seconds for which a table of sockets is used again."""


def process_record(
    pid: int, parent: int, user: int, start: tuple[int, int], *, flags: int = 0x4010
) -> bytes:
    """A `struct proc_bsdinfo`."""
    words = [flags, 2, 0, pid, parent, user, 20, user, 20, user, 20, 0]
    names = [b"claude".ljust(16, b"\0"), b"claude".ljust(32, b"\0")]
    return struct.pack("=12I16s32s6I2Q", *words, *names, 14, pid, 1, 0, 0, 0, *start)


def socket_record(number: int, local: tuple[bytes, int], peer: tuple[bytes, int], state: int):
    """A `struct socket_fdinfo` of a TCP socket. Addresses have 4 or 16 bytes."""
    record = bytearray(792)
    struct.pack_into("=Q", record, 24 + 136, number)
    struct.pack_into("=3i", record, 24 + 152, 1, 6, 2 if len(local[0]) == 4 else 30)
    struct.pack_into("=i", record, 24 + 232, 2)
    family = 1 if len(local[0]) == 4 else 2
    ports = [int.from_bytes(struct.pack("!H", port), "little") for port in (peer[1], local[1])]
    struct.pack_into("=2i", record, 264, *ports)
    struct.pack_into("=B", record, 264 + 24, family)
    record[264 + 32 : 264 + 48] = peer[0].rjust(16, b"\0")
    record[264 + 48 : 264 + 64] = local[0].rjust(16, b"\0")
    struct.pack_into("=i", record, 264 + 80, state)
    return bytes(record)


class FakeCalls:
    """The functions of libproc, and `sysctlbyname`. `user` may see only its own processes."""

    def __init__(self, user: int | None = None) -> None:
        self.user = os.geteuid() if user is None else user

    def proc_listpids(self, kind: int, which: int, into: Any, size: int) -> int:
        found = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdecimal()]
        of_user = [pid for pid in found if kind == 1 or _user(pid) == which]
        return _give(struct.pack(f"={len(of_user)}i", *of_user), into, size)

    def proc_pidinfo(self, pid: int, flavor: int, argument: Any, into: Any, size: int) -> int:
        fields = _stat(pid)
        if not fields or fields[0] in ("Z", "X"):
            return _fail(errno.ESRCH)
        user = _user(pid)
        if self.user not in (0, user):
            return _fail(errno.EPERM)
        if flavor == 3:
            start = divmod(int(fields[19]) * 1_000_000 // _TICKS, 1_000_000)
            return _give(process_record(pid, int(fields[1]), user or 0, start), into, size)
        assert flavor == 1
        files = [(int(one.name), _inode(one)) for one in _folder(pid)]
        packed = (struct.pack("=iI", file, 1 if inode is None else 2) for file, inode in files)
        return _give(b"".join(packed), into, size)

    def proc_pidfdinfo(self, pid: int, file: int, flavor: int, into: Any, size: int) -> int:
        assert (flavor, size) == (3, 792)
        inode = _inode(Path(f"/proc/{pid}/fd/{file}"))
        found = None if inode is None else _TABLES.find(inode)
        if inode is None:
            return _fail(errno.EBADF)
        return _give(bytes(792) if found is None else found, into, size)

    def sysctlbyname(self, name: bytes, into: Any, size: Any, new: object, length: int) -> int:
        if name != b"kern.bootsessionuuid":
            return _fail(errno.ENOENT) or -1
        ctypes.memmove(into, BOOT.encode() + b"\0", len(BOOT) + 1)
        return 0


def _give(data: bytes, into: Any, size: int) -> int:
    if into is None:
        return len(data)
    given = data[:size]
    ctypes.memmove(into, given, len(given))
    return len(given)


def _fail(number: int) -> int:
    ctypes.set_errno(number)
    return 0


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _user(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None


def _folder(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return []


def _inode(file: Path) -> int | None:
    try:
        kind, _, number = str(file.readlink()).partition(":")
    except OSError:
        return None
    return int(number.strip("[]")) if kind == "socket" else None


class Tables:
    """The records of all TCP sockets. Reading them for each file would take seconds on CI."""

    def __init__(self) -> None:
        self._read_at = float("-inf")
        self._records: dict[int, bytes] = {}
        self._others = set[int]()
        """Sockets that are not TCP. Their numbers are not used again for long."""

    def find(self, inode: int) -> bytes | None:
        """The record of a socket; None if it is not TCP."""
        is_old = time.monotonic() - self._read_at > _VALID_FOR
        if inode not in self._others and (is_old or inode not in self._records):
            self._read()
            if inode not in self._records:
                self._others.add(inode)
        return self._records.get(inode)

    def _read(self) -> None:
        rows = [
            line.split()
            for table in ("tcp", "tcp6")
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        ]
        self._records = {int(row[9]): _record(row) for row in rows if row[9] != "0"}
        lines = Path("/proc/net/unix").read_text().splitlines()[1:]
        self._others |= {int(line.split()[6]) for line in lines}
        self._read_at = time.monotonic()


_TABLES = Tables()


def _record(row: list[str]) -> bytes:
    state = _TCP_STATES.get(int(row[3], 16), 0)
    return socket_record(int(row[9]), _address(row[1]), _address(row[2]), state)


def _address(text: str) -> tuple[bytes, int]:
    host, _, port = text.partition(":")
    words = [int(host[at : at + 8], 16) for at in range(0, len(host), 8)]
    return struct.pack(f"={len(words)}I", *words), int(port, 16)


class FakeQueue:
    """A kqueue that notes the end of one process."""

    def __init__(self) -> None:
        self._watched: list[int] = []

    def control(self, changes: Any, most: int, timeout: float) -> list[object]:
        for ident in changes or ():
            self._watched.append(os.pidfd_open(ident))
        ended = select.select(self._watched, [], [], timeout)[0] if most else []
        return list(ended)

    def close(self) -> None:
        for one in self._watched:
            os.close(one)


class FakeQueues:
    """The part of `select` that a Mac has."""

    KQ_FILTER_PROC = -5
    KQ_NOTE_EXIT = 0x80000000
    KQ_EV_ADD = 1

    def kqueue(self) -> FakeQueue:
        return FakeQueue()

    def kevent(self, ident: int, /, filter: int, flags: int, fflags: int) -> object:  # noqa: A002
        assert (filter, flags, fflags) == (-5, 1, 0x80000000)
        return ident
