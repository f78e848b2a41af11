"""Which driver a name stands for, and what it needs."""

import sys
from pathlib import Path

import pytest

from callboard import Callboard
from callboard.drivers.choice import Driven, IdleDriver, check_driver, choose_driver
from callboard.drivers.watching import WatchingDriver
from callboard.errors import MissingExtra, ValidationError


async def test_names_of_drivers(tmp_path: Path):
    async with Callboard.open(tmp_path / "log.db") as board:
        driven = Driven(board.log, board.driver, (), board.clock)
        assert type(choose_driver("local", driven, 4, works=True)) is WatchingDriver
        idle = choose_driver("none", driven, 4, works=False)
        assert type(idle) is IdleDriver
        await idle.start()
        idle.wake("a")
        assert (idle.driving, idle.queued) == (0, 0)
        await idle.stop(0)
        with pytest.raises(ValidationError, match="needs a database in PostgreSQL"):
            choose_driver("procrastinate", driven, 4, works=True)


@pytest.mark.parametrize(
    ("driver", "package", "extra"),
    [
        ("procrastinate", "procrastinate", "procrastinate"),
        ("temporal", "temporalio", "temporal"),
        ("temporal-standalone", "temporalio", "temporal"),
    ],
)
def test_a_driver_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, driver: str, package: str, extra: str
):
    monkeypatch.setitem(sys.modules, package, None)
    for loaded in [name for name in sys.modules if name.startswith("callboard.drivers." + extra)]:
        monkeypatch.delitem(sys.modules, loaded)
    with pytest.raises(MissingExtra, match=rf"pip install 'callboard\[{extra}\]'"):
        check_driver(driver, is_shared=True)
    with pytest.raises(ValidationError, match="needs a database in PostgreSQL"):
        check_driver(driver, is_shared=False)
    check_driver("local", is_shared=False)
