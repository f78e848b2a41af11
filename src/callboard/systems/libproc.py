"""Calls of macOS's C library about processes and their sockets, as `sys/proc_info.h` lays them out.

No call here needs root for processes of one's own user. Loading the library needs no Mac: a test
passes an object with the same functions.
"""

import ctypes
import errno
import functools
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

from callboard.systems.sockets import IPV4_MAPPED, Ends

_ALL_PIDS: Final = 1
_OF_USER: Final = 4
_FILES: Final = 1
_FACTS: Final = 3
_SOCKET: Final = 3
_IS_SOCKET: Final = 2
_IS_TCP: Final = 2
_LISTENS: Final = 1
_IPV4: Final = 1

# struct proc_bsdinfo: twelve words (flags, status, …, the fourth is the parent, the fifth the
# user), two names, six words, and the start in seconds and microseconds.
_PROCESS: Final = struct.Struct("=12I16s32s6I2Q")
_IN_EXIT: Final = 0x4
_PID: Final = struct.Struct("=i")
_FILE: Final = struct.Struct("=iI")
_SOCKET_SIZE: Final = 792
# struct socket_fdinfo: behind a file's 24 bytes and a stat's 136 comes the socket's own number; the
# kind at 256 says that what follows is struct tcp_sockinfo.
_NUMBER: Final = struct.Struct("=160x Q")
_KIND: Final = struct.Struct("=256x i")
_TCP: Final = struct.Struct("=264x 2i 16x B 7x 16s 16s 16x i")
_MORE: Final = 32
"""Room for what was started or opened since the size was asked for."""


class NativeCalls(Protocol):
    """The functions of the C library, with its types: 0 or less means an error, in `errno`."""

    def proc_listpids(self, kind: int, which: int, into: object, size: int, /) -> int:
        """Fill in the ids of processes; returns how many bytes they take."""
        ...

    def proc_pidinfo(
        self, pid: int, flavor: int, argument: object, into: object, size: int, /
    ) -> int:
        """Fill in facts about a process, or its open files; returns the bytes that they take."""
        ...

    def proc_pidfdinfo(self, pid: int, file: int, flavor: int, into: object, size: int, /) -> int:
        """Fill in facts about an open file of a process; returns the bytes that they take."""
        ...

    def sysctlbyname(
        self, name: bytes, into: object, size: object, new: object, length: int, /
    ) -> int:
        """Fill in what the system knows by a name; returns 0 if it knows it."""
        ...


class ProcessFacts(NamedTuple):
    """What the system knows about a process. start: seconds and microseconds, as text."""

    start: str
    parent: int
    user: int


class TcpSocket(NamedTuple):
    """An open TCP socket of a process."""

    pid: int
    file: int
    number: int
    is_listening: bool
    port: int
    peer_port: int
    host: bytes
    peer_host: bytes

    def is_client_of(self, ends: Ends) -> bool:
        """Whether it is the client's end of a connection."""
        if (self.port, self.peer_port) != (ends.client[1], ends.server[1]):
            return False
        return (self.host, self.peer_host) == ends.packed()


