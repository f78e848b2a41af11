"""Who is alive, dead or frozen."""

import os
from pathlib import Path

import pytest

from callboard.log.owners import Owners


class Hand:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def owners(tmp_path: Path, hand: Hand):
    made: list[Owners] = []

    def make() -> Owners:
        made.append(Owners(tmp_path, hand, frozen_after=15))
        return made[-1]

    yield make
    for each in made:
        if each._lock >= 0:
            each.close()


def leave(owner: Owners, *, crashed: bool = False) -> None:
    owner.close(crashed=crashed)
    owner._lock = -1


def test_one_is_alive_to_oneself(owners, hand):
    me = owners()
    hand.now += 1000
    assert me.alive(me.owner)


def test_another_is_alive_while_it_holds_its_lock(owners):
    me, other = owners(), owners()
    assert me.alive(other.owner)
    leave(other)
    assert not me.alive(other.owner)


def test_a_dead_owner_is_cleared_away(owners, tmp_path):
    me, other = owners(), owners()
    me.socket_of(other.owner).touch()
    leave(other, crashed=True)
    assert len(list(tmp_path.iterdir())) == 3
    assert not me.alive(other.owner)
    assert [file.name for file in tmp_path.iterdir()] == [f"{me.owner}.lock"]


def test_opening_clears_the_dead_away(owners, tmp_path):
    leave(owners(), crashed=True)
    me = owners()
    assert [file.name for file in tmp_path.iterdir()] == [f"{me.owner}.lock"]


def test_somebody_never_heard_of_is_dead(owners):
    assert not owners().alive("nobody")


def test_an_owner_without_a_beat_is_frozen(owners, hand):
    me, other = owners(), owners()
    assert me.alive(other.owner)
    hand.now += 14.9
    assert me.alive(other.owner)
    hand.now += 0.2
    assert not me.alive(other.owner)


def test_a_beat_makes_it_alive_again(owners, hand):
    me, other = owners(), owners()
    assert me.alive(other.owner)
    hand.now += 20
    assert not me.alive(other.owner)
    other.beat()
    assert me.alive(other.owner)
    hand.now += 14
    assert me.alive(other.owner)


def test_an_old_beat_counts_from_when_it_was_first_seen(owners, hand, tmp_path):
    """The other's wall clock, or a machine that slept, must not make it look frozen."""
    me, other = owners(), owners()
    os.utime(tmp_path / f"{other.owner}.lock", (1, 1))
    hand.now += 1_000_000
    assert me.alive(other.owner)
    hand.now += 15
    assert not me.alive(other.owner)


def test_what_is_known_of_the_dead_is_forgotten(owners):
    me, other = owners(), owners()
    me.alive(other.owner)
    leave(other)
    me.alive(other.owner)
    assert me._watched == {}


def test_the_lock_is_private(owners, tmp_path):
    owners()
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}


def test_a_heart_beats_several_times_before_it_counts_as_frozen(tmp_path, hand):
    for frozen_after, every in ((15, 2.0), (1, 0.2)):
        quick = Owners(tmp_path, hand, frozen_after)
        assert quick.beat_every == every
        quick.close()
