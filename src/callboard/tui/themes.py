"""How the board looks: dark, light, and without any colour."""

from typing import Final

from textual.theme import Theme

DARK: Final = Theme(
    name="dark",
    primary="#7aa2d6",
    secondary="#8b949e",
    accent="#7aa2d6",
    foreground="#c8cdd3",
    background="#14171b",
    surface="#14171b",
    panel="#1d2228",
    warning="#e0af4f",
    error="#e5726b",
    success="#79b07c",
    dark=True,
    variables={
        "faint": "#79828c",
        "needs": "#e0af4f",
        "cursor": "#273040",
        "rule": "#2b323a",
        "footer-background": "#1d2228",
        "footer-key-foreground": "#7aa2d6",
        "footer-description-foreground": "#9aa3ad",
    },
)
LIGHT: Final = Theme(
    name="light",
    primary="#20589e",
    secondary="#5b6570",
    accent="#20589e",
    foreground="#23282e",
    background="#fbfbfa",
    surface="#fbfbfa",
    panel="#efefec",
    warning="#8a5a00",
    error="#b3261e",
    success="#2c6e33",
    dark=False,
    variables={
        "faint": "#68717b",
        "needs": "#8a5a00",
        "cursor": "#dfe7f1",
        "rule": "#d9d9d4",
        "footer-background": "#efefec",
        "footer-key-foreground": "#20589e",
        "footer-description-foreground": "#4c555f",
    },
)
MONOCHROME: Final = Theme(
    name="monochrome",
    primary="#ffffff",
    secondary="#a8a8a8",
    accent="#ffffff",
    foreground="#d0d0d0",
    background="#000000",
    surface="#000000",
    panel="#1a1a1a",
    warning="#ffffff",
    error="#ffffff",
    success="#d0d0d0",
    dark=True,
    variables={
        "faint": "#8a8a8a",
        "needs": "#ffffff",
        "cursor": "#3a3a3a",
        "rule": "#3a3a3a",
        "footer-background": "#1a1a1a",
        "footer-key-foreground": "#ffffff",
        "footer-description-foreground": "#a8a8a8",
    },
)
THEMES: Final = {theme.name: theme for theme in (DARK, LIGHT, MONOCHROME)}
