"""Takes a letter to the server, or leaves it in the spool."""

import time

from callboard.courier.letters import Letter
from callboard.courier.wire import Refused, Timeouts, ask, read_connection
from callboard.disk.files import CLOEXEC, OPENS_FOLDERS, posix, replace

ANSWER_WITHIN = 1.0
MOST_SPOOLED = 10_000
"""A spool with more files than this is full."""
MOST_BYTES = 512 * 1024 * 1024
"""A spool with more bytes than this is full."""

LOST = ".lost"
"""The suffix of the empty file that stands for a hook that did not fit on the disk."""

_NEW = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | CLOEXEC
_KIND, _FOLDER = 0o170000, 0o040000
_MOST_WEIGHED = 300
_CONTEXT = {"hookEventName", "additionalContext"}


def is_agent(name: str) -> bool:
    """Whether this can be an agent's name, which becomes part of URLs and file names."""
    return name.isascii() and name.replace("-", "").replace("_", "").isalnum()


def deliver(letter: Letter) -> bytes:
    """Take it to the server or to the spool; returns the server's response."""
    return hand_over(letter, letter.body(), ANSWER_WITHIN)


def hand_over(letter: Letter, body: bytes, within: float) -> bytes:
    """Take a letter's body to the server within this many seconds, or else to the spool."""
    try:
        server = read_connection(letter.folder)
        if server is not None:
            return ask(server, f"/hooks/{letter.agent}", body, Timeouts(within))
    except (OSError, ValueError, Refused):
        pass
    drop(letter, body)
    return b""


def print_decision(reply: bytes) -> None:
    """Print the server's response as it is, if it is a JSON object.

    Anything else would show up in the agent's session.
    """
    if _object(reply):
        print_reply(reply)


def print_context(reply: bytes) -> bool:
    """Print what the server has for the agent to read, but nothing that decides anything.

    Returns whether there was something.
    """
    told = _object(reply)
    inside = told.get("hookSpecificOutput")
    is_context = len(told) == 1 and isinstance(inside, dict) and inside.keys() == _CONTEXT
    if is_context:
        print_reply(reply)
    return is_context


def _object(reply: bytes) -> dict[str, object]:
    if reply.strip() in (b"", b"{}"):
        return {}
    import json  # Slow to import, and hardly ever needed.

    try:
        told: dict[str, object] | None = json.loads(reply)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def print_reply(reply: bytes) -> None:
    """Print all of it."""
    while reply:
        reply = reply[posix.write(1, reply) :]


def drop(letter: Letter, body: bytes, weighs: bool = True) -> bool:
    """Leave it in the spool; returns whether that was possible.

    weighs: whether to check if the spool is full now, which takes longer than to leave it.
    """
    spool = letter.folder + "/spool"
    try:
        # Don't follow a link: its creator could read what is dropped there.
        if posix.lstat(spool).st_mode & _KIND != _FOLDER or _is_there(spool + "/.full"):
            return False
        number = posix.urandom(8).hex()
        name = f"{letter.agent}.{letter.sender.pid}.{posix.getpid()}.{number}"
        _write(f"{spool}/{name}", body)
    except OSError:
        return False
    try:
        if weighs and _is_full(spool):
            posix.close(posix.open(spool + "/.full", _NEW, 0o600))
    except OSError:
        pass
    return True


def mark_time(file: int) -> None:
    """Set the time of an open file, which is its place in the spool, to this very moment.

    The system's own clock for files has ticks of milliseconds, and many are written within one.
    """
    if OPENS_FOLDERS:  # Windows can't.
        now = time.time_ns()
        posix.utime(file, ns=(now, now))


def _write(name: str, body: bytes) -> None:
    try:
        replace(name + ".json", body, lasting=False, ready=mark_time)
    except OSError:
        # A name often fits when its contents don't, and shows that a hook was lost.
        posix.close(posix.open(name + LOST, _NEW, 0o600))
        raise


def _is_full(spool: str) -> bool:
    """Whether the spool has too many files or bytes.

    If there are many files, the size is estimated from some of them: checking all would take longer
    than delivering.
    """
    names = posix.listdir(spool)
    weighed = names[:_MOST_WEIGHED]
    size = sum([posix.lstat(f"{spool}/{name}").st_size for name in weighed])
    return len(names) > MOST_SPOOLED or size * len(names) > MOST_BYTES * len(weighed)


def _is_there(path: str) -> bool:
    try:
        posix.lstat(path)
    except OSError:
        return False
    return True
