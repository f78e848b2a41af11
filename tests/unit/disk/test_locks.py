"""Locks that are free again when their holder is gone."""

import os
from pathlib import Path

import pytest

from callboard.disk.locks import hold, is_held, locked, try_lock, unlock
from callboard.disk.private import open_private


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x.lock"


def test_a_lock_is_held_until_its_descriptor_is_closed(file: Path):
    lock = hold(file, b"who")
    assert file.read_bytes() == b"who"
    assert is_held(file)
    os.close(lock)
    assert not is_held(file)


def test_a_file_that_is_not_there_is_an_error(file: Path):
    with pytest.raises(FileNotFoundError):
        is_held(file)


def test_one_holds_it_alone(file: Path):
    other = open_private(file)
    with locked(file):
        assert not try_lock(other)
        assert not try_lock(other, shared=True)
    assert try_lock(other)
    unlock(other)
    assert not is_held(file)
    os.close(other)


def test_a_link_in_its_place_is_refused(file: Path, tmp_path: Path):
    (tmp_path / "theirs").touch()
    file.symlink_to(tmp_path / "theirs")
    with pytest.raises(OSError, match="symbolic links"), locked(file):
        pass
    with pytest.raises(OSError, match="symbolic links"):
        is_held(file)
