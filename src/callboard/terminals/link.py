"""Talk to the process that keeps an agent's terminal. Each call takes at most a few seconds."""

import contextlib
import socket
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Final

from callboard.events.json_values import Object, as_list, as_text, as_whole
from callboard.terminals.frames import WORDS, FrameReader, told_in, worded
from callboard.terminals.records import OwnTerminal

_WITHIN: Final = 2.0
_PIECE: Final = 65_536


@dataclass(frozen=True, slots=True)
class ShownScreen:
    """What an agent's terminal shows now.

    cursor: its row and column, from 0. serial: changes with everything that the agent prints.
    attached: whether a person has it open.
    """

    lines: list[str]
    cursor: tuple[int, int]
    serial: int
    attached: bool


def screen_of(terminal: OwnTerminal) -> ShownScreen | None:
    """What its terminal shows; None if it has ended."""
    told = asked(terminal, {"do": "screen"})
    if "lines" not in told:
        return None
    row, column = as_whole(told.get("row")), as_whole(told.get("column"))
    lines = [as_text(one) for one in as_list(told["lines"])]
    attached = told.get("attached") is True
    return ShownScreen(lines, (row, column), as_whole(told.get("serial")), attached)


def type_into(terminal: OwnTerminal, text: str, serial: int | None = None) -> bool:
    """Type text as a person would; returns whether it was typed, or may have been.

    serial: only if nothing was printed since this screen. What is typed may itself change it.
    """
    request = {"do": "type", "text": text, "serial": serial}
    return asked(terminal, request, late={"ok": True}).get("ok") is True


def stop(terminal: OwnTerminal) -> bool:
    """Let the agent end, and kill it if it doesn't within five seconds; returns if it was told."""
    return asked(terminal, {"do": "stop"}).get("ok") is True


@contextlib.contextmanager
def connection(terminal: OwnTerminal) -> Generator[socket.socket]:
    """A connection to its process; OSError if it has ended."""
    with socket.socket(socket.AF_UNIX) as connected:
        connected.settimeout(_WITHIN)
        connected.connect(terminal.socket)
        yield connected


def asked(
    terminal: OwnTerminal, request: Mapping[str, object], late: Object | None = None
) -> Object:
    """The reply of a process that keeps an agent; empty if there is none.

    late: what counts as its reply if it was sent the request, and may still do it.
    """
    reader = FrameReader()
    try:
        with connection(terminal) as connected:
            connected.sendall(worded(request))
            try:
                while data := connected.recv(_PIECE):
                    for kind, content in reader.feed(data):
                        if kind == WORDS:
                            return told_in(content)
            except TimeoutError:
                return late or {}
    except (OSError, ValueError):
        pass
    return {}
