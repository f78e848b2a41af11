"""Shows an agent's terminal in a person's, on the machine that both are on. Not on Windows."""

from collections.abc import Mapping
from typing import Final

from callboard.board.hosts import local_host
from callboard.board.plate import Plate
from callboard.display.lines import one_line
from callboard.errors import Forbidden, NotFound
from callboard.terminals.attaching import Attaching, Attachment, How
from callboard.terminals.link import connection
from callboard.terminals.persons_terminal import PersonsTerminal
from callboard.terminals.records import OwnTerminal, terminal_of

KEY: Final = "Ctrl-\\"
"""The key that leaves an agent."""
_ENDINGS: Final[Mapping[How, str]] = {
    "left": "It runs on.",
    "ended": "It has ended, with exit code {code}.",
    "taken": "Another terminal has taken it over.",
    "lost": "The process that kept its terminal was stopped.",
    "attached": "Another terminal is attached to it.",
    "refused": "Coding agents can't attach to agents.",
}


def attach(terminal: PersonsTerminal, plate: Plate, *, take: bool = False) -> Attachment:
    """Attach to a plate's agent until the person leaves it, or it ends.

    NotFound if it doesn't run in a terminal of ours here; Forbidden if an agent asks.
    """
    own = _terminal(plate)
    terminal.write(f"Attaching. Leave it with {KEY}; it runs on.\r\n".encode())
    try:
        with connection(own) as connected:
            connected.setblocking(False)
            ended = Attaching(connected, terminal).run(take=take)
    except OSError as error:
        raise NotFound(f"The agent has just ended: {error.strerror or error}.") from error
    if ended.how == "refused":
        raise Forbidden(ending(ended))
    return ended


def ending(ended: Attachment) -> str:
    """How it ended, as a sentence."""
    return _ENDINGS[ended.how].format(code=ended.code)


def _terminal(plate: Plate) -> OwnTerminal:
    if plate.host not in ("", local_host().id):
        raise NotFound(
            f"It runs on {one_line(plate.host_name or plate.host)}. Attach to it there: "
            f"callboard attach {plate.plate_id}"
        )
    found = terminal_of(*plate.terminal_process)
    if found is None:
        raise NotFound(
            "This agent was not started with `callboard start`, so you can't attach to it here. "
            "Use the terminal that it runs in."
        )
    return found
