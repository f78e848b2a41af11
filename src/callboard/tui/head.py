"""The lines around the list: how many there are, whether the server is there."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from callboard.events.moments import from_ms
from callboard.tui.rows import NEEDS, ORDERS, summary
from callboard.tui.settings import Settings
from callboard.tui.wording import age, one_line


def head(counts: Sequence[int], settings: Settings, where: str, width: int) -> Content:
    """What the board is, how it stands, and how it is shown."""
    told = summary(counts) or "nobody here"
    needs, _, rest = told.partition(" · ") if counts[NEEDS] else ("", "", told)
    left = [("Callboard  ", "bold"), (needs, "bold $needs")]
    left.append((f" · {rest}" if needs and rest else rest, "$foreground"))
    right = one_line(_ways(settings, where))
    space = width - 2 - sum(cell_len(text) for text, _ in left) - cell_len(right)
    if space < 2:
        return Content.assemble(*left)
    return Content.assemble(*left, " " * space, (right, "$faint"))


def _ways(settings: Settings, where: str) -> str:
    ways = [f"by {settings.order}"] if settings.order != ORDERS[0] else []
    ways += ["with closed"] if settings.closed else []
    ways += ["sound"] if settings.sound != "off" else []
    ways += ["desktop"] if settings.desktop else []
    return " · ".join([*ways, where])


def warning(problem: str, since_ms: int, now_ms: int) -> Content:
    """That what is shown may be old, since when, and why."""
    clock = from_ms(since_ms).astimezone().strftime("%H:%M")
    stale = f"Stale since {clock} ({age(since_ms, now_ms)}), reconnecting …  "
    return Content.assemble((stale, "bold"), one_line(problem))


def nothing(*, loaded: bool, hidden: int) -> Content:
    """What to say when there is nothing to list."""
    if not loaded:
        return Content("Looking …")
    if hidden:
        return Content.assemble(
            ("Nothing to show.\n\n", "bold $foreground"),
            f"{hidden} hidden: c shows those that are closed, Escape ends the filter.",
        )
    return Content.assemble(
        ("No session yet.\n\n", "bold $foreground"),
        "Let your coding agents report here:  callboard hooks install\n"
        "Then start one as you always do; it appears by itself.\n\n"
        "To see a board that moves, without any agent:  callboard demo board",
    )
