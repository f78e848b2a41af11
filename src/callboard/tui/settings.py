"""What the board remembers from one day to the next, in a small file of its own."""

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
"""As a person's choice: each state has a tone of its own."""
SOUNDS: Final = (OFF, BELL, TONES)


@dataclass(frozen=True, slots=True)
class BoardSettings:
    """How a person likes the board.

    sound: `off`, `bell`, `tones` (one for each state), or the path of a WAV file for all of them.
    sounds: what a state sounds like instead, by its name. desktop: tell the desktop too.
    """

    theme: str = "dark"
    order: str = ORDERS[0]
    closed: bool = False
    sound: str = OFF
    desktop: bool = False
    sounds: Mapping[str, str] = field(default_factory=dict[str, str])

    def sound_of(self, state: str) -> str:
        """What is heard when a session comes to a state. The bell rings only for who needs you."""
        if self.sound == OFF or state not in TONE_OF:
            return OFF
        if state in self.sounds:
            return self.sounds[state]
        if self.sound == TONES:
            return TONE_OF[state]
        return OFF if state == "closed" else self.sound

    def hearing(self, choices: Sequence[str]) -> Self:
        """With the sounds that were asked for: `off`, `bell`, `tones`, a path, or STATE=SOUND.

        Anyone who says what a state sounds like wants to hear it.
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
    """Where it is remembered."""
    return user_config_path("callboard", appauthor=False) / "board.json"


def read_settings(file: Path) -> BoardSettings:
    """What was remembered; what cannot be read, or not be understood, is as in the start."""
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
    """Remember it. A place that cannot be written to is not a reason to stop."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace(file, dump_json(asdict(settings)))
