"""The board's themes: dark, light, and without color."""

from typing import Final

from textual.theme import Theme

_NAMES: Final = ("dark", "light", "monochrome")
_COLOURS: Final = {
    "primary": ("#7aa2d6", "#20589e", "#ffffff"),
    "secondary": ("#8b949e", "#5b6570", "#a8a8a8"),
    "foreground": ("#c8cdd3", "#23282e", "#d0d0d0"),
    "background": ("#14171b", "#fbfbfa", "#000000"),
    "panel": ("#1d2228", "#efefec", "#1a1a1a"),
    "warning": ("#e0af4f", "#8a5a00", "#ffffff"),
    "error": ("#e5726b", "#b3261e", "#ffffff"),
    "success": ("#79b07c", "#2c6e33", "#d0d0d0"),
    "faint": ("#79828c", "#68717b", "#8a8a8a"),
    "cursor": ("#273040", "#dfe7f1", "#3a3a3a"),
    "rule": ("#2b323a", "#d9d9d4", "#3a3a3a"),
    "keyword": ("#b49be0", "#6f42a8", "#ffffff"),
    "string": ("#d3a574", "#7a4f12", "#d0d0d0"),
    "described": ("#9aa3ad", "#4c555f", "#a8a8a8"),
}
"""Meanings, with their colors in each theme."""


def _theme(at: int, name: str) -> Theme:
    colour = {meant: given[at] for meant, given in _COLOURS.items()}
    return Theme(
        name=name,
        primary=colour["primary"],
        secondary=colour["secondary"],
        accent=colour["primary"],
        foreground=colour["foreground"],
        background=colour["background"],
        surface=colour["background"],
        panel=colour["panel"],
        warning=colour["warning"],
        error=colour["error"],
        success=colour["success"],
        dark=name != "light",
        variables={
            "faint": colour["faint"],
            "needs": colour["warning"],
            "cursor": colour["cursor"],
            "rule": colour["rule"],
            "keyword": colour["keyword"],
            "string": colour["string"],
            "footer-background": colour["panel"],
            "footer-key-foreground": colour["primary"],
            "footer-description-foreground": colour["described"],
        },
    )


THEMES: Final = {name: _theme(at, name) for at, name in enumerate(_NAMES)}
