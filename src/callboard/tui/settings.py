"""The board's saved settings, in a small file of their own."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Final, Self

from platformdirs import user_config_path

from callboard.disk.files import replace
from callboard.errors import ValidationError
from callboard.events.codec import dump_json, load_json
from callboard.events.json_values import as_object
from callboard.systems.sounds import BELL, OFF, TONE_OF, is_sound
from callboard.systems.sounds import TONES as NAMED
from callboard.tui.rows import ORDERS
from callboard.tui.themes import THEMES

TONES: Final = "tones"
"""As a setting: each state has its own tone."""
SOUNDS: Final = (OFF, BELL, TONES)


@dataclass(frozen=True, slots=True)
class BoardSettings:
    """A person's settings for the board.

    sound: `off`, `bell`, `tones` (one for each state), or the path of a WAV file for all states.
    sounds: overrides by state. desktop: also show desktop notifications.
    """

    theme: str = "dark"
    order: str = ORDERS[0]
    closed: bool = False
    sound: str = OFF
    desktop: bool = False
    sounds: Mapping[str, str] = field(default_factory=dict[str, str])

    def sound_of(self, state: str) -> str:
        """The sound when a session enters a state. The bell rings only for those that need you."""
        if self.sound == OFF or state not in TONE_OF:
            return OFF
        if state in self.sounds:
            return self.sounds[state]
        if self.sound == TONES:
            return TONE_OF[state]
        return OFF if state == "closed" else self.sound

    def hearing(self, choices: Sequence[str]) -> Self:
        """The settings with these sounds: `off`, `bell`, `tones`, a path, or STATE=SOUND.

        Setting a state's sound also turns sounds on.
        """
        sound, sounds = None, dict(self.sounds)
        for choice in choices:
            state, is_mapped, mapped = choice.partition("=")
            if is_mapped:
                sounds[_state(state)] = _checked(mapped)
            else:
                sound = choice if choice == TONES else _checked(choice)
        if sound is None:
            sound = TONES if self.sound == OFF and choices else self.sound
        return replace_fields(self, sound=sound, sounds=sounds)


def _state(name: str) -> str:
    if name in TONE_OF:
        return name
    known = ", ".join(TONE_OF)
    raise ValidationError(f"No state is called {name!r}. Use {known}.", field="sound")


def _checked(sound: str) -> str:
    if is_sound(sound):
        return sound
    known = ", ".join((*SOUNDS, *NAMED))
    raise ValidationError(f"No sound is called {sound!r}. Use {known}, or a path.", field="sound")


def settings_file() -> Path:
    """The path of the settings file."""
    return user_config_path("callboard", appauthor=False) / "board.json"


def read_settings(file: Path) -> BoardSettings:
    """The saved settings, with defaults for what can't be read or understood."""
    try:
        told = as_object(load_json(file.read_bytes()))
    except (OSError, ValueError):
        return BoardSettings()
    sound, sounds = told.get("sound"), as_object(told.get("sounds"))
    return BoardSettings(
        theme=_one_of(tuple(THEMES), told.get("theme")),
        order=_one_of(ORDERS, told.get("order")),
        closed=told.get("closed") is True,
        sound=sound if isinstance(sound, str) else OFF,
        desktop=told.get("desktop") is True,
        sounds={key: one for key, one in sounds.items() if isinstance(one, str)},
    )


def _one_of(known: tuple[str, ...], told: object) -> str:
    return told if isinstance(told, str) and told in known else known[0]


def write_settings(file: Path, settings: BoardSettings) -> None:
    """Save the settings. Ignores a file that can't be written."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace(file, dump_json(asdict(settings)))
