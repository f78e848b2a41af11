"""Several servers at one spool: one reads at a time, and what is older comes first."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.board.hook_folders import make_folders, spool_folder
from callboard.board.spool import files as spool
from callboard.board.spool.files import Spool, Spooled
from callboard.testing.fake_clock import FakeClock


def drop(folder: Path, *numbers: int, size: int = 0) -> None:
    """Payloads that were dropped in the order of their numbers."""
    for number in numbers:
        path = spool_folder(folder) / f"claude.7.{number}.0.json"
        path.write_text(f"{number}".ljust(size))
        os.utime(path, ns=(number * 1_000_000, number * 1_000_000))


def told(taken: list[Spooled]) -> list[int]:
    return [int(one.hook.body) for one in taken]


@pytest.mark.parametrize("end", [Spooled.done, Spooled.give_back, Spooled.reject])
def test_nobody_takes_what_is_newer_before_the_older_is_done(
    folder: Path, reader: Spool, other: Spool, end: Callable[[Spooled], None]
):
    drop(folder, 1, 2)
    taken = reader.take(10)
    drop(folder, 3)
    end(taken[0])
    assert other.take(10) == []
    end(taken[1])
    again = [1, 2] if end is Spooled.give_back else []
    assert told(other.take(10)) == [*again, 3]


def test_who_has_seen_more_than_it_took_goes_on(folder: Path, reader: Spool, other: Spool):
    drop(folder, 1, 2, 3)
    reader.take(1)[0].done()
    assert other.take(10) == []
    assert told(reader.take(10)) == [2, 3]


def test_who_leaves_lets_others_take(folder: Path, reader: Spool, other: Spool):
    drop(folder, 1, 2, 3)
    reader.take(2)
    reader.close()
    assert [(int(one.hook.body), one.hook.again) for one in other.take(10)] == [
        (1, True),
        (2, True),
        (3, False),
    ]


def test_what_another_left_comes_before_what_is_newer(folder: Path, reader: Spool, other: Spool):
    assert other.take(10) == []  # From now on it looks for what others left only now and then.
    drop(folder, 1, 2)
    reader.take(1)
    reader.close()
    assert told(other.take(10)) == [1, 2]


def test_what_is_given_back_comes_before_what_was_seen_already(folder: Path, reader: Spool):
    drop(folder, 1, 2, 3)
    (one,) = reader.take(1)
    one.give_back()
    assert told(reader.take(10)) == [1, 2, 3]


def test_what_may_have_been_recorded_stays_marked(folder: Path, reader: Spool, other: Spool):
    drop(folder, 1)
    reader.take(1)[0].give_back()
    (one,) = reader.take(1)
    assert not one.hook.again
    one.give_back(heard=True)
    for _ in range(3):
        (one,) = other.take(1)
        assert (one.hook.again, one.hook.agent, one.hook.pid) == (True, "claude", 7)
        one.give_back()


def test_a_folder_that_is_removed_under_a_reader_is_anybodys(
    folder: Path, reader: Spool, other: Spool
):
    drop(folder, 1)
    reader.take(1)
    folder.rename(folder.with_name("away"))
    make_folders(folder)
    drop(folder, 2)
    assert told(other.take(10)) == [2]
    assert reader.take(10) == []


def test_a_batch_has_a_largest_size(
    folder: Path, reader: Spool, other: Spool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(spool, "AT_ONCE", 250)
    drop(folder, *range(1, 8), size=100)
    assert told(reader.take(10)) == [1, 2, 3]
    assert told(reader.take(10)) == [4, 5, 6]
    reader.close()
    # What another left has one too.
    assert told(other.take(10)) == [1, 2, 3]
    assert told(other.take(10)) == [4, 5, 6]
    assert told(other.take(10)) == [7]


def test_a_file_that_is_larger_than_a_batch_is_one(
    folder: Path, reader: Spool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(spool, "AT_ONCE", 50)
    drop(folder, 1, 2, size=100)
    assert [told(reader.take(10)) for _ in range(3)] == [[1], [2], []]


def test_what_can_never_be_recorded_is_put_aside(folder: Path, reader: Spool):
    drop(folder, 1)
    reader.take(1)[0].reject()
    assert reader.take(1) == []
    (aside,) = (spool_folder(folder) / "rejected").iterdir()
    assert aside.read_text() == "1"
    assert reader.counted.rejected == 1


def test_it_tells_whether_there_is_anything_to_take(folder: Path):
    clock = FakeClock()
    reader = Spool(folder, clock)
    assert reader.has_some  # Nobody has looked yet.
    assert reader.take(10) == []
    assert not reader.has_some
    drop(folder, 1)
    assert reader.has_some
    reader.take(10)[0].done()
    assert not reader.has_some
    (spool_folder(folder) / ".full").touch()
    assert reader.has_some  # The mark is to be removed.
    reader.take(10)
    assert not reader.has_some
    clock.skip(10)
    assert reader.has_some  # Others may have left something.
    reader.close()
