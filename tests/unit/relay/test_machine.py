"""What a machine tells about itself."""

import logging
from pathlib import Path

from callboard.board.hook_backlog import backlog_in
from callboard.board.hook_folders import installed_in
from callboard.relay.machine import MOST_LINES, LogTail, Machine, spooled_in
from callboard.server.logs import without_secrets
from callboard.testing.fake_clock import FakeClock


def logger_with(tail: LogTail) -> logging.Logger:
    logger = logging.Logger("callboard.test", logging.INFO)
    logger.addHandler(tail)
    return logger


def test_only_the_last_lines_are_kept_and_long_ones_are_cut():
    tail = LogTail()
    logger = logger_with(tail)
    for number in range(MOST_LINES + 5):
        logger.info("line %d %s", number, "x" * 10_000)
    assert len(tail.last(10**6)) == MOST_LINES
    assert [line.split()[4] for line in tail.last(2)] == ["203", "204"]
    assert tail.last(0) == tail.last(-1) == []
    assert max(map(len, tail.last(10))) <= 500


def test_a_line_that_cannot_be_written_breaks_nothing():
    tail = LogTail()
    logger_with(tail).info("%d", "no number")
    assert tail.last(1) == ["callboard.test"]


def test_an_error_is_kept_without_what_it_refers_to():
    tail = LogTail()
    try:
        raise ValueError("broken")
    except ValueError:
        logger_with(tail).exception("It failed")
    assert "ValueError" in tail.last(1)[0]
    assert all(isinstance(one, str) for one in tail._last)


def test_a_server_leaves_secrets_out():
    tail = LogTail(without_secrets)
    logger_with(tail).info("sent cb_abcdefghijklmnop")
    assert "abcdefgh" not in tail.last(1)[0]


def test_the_spool_is_counted_as_elsewhere(tmp_path: Path):
    assert spooled_in(tmp_path) == 0
    for name in ("spool/a.json", "spool/b.json", "spool/c.part", "spool/claimed/x/d.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert spooled_in(tmp_path) == backlog_in(tmp_path).hooks == 3


async def test_a_folder_that_is_broken_says_nothing(tmp_path: Path):
    (tmp_path / "installed").mkdir()
    for name, text in {"a": "{", "b": "[]", "c": '{"agent": 7}', "d": '{"agent": "codex"}'}.items():
        (tmp_path / "installed" / f"{name}.json").write_text(text)
    (tmp_path / "installed" / "e.json").symlink_to("/dev/zero")
    assert installed_in(tmp_path) == ["codex"]
    machine = Machine("1", tmp_path / "none", FakeClock(), LogTail(), lambda: 3)
    told = await machine.commands["check"].run({})
    assert (told["waiting"], told["spooled"], told["agents"]) == (3, 0, [])
