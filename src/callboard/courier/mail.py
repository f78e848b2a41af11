"""Messages that people left for an agent: a hook prints one, so that the agent reads it.

Each is a file in the folder of the agent's process. It is renamed before it is printed, so that of
several hooks, one prints it, once, whatever happens.
"""

from callboard.courier.delivery import deliver, drop, print_context, print_reply
from callboard.courier.letters import Letter
from callboard.disk.files import posix, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGEST_LETTER = 4 * 1024 * 1024
WAITS = "mail"
"""The file in that folder that shows, to a shell as well, that there may be a message."""
_ENDING = ".json"


def print_mail(letter: Letter) -> None:
    """Print the first message for the agent that sent this payload, if there is one."""
    box = box_of(letter.folder, letter.agent, letter.sender.pid)
    if (taken := take_mail(box, letter.payload)) is not None:
        stem, text = taken
        print_reply(text)
        note_given(stem)


def box_of(folder: str, agent: str, pid: int) -> str:
    """The folder with the messages for an agent's process."""
    return f"{folder}/mailbox/{agent}.{pid}"


def take_mail(box: str, payload: bytes) -> tuple[str, bytes] | None:
    """Take the first message that the hook with this payload can bring: its file, and its text."""
    try:
        posix.lstat(f"{box}/{WAITS}")
        if not (names := _waiting(box)):
            _unmark(box)
            return None
    except OSError:
        return None
    import json  # Slow to import, and hardly ever needed.

    try:
        told = json.loads(payload)
        for name in names:
            if (text := _text_in(json.loads(read(f"{box}/{name}", LARGEST_LETTER)), told)) is None:
                continue
            stem = f"{box}/{name.removesuffix(_ENDING)}"
            posix.rename(f"{stem}{_ENDING}", f"{stem}.taken")
            return stem, json.dumps(text).encode()
    except (OSError, ValueError, KeyError, AttributeError):
        pass  # Another hook took it, or it was taken back.
    return None


def note_given(stem: str) -> None:
    """Note that a message that was taken was passed on to the client."""
    try:
        posix.rename(f"{stem}.taken", f"{stem}.given")
    except OSError:
        return


def _waiting(box: str) -> list[str]:
    return sorted(name for name in posix.listdir(box) if name.endswith(_ENDING))


def _unmark(box: str) -> None:
    """Let shells spool again. One that is left at this moment has its mark restored."""
    posix.unlink(f"{box}/{WAITS}")
    if _waiting(box):
        posix.close(posix.open(f"{box}/{WAITS}", posix.O_WRONLY | posix.O_CREAT, 0o600))


def deliver_and_print(letter: Letter) -> None:
    """What a hook does that goes to the server: it prints what there is for the agent to read."""
    if not print_context(deliver(letter)):
        print_mail(letter)


def spool_and_print(letter: Letter) -> None:
    """What a hook does that only spools its payload, and has mail."""
    drop(letter, letter.body())
    print_mail(letter)


def _text_in(mail: "dict[str, Any]", told: dict[str, object]) -> object:
    """What a hook has to print for this message; None if another hook has to.

    A hook of a subagent would tell only that. One that runs because a hook continued the turn
    must not do that again, or it might never end.
    """
    if told.get("agent_id") or told.get("stop_hook_active"):
        return None
    if mail.get("session") != told.get("session_id"):
        return None
    outputs: dict[object, object] = mail["outputs"]
    return outputs.get(told.get("hook_event_name"))
