"""The board's keys: one table for the terminal, the dashboard, the help and the documentation.

Tests compare it with the bindings here, with `web/src/board/keys.ts` and with both how-to pages, so
that a key does the same everywhere.
"""

from typing import Final, Literal, NamedTuple

Where = Literal["both", "terminal", "dashboard"]


class BoardKey(NamedTuple):
    """A row of the table. keys: as people read them, separated by spaces."""

    keys: str
    does: str
    where: Where = "both"


KEYS: Final[dict[str, tuple[BoardKey, ...]]] = {
    "Navigate": (
        BoardKey("j k", "Select the next or the previous agent"),
        BoardKey("↑ ↓", "The same", "terminal"),
        BoardKey("g g", "Select the first agent"),
        BoardKey("G", "Select the last agent"),
        BoardKey("Enter", "Open its question or its details"),
        BoardKey("h", "Show what it did: its conversation", "terminal"),
        BoardKey("f", "Show the files that it changed, and their diffs", "terminal"),
        BoardKey("Tab", "Scroll the panel next to the list", "terminal"),
        BoardKey("/", "Filter: every word has to match"),
        BoardKey("Esc", "Clear the filter"),
        BoardKey("o", "Sort by longest wait, latest change or project"),
        BoardKey("c", "Show or hide closed sessions"),
    ),
    "Answer": (
        BoardKey("y", "Allow or approve, after its end has been in view"),
        BoardKey("n", "Deny or reject; any other question is declined"),
        BoardKey("a", "“Always allow”: shows the rule; Enter confirms it"),
        BoardKey("1 … 9", "Choose that option of its question"),
        BoardKey("v", "Jump to the end of a long question", "dashboard"),
    ),
    "Steer": (
        BoardKey("s", "Write to it, and see its messages", "terminal"),
        BoardKey("i", "Interrupt its turn; asks first", "terminal"),
    ),
    "Manage": (
        BoardKey("p", "Pin or unpin"),
        BoardKey("N", "Rename; also “n” when there is no question"),
        BoardKey("m", "Mark as seen or not seen"),
        BoardKey("d", "Dismiss; its next session brings it back"),
        BoardKey("t", "Go to its terminal: its tmux pane, or attach", "terminal"),
        BoardKey("r", "Resume a closed session in this terminal", "terminal"),
        BoardKey("r", "On the page of an agent: summary or raw hooks", "dashboard"),
    ),
    "Board": (
        BoardKey("T", "Switch the theme"),
        BoardKey("b", "Sounds: off, bell, tones", "terminal"),
        BoardKey("w", "Desktop notifications on or off", "terminal"),
        BoardKey("Ctrl+L", "Reload everything", "terminal"),
        BoardKey("?", "List the keys"),
        BoardKey("q", "Quit", "terminal"),
    ),
}


def key_table() -> str:
    """The table in Markdown, as on both how-to pages."""
    lines = ["| Key | What it does | Terminal | Dashboard |", "|---|---|---|---|"]
    for row in (row for rows in KEYS.values() for row in rows):
        keys = " ".join(f"`{key}`" if key != "…" else key for key in row.keys.split())
        places = [
            "✓" if row.where in ("both", place) else "" for place in ("terminal", "dashboard")
        ]
        lines.append(f"| {keys} | {row.does} | {' | '.join(places)} |")
    return "\n".join(lines) + "\n"
