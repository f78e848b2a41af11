"""A spool, and two servers that read it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.board.hook_folders import hooks_folder, make_folders
from callboard.board.spool.files import Spool
from callboard.testing.fake_clock import FakeClock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = hooks_folder(tmp_path / "board.db")
    make_folders(folder)
    return folder


@pytest.fixture
def reader(folder: Path) -> Iterator[Spool]:
    reader = Spool(folder, FakeClock())
    yield reader
    reader.close()


@pytest.fixture
def other(folder: Path) -> Iterator[Spool]:
    other = Spool(folder, FakeClock())
    yield other
    other.close()
