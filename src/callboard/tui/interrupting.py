"""Stopping an agent's turn, after the person has confirmed it."""

from collections.abc import Sequence
from typing import Final

from textual.app import App

from callboard.board.messages import PlateMessage
from callboard.board.plate import Plate
from callboard.display.lines import one_line
from callboard.errors import CallboardError
from callboard.tui.dialog import ConfirmDialog
from callboard.tui.source import Source

AT_WORK: Final = ("running", "awaiting_approval", "awaiting_input")
"""Statuses of a plate in which there is something to interrupt."""
_ASKING: Final = "It is waiting for an answer, which the interrupt dismisses."
_ON_ITS_WAY: Final = "A message is on its way to it and may be lost."


def ask_to_interrupt(app: App[None], source: Source, plate: Plate, title: str) -> None:
    """Ask whether to stop an agent's turn, saying what could be lost, and stop it."""

    def decided(yes: bool | None) -> None:
        if yes:
            app.run_worker(_stop(app, source, plate))

    async def ask() -> None:
        try:
            listed = (await source.messages(plate.plate_id)).messages
        except CallboardError as error:
            return app.notify(one_line(error.message), severity="error", markup=False)
        asks = f"Interrupt {one_line(title)}?"
        app.push_screen(ConfirmDialog(asks, _risk(plate, listed)), decided)
        return None

    app.run_worker(ask())


def _risk(plate: Plate, listed: Sequence[PlateMessage]) -> str:
    if plate.waiting_for or plate.interaction_id:
        return _ASKING
    return _ON_ITS_WAY if any(one.status == "handed" for one in listed) else ""


async def _stop(app: App[None], source: Source, plate: Plate) -> None:
    try:
        done = await source.interrupt(plate.plate_id)
    except CallboardError as error:
        return app.notify(one_line(error.message), severity="error", markup=False)
    said = "The agent was told to stop its turn."
    if not done.was_interrupted:
        said = one_line(done.note or "Nothing to interrupt.")
    return app.notify(said, markup=False)
