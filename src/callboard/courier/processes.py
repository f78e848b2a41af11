"""Which process a hook belongs to, and whether that process is alive."""

from callboard.disk.files import CLOEXEC, NONBLOCK, posix

_READ = posix.O_RDONLY | CLOEXEC | NONBLOCK  # Opening a pipe must not block.
_SHELLS = (b"sh", b"bash", b"dash", b"zsh", b"ksh", b"fish", b"busybox")
_ENDED = (b"Z", b"X")
"""How the system marks a process that has ended but has not been reaped."""
_START = 19
"""Which field after a process's name is its start time."""


class Process:
    """A process; `start` distinguishes it from an earlier one with the same number."""

    __slots__ = ("name", "parent", "pid", "start")

    def __init__(self, pid: int) -> None:
        self.pid = pid
        name, _, rest = (read_small(f"/proc/{pid}/stat") or b"").rpartition(b")")
        fields = rest.split()
        known = len(fields) > _START and fields[0] not in _ENDED
        self.start = fields[_START].decode() if known else ""
        self.parent = int(fields[1]) if known else 0
        self.name = name.partition(b"(")[2]

    @property
    def lives(self) -> bool:
        """Whether it is still alive."""
        if self.start:
            return Process(self.pid).start == self.start
        try:
            posix.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True


def agent_process(agent: str) -> Process:
    """The agent's process: what it says itself, else our parent, skipping shells in between."""
    told = posix.environ.get(b"CLAUDE_PID", b"") if agent == "claude" else b""
    if told.isdigit():
        return Process(int(told))
    found = Process(posix.getppid())
    for _ in range(4):
        if found.name not in _SHELLS or not _runs_one_command(found.pid):
            break
        found = Process(found.parent)
    return found


def _runs_one_command(pid: int) -> bool:
    """Whether a shell was started with -c; an interactive shell is not part of an agent."""
    words = (read_small(f"/proc/{pid}/cmdline") or b"").split(b"\0")
    return any(word.startswith(b"-") and word.endswith(b"c") for word in words[1:3])


def read_small(path: str | bytes) -> bytes | None:
    """The start of a file; None if it can't be read."""
    try:
        file = posix.open(path, _READ)
    except OSError:
        return None
    try:
        return posix.read(file, 4096)
    except OSError:
        return None
    finally:
        posix.close(file)
