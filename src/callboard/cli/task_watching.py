"""Follows a workflow of status files until it is over."""

import time
from collections.abc import Iterator
from typing import Final

from rich.live import Live
from rich.text import Text

from callboard.cli.screen import Screen
from callboard.cli.task_drawing import draw, lines
from callboard.errors import StoreCorrupt
from callboard.statusfiles import files
from callboard.statusfiles.location import Place
from callboard.statusfiles.phases import Workflow

_LOOK_AGAIN: Final = 0.1
_LOOKS: Final = 30
"""How often a broken file is looked at before it counts as broken."""


def follow(place: Place, screen: Screen, *, as_json: bool) -> Workflow:
    """Draw the workflow at each change; returns it as it is when it is over."""
    if screen.is_terminal and not as_json:
        return _live(place, screen)
    last: Workflow = {"status": "archived"}
    for last in _changes(place):
        draw(screen, last, as_json=as_json)
    return last


def _live(place: Place, screen: Screen) -> Workflow:
    last: Workflow = {"status": "archived"}
    with Live(console=screen.console, auto_refresh=False) as live:
        for last in _changes(place):
            drawn = [screen.styled(*line) for line in lines(screen, last)]
            live.update(Text("\n").join(drawn), refresh=True)
    return last


def _changes(place: Place) -> Iterator[Workflow]:
    """The workflow, and again at each change, until it is over, archived or replaced."""
    first = before = files.read(place.state)
    while before is not None:
        yield before
        if before["status"] in ("completed", "failed"):
            return
        now = before
        while now == before:
            time.sleep(_LOOK_AGAIN)
            now = _read(place)
        before = now if now and first and now["id"] == first["id"] else None


def _read(place: Place) -> Workflow | None:
    """The workflow as it stands. Not everybody writes it at once: half of it is looked at again."""
    for _ in range(_LOOKS - 1):
        try:
            return files.read(place.state)
        except StoreCorrupt:
            time.sleep(_LOOK_AGAIN)
    return files.read(place.state)
