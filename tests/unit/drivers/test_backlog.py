"""Which sessions are looked at next, and for how long the others are left in peace."""

from callboard.drivers.backlog import Backlog


def seconds(backlog: Backlog, *, failed: bool, times: int, head: int = 1) -> list[float]:
    return [backlog.put_off("a", head, 0, failed=failed) for _ in range(times)]


def test_who_came_first_is_taken_first_and_nobody_stands_in_the_queue_twice():
    backlog = Backlog()
    for session in ("b", "a", "b", "c"):
        backlog.add(session)
    assert len(backlog) == 3
    assert "a" in backlog
    assert [backlog.take() for _ in range(3)] == ["b", "a", "c"]
    assert "a" not in backlog
    backlog.add("a")
    assert len(backlog) == 1


def test_who_is_put_off_again_waits_twice_as_long_up_to_a_bound():
    assert seconds(Backlog(), failed=False, times=8) == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5]
    assert seconds(Backlog(), failed=True, times=100)[-1] == 60


def test_a_stream_that_grew_is_looked_at_soon_but_one_that_fails_is_not():
    backlog = Backlog()
    seconds(backlog, failed=False, times=5, head=1)
    assert seconds(backlog, failed=False, times=1, head=2) == [0.1]
    seconds(backlog, failed=True, times=3, head=2)
    assert seconds(backlog, failed=True, times=1, head=3) == [1.6]


def test_who_was_forgotten_begins_anew():
    backlog = Backlog()
    seconds(backlog, failed=False, times=5)
    assert backlog.is_put_off("a")
    assert backlog.head_of("a") == 1
    backlog.forget("a")
    assert not backlog.is_put_off("a")
    assert backlog.head_of("a") is None
    assert backlog.next_at() is None
    assert seconds(backlog, failed=False, times=1) == [0.1]


def test_those_whose_time_has_come_are_found_in_its_order():
    backlog = Backlog()
    backlog.put_off("late", 1, 10, failed=False)
    backlog.put_off("early", 1, 5, failed=False)
    backlog.put_off("gone", 1, 1, failed=False)
    backlog.forget("gone")
    assert backlog.next_at() == 5.1
    assert backlog.ripe(5) == {}
    assert list(backlog.ripe(20).items()) == [("early", 1), ("late", 1)]
    assert backlog.next_at() is None
    assert backlog.is_put_off("early")  # How often it was put off is not forgotten.


def test_a_later_time_replaces_an_earlier_one():
    backlog = Backlog()
    backlog.put_off("a", 1, 0, failed=False)
    backlog.put_off("a", 1, 1, failed=False)
    assert backlog.ripe(1) == {}
    assert backlog.next_at() == 1.2


def test_sessions_of_dead_owners_are_forgotten_at_once():
    backlog = Backlog()
    backlog.put_off("a", 1, 0, failed=False, owner="dead")
    backlog.put_off("b", 1, 0, failed=False, owner="alive")
    backlog.put_off("c", 1, 0, failed=True)
    backlog.forget_dead(lambda owner: owner == "alive")
    assert [backlog.is_put_off(one) for one in "abc"] == [False, True, True]
    assert set(backlog.ripe(100)) == {"b", "c"}


def test_clearing_forgets_everything():
    backlog = Backlog()
    backlog.add("a")
    backlog.put_off("b", 1, 0, failed=True)
    backlog.clear()
    assert len(backlog) == 0
    assert "a" not in backlog
    assert not backlog.is_put_off("b")
    assert backlog.next_at() is None
