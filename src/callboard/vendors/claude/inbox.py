"""Claude Code's inbox: a socket where a session takes messages from other programs of its user.

The socket is documented, what is sent over it is not: `registry` names it only if the client speaks
the protocol that this was written for. A message that its person has to accept first is held; the
client reports that, and what became of it, to the socket that the message came from.
"""

import asyncio
import contextlib
import os
import re
import socket
import stat
import uuid
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Final, Literal

from callboard.disk.private import is_own
from callboard.events.codec import dump_json, load_json
from callboard.events.json_values import Object, as_object
from callboard.vendors.steering import Note, Outgoing

HoldStatus = Literal["held", "denied", "delivered"]
_STATUSES: Final[dict[str, HoldStatus]] = {
    "held": "held",
    "denied": "denied",
    "delivered": "delivered",
}

CONNECTS_WITHIN: Final = 2.0
"""Seconds to connect and to send."""
LISTENS_FOR: Final = 900.0
"""Seconds for which to wait until a person accepts a message or not."""
_MOST_HELD: Final = 100
_LONGEST_REPORT: Final = 64 * 1024
_MOST_REPORTS: Final = 20
_NAMESPACE: Final = uuid.UUID("6f0f7d53-5e0c-4b52-9d2a-6a1f3f0c2b11")
_SENDER: Final = "the board"
_LONGEST_SENDER: Final = 60
_WRAPPER: Final = re.compile(r"<(?=/?cross-session-message)", re.IGNORECASE)


class InboxError(OSError):
    """The message could not be sent. sent: whether some of it may have arrived."""

    def __init__(self, *, sent: bool) -> None:
        super().__init__("the inbox can't be reached")
        self.sent = sent


def wire_id(message: Outgoing) -> str:
    """A message's id for the client, which wants a UUID: always the same one."""
    return str(uuid.uuid5(_NAMESPACE, message.id))


def usable(path: str) -> bool:
    """Whether this is a socket of our own user, in a folder that only they may write to."""
    try:
        found, folder = os.lstat(path), os.stat(Path(path).parent)  # noqa: PTH116
    except (OSError, ValueError):
        return False
    others_write = folder.st_mode & 0o022
    return stat.S_ISSOCK(found.st_mode) and is_own(found) and is_own(folder) and not others_write


def return_address(inbox: str, message: Outgoing) -> str:
    """Where we listen for what becomes of a message, beside the client's own socket."""
    return str(Path(inbox).with_name(f"callboard-{wire_id(message)[:13]}.sock"))


class Replies:
    """Listens for what clients report about messages that they hold."""

    def __init__(self) -> None:
        self._status: dict[str, HoldStatus] = {}
        self._servers: dict[str, tuple[asyncio.Server, str, asyncio.TimerHandle]] = {}

    def of(self, message: Outgoing) -> HoldStatus | None:
        """What was reported last about a message."""
        return self._status.get(wire_id(message))

    async def listen(self, path: str, message: Outgoing) -> None:
        """Listen for reports about a message. OSError if that isn't possible here."""
        id = wire_id(message)
        self._close(id)
        while len(self._servers) >= _MOST_HELD:
            self._close(next(iter(self._servers)))
        made = _bound(path)
        try:
            server = await asyncio.start_unix_server(
                self._heard(id), sock=made, limit=_LONGEST_REPORT
            )
        except BaseException:
            made.close()
            raise
        timer = asyncio.get_running_loop().call_later(LISTENS_FOR, self._close, id)
        self._servers[id] = server, path, timer

    def forget(self, message: Outgoing) -> None:
        """Stop listening for reports about a message."""
        self._close(wire_id(message))

    def _close(self, id: str) -> None:
        if (known := self._servers.pop(id, None)) is not None:
            server, path, timer = known
            timer.cancel()
            server.close()
            Path(path).unlink(missing_ok=True)

    def _heard(
        self, id: str
    ) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], "asyncio.Future[None]"]:
        async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                async with asyncio.timeout(CONNECTS_WITHIN):
                    for _ in range(_MOST_REPORTS):
                        if not (line := await reader.readline()):
                            break
                        self._note(id, as_object(load_json(line)))
            except (OSError, ValueError, TimeoutError):
                pass  # It isn't the client, or not one that we understand.
            finally:
                writer.close()

        return lambda reader, writer: asyncio.ensure_future(read(reader, writer))

    def _note(self, id: str, told: Object) -> None:
        status = _STATUSES.get(str(told.get("status")))
        if told.get("action") != "peer_message_status" or told.get("orig_msg_id") != id:
            return
        if status is not None:
            self._status.pop(id, None)
            self._status[id] = status
            while len(self._status) > _MOST_HELD:
                del self._status[next(iter(self._status))]
            if status != "held":
                self._close(id)


def _bound(path: str) -> socket.socket:
    """A socket that only its user can connect to. It doesn't listen until it has that mode."""
    Path(path).unlink(missing_ok=True)
    made = socket.socket(socket.AF_UNIX)
    try:
        made.bind(path)
        os.chmod(path, 0o600)  # noqa: PTH101
    except BaseException:
        made.close()
        raise
    return made


async def send(inbox: str, session_id: str, message: Outgoing, reply_to: str, note: Note) -> None:
    """Send a message to a session; InboxError if that failed. note: called just before.

    The session is named, so that what starts in the same process after `/clear` doesn't get it.
    """
    content = _wrapped(message, f"uds:{reply_to}")
    frame: Object = {
        "type": "user",
        "msgV": 1,
        "msg_id": wire_id(message),
        "session_id": session_id,
        "from": f"uds:{reply_to}",
        "priority": "next",
        "message": {"role": "user", "content": content},
    }
    sent = False
    try:
        async with asyncio.timeout(CONNECTS_WITHIN):
            _, writer = await asyncio.open_unix_connection(inbox)
            with contextlib.closing(writer):
                await asyncio.to_thread(note)
                sent = True
                writer.write(dump_json(frame) + b"\n")
                await writer.drain()
    except (OSError, ValueError, TimeoutError) as error:
        raise InboxError(sent=sent) from error


def _wrapped(message: Outgoing, sender: str) -> str:
    """The text as the client shows it with a name. A text can't end the wrapper."""
    name = escape((message.sender or _SENDER)[:_LONGEST_SENDER].replace("\n", " "))
    text = _WRAPPER.sub("<\N{ZERO WIDTH SPACE}", message.text)
    return (
        f'<cross-session-message from="{sender}" from-name="{name}">\n{text}\n'
        "</cross-session-message>"
    )
