"""Sounds of the states: made here, and played by whatever player there is."""

import io
import stat
import time
import wave
from pathlib import Path

import pytest

from callboard.systems.sounds import TONE_OF, TONES, is_sound, most_pressing, play, tone


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a player that this test brings writes down what it is told to play."""
    written = tmp_path / "played"
    player = tmp_path / "bin" / "aplay"
    player.parent.mkdir()
    player.write_text(f'#!/bin/sh\necho "$@" > {written}.part\nmv {written}.part {written}\n')
    player.chmod(player.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{player.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return written


def test_every_state_has_a_tone_of_its_own():
    assert len(set(TONE_OF.values())) == len(TONE_OF)
    assert set(TONE_OF.values()) <= TONES.keys()


@pytest.mark.parametrize("name", TONES)
def test_a_tone_is_a_short_wav_file_that_does_not_click(name: str):
    with wave.open(io.BytesIO(tone(name))) as file:
        frames = file.readframes(file.getnframes())
        seconds = file.getnframes() / file.getframerate()
    assert 0.1 < seconds < 1
    assert frames[:2] == b"\0\0"
    assert max(frames) > 0


def test_the_most_pressing_state_is_the_one_that_is_heard():
    assert most_pressing(["idle", "closed", "error"]) == "error"
    assert most_pressing(["idle", "awaiting_approval"]) == "awaiting_approval"
    assert most_pressing(["running"]) is None


@pytest.mark.parametrize(
    ("name", "known"),
    [("off", True), ("bell", True), ("rise", True), ("/x.wav", True), ("x", False)],
)
def test_what_can_be_played(name: str, known: bool):
    assert is_sound(name) is known


def until_played(written: Path) -> str:
    deadline = time.monotonic() + 20
    while not written.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return written.read_text().strip()


def test_a_tone_is_made_once_and_played(played: Path, tmp_path: Path):
    file = tmp_path / "cache" / "callboard" / "sounds" / "rise.wav"
    assert play("rise")
    assert until_played(played) == f"-q {file}"
    assert file.read_bytes() == tone("rise")


def test_a_file_is_played_and_one_that_is_not_there_is_not(played: Path, tmp_path: Path):
    (tmp_path / "my own.wav").write_bytes(tone("ping"))
    assert not play(str(tmp_path / "none.wav"))
    assert play(str(tmp_path / "my own.wav"))
    assert until_played(played) == f"-q {tmp_path}/my own.wav"


def test_without_a_player_nothing_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not play("rise")
