"""Values as people read them."""

import ast
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from callboard import cli
from callboard.cli.format import (
    ago,
    duration,
    error_text,
    moment,
    one_line,
    preview,
    time_zone,
)
from callboard.cli.screen import STYLES
from callboard.display.amounts import counted

NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "0 ms"),
        (0.0501, "50 ms"),
        (0.0996, "0.1 s"),
        (1.25, "1.2 s"),
        (3, "3 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (185, "3 min 5 s"),
        (3600, "1 h"),
        (7800, "2 h 10 min"),
        (90_061, "1 d 1 h"),
        (86_405, "1 d"),
    ],
)
def test_durations_are_told_in_at_most_two_units(seconds: float, said: str):
    assert duration(seconds) == said


def test_what_happened_is_told_by_how_long_ago():
    said = [ago(NOON - timedelta(seconds=s), NOON) for s in (1, 30, 90, 7300, 200_000)]
    assert said == ["just now", "30 s ago", "1 min ago", "2 h ago", "2 d ago"]


def test_a_moment_has_its_day_unless_that_is_today(utc: None):
    assert moment(NOON, NOON) == "12:00:00"
    assert moment(NOON, NOON + timedelta(days=1)) == "2026-01-31 12:00:00"


def test_any_text_fits_on_one_line_and_hides_nothing():
    assert one_line("a\n\tb  c") == "a b c"
    assert one_line("\x1b[31mred\u202e") == r"\x1b[31mred\u202e"
    assert one_line("abcdef", 4) == "abc…"


def test_a_value_is_previewed_as_json_and_a_text_as_itself():
    assert preview({"a": [1, None]}) == '{"a":[1,null]}'
    assert preview("plain") == "plain"


def test_an_error_shows_its_type_when_that_is_the_workflows_own():
    theirs = {"code": "AGENT_ERROR", "type": "ValueError", "message": "boom\nbang"}
    assert error_text(theirs) == "ValueError: boom bang"
    assert error_text({"code": "AGENT_TIMED_OUT", "type": "X", "message": "late"}) == "late"
    assert error_text({"code": "AGENT_ERROR", "type": "KeyError", "message": "KeyError"}) == (
        "KeyError"
    )


def test_one_is_not_many():
    assert (counted(1, "event"), counted(2, "event")) == ("1 event", "2 events")
    assert counted(1000, "event") == "1,000 events"


def styles_named(source: str) -> set[str]:
    """The styles that calls such as `screen.line(("words", "style"))` name."""
    calls = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Call)]
    parts = [
        part.elts[1]
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("line", "add", "styled")
        for part in call.args
        if isinstance(part, ast.Tuple) and len(part.elts) == 2
    ]
    return {str(style.value) for style in parts if isinstance(style, ast.Constant)}


def test_every_style_that_a_command_names_is_there():
    files = Path(cli.__file__).parent.rglob("*.py")
    named = {style for file in files for style in styles_named(file.read_text("utf-8"))}
    assert named
    assert named <= STYLES.keys() | {""}


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        (":Europe/Berlin", "Europe/Berlin"),
        ("CET-1CEST", None),
        (":/etc/localtime", None),
    ],
)
def test_the_name_of_the_time_zone(monkeypatch: pytest.MonkeyPatch, given: str, known: str | None):
    monkeypatch.setenv("TZ", given)
    assert time_zone() == known
