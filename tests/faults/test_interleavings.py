"""Answers, pauses, forks, crashes and time in any order: nobody is asked or run twice.

The long ones take half a second for each example; CALLBOARD_INTERLEAVED_SESSIONS says how many.
"""

import os

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from tests.faults.interleaving import FileInterleavings, Interleavings

MANY = int(os.environ.get("CALLBOARD_INTERLEAVED_SESSIONS", "500"))


def play(machine: type[Interleavings], examples: int, steps: int) -> None:
    checked = settings(max_examples=examples, stateful_step_count=steps)
    run_state_machine_as_test(machine, settings=checked)


@pytest.mark.timeout(300)
def test_interleavings():
    play(Interleavings, examples=15, steps=30)


@pytest.mark.timeout(300)
def test_interleavings_on_a_file():
    play(FileInterleavings, examples=4, steps=15)


@pytest.mark.long
@pytest.mark.timeout(4 * MANY)
def test_many_interleavings():
    play(Interleavings, examples=MANY, steps=60)


@pytest.mark.long
@pytest.mark.timeout(4 * MANY)
def test_many_interleavings_on_a_file():
    play(FileInterleavings, examples=MANY // 6, steps=40)
