"""What the board remembers from one day to the next, in a small file of its own."""

from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from platformdirs import user_config_path

from callboard.disk.files import replace
from callboard.events.codec import dump_json, load_json
from callboard.tui.rows import ORDERS
from callboard.tui.themes import THEMES
from callboard.vendors.fields import as_object

_OFF: Final = "off"


@dataclass(frozen=True, slots=True)
class Settings:
    """How a person likes the board.

    sound: `off`, `bell`, or the path of a WAV file. desktop: tell the desktop too.
    """

    theme: str = "dark"
    order: str = ORDERS[0]
    closed: bool = False
    sound: str = _OFF
    desktop: bool = False


def settings_file() -> Path:
    """Where it is remembered."""
    return user_config_path("callboard", appauthor=False) / "board.json"


def read_settings(file: Path) -> Settings:
    """What was remembered; what cannot be read, or not be understood, is as in the beginning."""
    try:
        told: Any = load_json(file.read_bytes())
    except (OSError, ValueError):
        return Settings()
    usual = asdict(Settings())
    fitting = {
        name: value
        for name, value in as_object(told).items()
        if name in usual and type(value) is type(usual[name])
    }
    if fitting.get("theme") not in THEMES:
        fitting.pop("theme", None)
    if fitting.get("order") not in ORDERS:
        fitting.pop("order", None)
    return Settings(**fitting)


def write_settings(file: Path, settings: Settings) -> None:
    """Remember it. A place that cannot be written to is no reason to stop."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace(file, dump_json(asdict(settings)))
