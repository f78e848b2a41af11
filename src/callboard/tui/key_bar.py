"""The keys that work at the moment, in the last line."""

from textual.binding import ActiveBinding
from textual.widgets import Footer


class KeyBar(Footer):
    """Redraws its keys only when they have changed.

    Textual requests it on every change of focus and data, and recreating all keys takes longer than
    the rest of such a change.
    """

    _drawn: list[ActiveBinding] | None = None

    async def recompose(self) -> None:
        """Recreate the keys if they have changed."""
        if not self.is_attached:
            return  # It has been removed.
        shown = [one for one in self.screen.active_bindings.values() if one.binding.show]
        if shown != self._drawn:
            await super().recompose()
            self._drawn = shown
