"""How errors end a command."""

import orjson
import pytest

from callboard import errors
from callboard.cli.failures import exit_code, report

WRONG_USE = [
    errors.DefinitionError(),
    errors.ValidationError(),
    errors.AnswerInvalid(),
    errors.SessionNotFound(),
    errors.AlreadyAnswered(),
    errors.NotResumable(),
    errors.SessionOwned(),
    errors.StateInvalid(),
    errors.MissingExtra(),
    errors.StoreCorrupt(),
    errors.StoreTooNew(),
    errors.StoreForeign(),
]
FAILED = [
    errors.StoreError(),
    errors.StoreBusy(),
    errors.StoreFull(),
    errors.OwnershipLost(),
    errors.HandlerFailed(),
    errors.AgentTimedOut(),
    RuntimeError("no"),
]


@pytest.mark.parametrize("error", WRONG_USE, ids=lambda error: type(error).__name__)
def test_what_the_caller_can_mend_leaves_with_2(error: Exception):
    assert exit_code(error) == 2


@pytest.mark.parametrize("error", FAILED, ids=lambda error: type(error).__name__)
def test_what_the_caller_cannot_mend_leaves_with_1(error: Exception):
    assert exit_code(error) == 1


def test_one_line_says_it_and_hides_nothing(capsys: pytest.CaptureFixture[str]):
    assert report(errors.ValidationError("bad \x1b[31m value"), ["show"]) == 2
    assert capsys.readouterr() == ("", "error: bad \\x1b[31m value\n")


def test_programs_get_it_as_json(capsys: pytest.CaptureFixture[str]):
    error = errors.SessionNotFound("no s1", session_id="s1")
    report(error, ["show", "s1", "--json"])
    assert orjson.loads(capsys.readouterr().err) == {
        "error": {"code": "SESSION_NOT_FOUND", "message": "no s1", "sessionId": "s1"}
    }


def test_debugging_shows_where_it_comes_from(capsys: pytest.CaptureFixture[str]):
    error = errors.StoreFull("full")
    error.__cause__ = OSError("no space")
    assert report(error, ["show", "--debug"]) == 1
    shown = capsys.readouterr().err
    assert "OSError: no space" in shown
    assert shown.endswith("error: full\n")


def test_what_nobody_expected_says_how_to_find_out_more(capsys: pytest.CaptureFixture[str]):
    report(KeyError("x"), ["show"])
    assert capsys.readouterr().err.startswith("error: KeyError: 'x'. Run the command again with")
