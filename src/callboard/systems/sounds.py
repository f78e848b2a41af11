"""Sounds, one for each state that needs a person, generated here and played by the system.

No sound files or libraries are needed: a tone is a few sine waves, written as a WAV file when it is
first played.
"""

import io
import math
import shutil
import subprocess
import threading
import wave
from array import array
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.disk.files import replace
from callboard.disk.private import make_private_folder

TONE_OF: Final[Mapping[str, str]] = {
    "awaiting_approval": "rise",
    "awaiting_input": "chime",
    "error": "alarm",
    "idle": "ping",
    "closed": "fall",
}
"""The states with sounds, most urgent first, and the default tone of each."""
TONES: Final[Mapping[str, tuple[tuple[float, float], ...]]] = {
    "rise": ((523.25, 0.09), (659.25, 0.09), (783.99, 0.16)),
    "chime": ((783.99, 0.14), (659.25, 0.22)),
    "alarm": ((220.0, 0.14), (0.0, 0.05), (220.0, 0.22)),
    "ping": ((1046.5, 0.18),),
    "fall": ((523.25, 0.1), (392.0, 0.18)),
    "knock": ((164.81, 0.06), (0.0, 0.07), (164.81, 0.06)),
}
"""Notes by the name of their tone: hertz (0 is a rest), and seconds."""
OFF: Final = "off"
BELL: Final = "bell"

_PLAYERS: Final = (("pw-play",), ("paplay",), ("aplay", "-q"), ("afplay",))
_LONGEST: Final = 30
"""Seconds after which a player is stopped."""
_RATE: Final = 22_050
_LOUDNESS: Final = 0.35
_FADE: Final = 0.012
"""Seconds of fade-in and fade-out, to avoid clicks."""


def most_pressing(states: Iterable[str]) -> str | None:
    """The state to play when several need attention at once."""
    known = set(states)
    return next((state for state in TONE_OF if state in known), None)


def is_sound(name: str) -> bool:
    """Whether it can be played: a tone, the bell, nothing at all, or the path of a file."""
    return name in (OFF, BELL) or name in TONES or name.startswith(("/", "~"))


def play(sound: str) -> bool:
    """Start a tone or sound file; returns whether there is a player for it."""
    player = next((one for one in _PLAYERS if shutil.which(one[0])), None)
    file = _file(sound)
    if player is None or file is None:
        return False
    threading.Thread(target=_run, args=([*player, str(file)],), daemon=True).start()
    return True


def _run(command: list[str]) -> None:
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=_LONGEST,
            check=False,
        )


def _file(sound: str) -> Path | None:
    if sound not in TONES:
        file = Path(sound).expanduser()
        return file if file.is_file() else None
    from platformdirs import user_cache_path

    folder = user_cache_path("callboard", appauthor=False) / "sounds"
    file = folder / f"{sound}.wav"
    try:
        if not file.is_file():
            make_private_folder(folder)
            replace(file, tone(sound), lasting=False)
    except OSError:
        return None
    return file


def tone(name: str) -> bytes:
    """A tone as a WAV file."""
    samples = array("h")
    for hertz, seconds in TONES[name]:
        samples.extend(_note(hertz, seconds))
    told = io.BytesIO()
    with wave.open(told, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes(samples.tobytes())
    return told.getvalue()


def _note(hertz: float, seconds: float) -> Iterable[int]:
    count = round(seconds * _RATE)
    for at in range(count):
        edge = min(at, count - at) / (_FADE * _RATE)
        height = math.sin(2 * math.pi * hertz * at / _RATE) * min(1.0, edge)
        yield round(height * _LOUDNESS * 32_767)
