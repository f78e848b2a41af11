"""The traceback of an error that a user's code raised: bounded, and their own frames."""

import json
from pathlib import Path

from callboard.engine.tracebacks import MOST, describe_raised
from callboard.errors import AgentError


def raised(function: object, *arguments: object) -> str:
    try:
        function(*arguments)  # type: ignore[operator]
    except Exception as error:
        return describe_raised(error).get("traceback", "")
    raise AssertionError("it did not raise")


def reading(text: str) -> object:
    return json.loads(text)


def wrapping(text: str) -> object:
    try:
        return reading(text)
    except ValueError as error:
        raise RuntimeError("unreadable") from error


def deep(levels: int) -> object:
    return deep(levels - 1) if levels else many(7)


def many(size: int) -> object:
    raise ValueError("x" * 100_000)


def test_it_has_the_users_frames_and_the_one_that_raised():
    found = raised(reading, "{")
    assert f'File "{Path(__file__)}"' in found
    assert ", in reading" in found
    assert ", in raw_decode" in found
    assert ", in loads" not in found


def test_a_cause_is_part_of_it():
    found = raised(wrapping, "{")
    assert "direct cause of the following exception" in found
    assert ", in reading" in found
    assert found.endswith("RuntimeError: unreadable")


def test_it_is_bounded_and_keeps_both_ends():
    found = raised(deep, 50)
    assert len(found) <= MOST
    assert found.startswith("Traceback (most recent call last):")
    assert found.endswith("xxx")


def test_it_has_no_values_of_variables():
    secret = "cb_" + "secret"
    assert secret not in raised(reading, f"{{{secret}")


def test_an_error_that_was_never_raised_has_none():
    assert "traceback" not in describe_raised(AgentError("it ended"))
