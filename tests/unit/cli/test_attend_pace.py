"""How often the list of `callboard attend` is looked at."""

from callboard.cli.attend_screen import SELDOM, SOON, PollPace


def test_a_list_that_does_not_change_is_looked_at_ever_more_seldom():
    pace = PollPace()
    waits = [pace.after(changed=False) for _ in range(20)]
    assert waits == sorted(waits)
    assert SOON < waits[0] < waits[-1] == SELDOM


def test_after_a_change_it_is_looked_at_soon():
    pace = PollPace()
    while pace.after(changed=False) < SELDOM:
        pass
    assert pace.after(changed=True) == SOON