class Libproc:
    """Processes and sockets, through the C library."""

    def __init__(self, calls: NativeCalls) -> None:
        self._calls = calls

    def facts(self, pid: int) -> ProcessFacts | None:
        """A process's start, parent and user; None if it has ended or belongs to another user."""
        into = ctypes.create_string_buffer(_PROCESS.size)
        size = self._calls.proc_pidinfo(pid, _FACTS, ctypes.c_uint64(0), into, _PROCESS.size)
        if size != _PROCESS.size:
            return None
        fields = _PROCESS.unpack(into.raw)
        if fields[0] & _IN_EXIT:
            return None
        return ProcessFacts(f"{fields[-2]}.{fields[-1]:06}", fields[4], fields[5])

    def pids(self, user: int | None = None) -> list[int]:
        """The ids of all processes, or of a user's."""
        kind, which = (_ALL_PIDS, 0) if user is None else (_OF_USER, user)

        def ask(into: object, size: int) -> int:
            return self._calls.proc_listpids(kind, which, into, size)

        found = (pid for (pid,) in _PID.iter_unpack(_listed(ask, _PID.size)))
        return [pid for pid in found if pid > 0]

    def sockets(self, pid: int) -> Iterator[TcpSocket]:
        """The TCP sockets that a process has open; PermissionError if it hides them."""

        def ask(into: object, size: int) -> int:
            return self._calls.proc_pidinfo(pid, _FILES, ctypes.c_uint64(0), into, size)

        for file, kind in _FILE.iter_unpack(_listed(ask, _FILE.size)):
            found = self.socket(pid, file) if kind == _IS_SOCKET else None
            if found is not None:
                yield found

    def socket(self, pid: int, file: int) -> TcpSocket | None:
        """One open file of a process as a TCP socket, if it is one and still open."""
        into = ctypes.create_string_buffer(_SOCKET_SIZE)
        size = self._calls.proc_pidfdinfo(pid, file, _SOCKET, into, _SOCKET_SIZE)
        if size != _SOCKET_SIZE or _KIND.unpack_from(into.raw) != (_IS_TCP,):
            return None
        (number,) = _NUMBER.unpack_from(into.raw)
        peer_port, port, family, peer_host, host, state = _TCP.unpack_from(into.raw)
        return TcpSocket(
            pid,
            file,
            number,
            state == _LISTENS,
            _in_our_order(port),
            _in_our_order(peer_port),
            _shortest(host, family),
            _shortest(peer_host, family),
        )

    def text(self, name: str) -> str:
        """A text that the system knows by name, such as `kern.bootsessionuuid`; "" if none."""
        size = ctypes.c_size_t(128)
        into = ctypes.create_string_buffer(size.value)
        done = self._calls.sysctlbyname(name.encode(), into, ctypes.byref(size), None, 0)
        return into.value.decode("ascii", "replace") if done == 0 else ""


class _Asking(Protocol):
    def __call__(self, into: object, size: int, /) -> int: ...


def _listed(ask: _Asking, each: int) -> bytes:
    """A list of the system, however long. PermissionError if another user's process hides it."""
    ctypes.set_errno(0)
    room = ask(None, 0)
    while room > 0:
        room += _MORE * each
        into = ctypes.create_string_buffer(room)
        size = ask(into, room)
        if 0 < size < room:
            return into.raw[: size - size % each]
        room = size if size <= 0 else room * 2  # A full buffer may have cut the list off.
    if ctypes.get_errno() in (errno.EPERM, errno.EACCES):
        raise PermissionError(errno.EPERM, "the process hides its files")
    return b""


def _in_our_order(port: int) -> int:
    """A port, which the kernel keeps in the network's byte order inside of a whole number."""
    return int.from_bytes(struct.pack("=H", port & 0xFFFF), "big")


def _shortest(host: bytes, family: int) -> bytes:
    """An address: the last 4 bytes for IPv4, whether the socket is one for IPv6 or not."""
    return host[-4:] if family & _IPV4 else host.removeprefix(IPV4_MAPPED)


@functools.cache
def libproc() -> Libproc:
    """The C library of this Mac."""
    library = ctypes.CDLL(None, use_errno=True)
    # Unless told otherwise, ctypes cuts a size to 32 bits.
    library.sysctlbyname.argtypes = [
        *(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p),
        *(ctypes.c_void_p, ctypes.c_size_t),
    ]
    library.proc_pidinfo.argtypes = [
        *(ctypes.c_int, ctypes.c_int, ctypes.c_uint64),
        *(ctypes.c_void_p, ctypes.c_int),
    ]
    return Libproc(library)  # pyright: ignore[reportArgumentType] - its functions are made on demand
