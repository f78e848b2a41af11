"""Answers, pauses, forks, crashes and time in any order: nobody is asked or run twice."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.faults.interleaving import FileInterleavings, Interleavings

pytestmark = pytest.mark.timeout(300)


def play(machine: type[Interleavings], examples: int, steps: int) -> None:
    checked = settings(
        max_examples=examples,
        stateful_step_count=steps,
        suppress_health_check=[HealthCheck.too_slow],
    )
    run_state_machine_as_test(machine, settings=checked)


def test_interleavings():
    play(Interleavings, examples=30, steps=30)


def test_interleavings_on_a_file():
    play(FileInterleavings, examples=4, steps=15)


@pytest.mark.long
def test_many_interleavings():
    play(Interleavings, examples=3000, steps=60)


@pytest.mark.long
def test_many_interleavings_on_a_file():
    play(FileInterleavings, examples=300, steps=40)
