"""Takes a letter to the server, or leaves it in the spool."""

import posix

from callboard.courier.letters import Letter
from callboard.courier.wire import Patience, Refused, ask, read_connection
from callboard.disk.files import replace

ANSWER_WITHIN = 1.0
MOST_SPOOLED = 10_000
"""A spool with more files than this is full."""
MOST_BYTES = 512 * 1024 * 1024
"""A spool with more in it than this is full."""

LOST = ".lost"
"""How the name of an empty file ends that stands for a hook for which there was no room."""

_NEW = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC
_KIND, _FOLDER = 0o170000, 0o040000
_MOST_WEIGHED = 300


def is_agent(name: str) -> bool:
    """Whether it can be an agent's name: it becomes part of addresses and of files' names."""
    return name.isascii() and name.replace("-", "").replace("_", "").isalnum()


def deliver(letter: Letter) -> None:
    """Take it to the server, or into the spool."""
    hand_over(letter, letter.body(), ANSWER_WITHIN)


def hand_over(letter: Letter, body: bytes, within: float) -> None:
    """Take what was made of a letter to the server in so many seconds, or into the spool."""
    try:
        server = read_connection(letter.folder)
        if server is not None:
            ask(server, f"/hooks/{letter.agent}", body, Patience(within))
            return
    except (OSError, ValueError, Refused):
        pass
    drop(letter, body)


def drop(letter: Letter, body: bytes) -> None:
    """Leave it in the spool. When that fails too, there is nobody who could be told."""
    spool = letter.folder + "/spool"
    try:
        # Not through a link: who could make one could read what is dropped.
        if posix.lstat(spool).st_mode & _KIND != _FOLDER or _is_there(spool + "/.full"):
            return
        number = posix.urandom(8).hex()
        _write(f"{spool}/{letter.agent}.{letter.sender.pid}.{posix.getpid()}.{number}", body)
        if _is_full(spool):
            posix.close(posix.open(spool + "/.full", _NEW, 0o600))
    except OSError:
        return


def _write(name: str, body: bytes) -> None:
    try:
        replace(name + ".json", body, lasting=False)
    except OSError:
        # A name often fits where its contents do not: so somebody learns of it.
        posix.close(posix.open(name + LOST, _NEW, 0o600))
        raise


def _is_full(spool: str) -> bool:
    """Whether too much lies there. Of many files some are weighed, and stand for the others: to
    weigh them all would take longer than to deliver."""
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
