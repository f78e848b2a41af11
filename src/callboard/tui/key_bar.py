"""The keys that work just now, in the last line."""

from textual.binding import ActiveBinding
from textual.widgets import Footer


class KeyBar(Footer):
    """Draws its keys again only when they have changed.

    Textual asks for that at every change of focus and of what the board shows, and to make all
    keys again takes longer than the rest of such a change.
    """

    _drawn: list[ActiveBinding] | None = None

    async def recompose(self) -> None:
        """Make the keys again if there are others."""
        if not self.is_attached:
            return  # It was taken away meanwhile.
        shown = [one for one in self.screen.active_bindings.values() if one.binding.show]
        if shown != self._drawn:
            await super().recompose()
            self._drawn = shown
