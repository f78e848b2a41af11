"""The parts of the board that are nothing but functions."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.unit.tui.scenes import permission, plan
from tests.unit.tui.scripted import ago, plate, question, session

from callboard.display.tool_calls import tool_parts
from callboard.errors import ValidationError
from callboard.tui import alerts
from callboard.tui.alerts import Needs, message
from callboard.tui.detail import asked
from callboard.tui.listing import columns
from callboard.tui.rows import NEEDS, counted, ordered, plate_row, question_row, summary
from callboard.tui.settings import BoardSettings, read_settings, write_settings
from callboard.tui.text import (
    StyledLine,
    age,
    broken,
    clipped,
    fitted,
    home_path,
    laid_out,
    lines,
    one_line,
)
from callboard.vendors.requests import request


@pytest.mark.parametrize("width", range(20, 260))
def test_columns_fill_the_width(width: int):
    found = columns(width)
    assert sum(column.width + 1 for column in found) <= max(width, 27)
    assert all(column.width > 0 for column in found)


@pytest.mark.parametrize("width", [80, 100, 132, 200])
def test_what_is_asked_has_the_most_room(width: int):
    widths = {column.name: column.width for column in columns(width)}
    assert max(widths, key=lambda name: widths[name]) == "asks"
    assert sum(widths.values()) + len(widths) == width


@pytest.mark.parametrize(
    ("text", "shown"),
    [("abc", "abc  "), ("abcdef", "abcd…"), ("日本語", "日本…"), ("", "     "), ("ab日", "ab日 ")],
)
def test_fitted_is_exactly_as_wide(text: str, shown: str):
    assert fitted(text, 5) == shown
    assert cell_len(fitted(text, 5)) == 5


def test_fitted_to_the_right():
    assert fitted("3m", 4, right=True) == "  3m"


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (7200, "2h")]
)
def test_ages(seconds: int, told: str):
    assert age(0, seconds * 1000) == told


def test_an_age_is_never_negative():
    assert age(5000, 0) == "0s"


def test_texts_hide_nothing():
    assert one_line("a\x1b[31mb\n\u202ec") == "a\\x1b[31mb \\u202ec"
    assert lines("a\tb\r\nc\x00") == ["a   b", "c\\x00"]


def test_long_texts_say_how_much_is_left_out():
    assert clipped("\n".join("abcdef"), 3) == ["a", "b", "… 4 more lines"]


def test_the_own_folder_is_short(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/ann")
    assert home_path("/home/ann/x") == "~/x"
    assert home_path("/home/annabel/x") == "/home/annabel/x"


def test_long_lines_go_on_below_their_beginning_and_lose_nothing():
    line = StyledLine("one two three", lead="  $ ")
    assert laid_out([line], 12).plain == "  $ one two\n    three"
    assert "".join(broken("x" * 50, 7)) == "x" * 50
    assert list(broken("日本語日本語", 5)) == ["日本", "語日", "本語"]
    assert list(broken("", 5)) == [""]


# ---------------------------------------------------------------------- what a tool would do


def text_of(given):
    return [
        (line.lead + line.text).removeprefix("  ")
        for part in tool_parts(given)
        for line in part.lines
    ]


def test_a_command_is_shown_whole():
    assert text_of({"command": "a\nb", "description": "why"}) == ["$ a", "  b", "why"]


def test_what_goes_with_a_command_is_not_left_out():
    shown = text_of({"command": "ls", "run_in_background": True})
    assert shown == ["$ ls", "{", '  "run_in_background": true', "}"]


def test_an_edit_is_a_diff():
    given = {"file_path": "/x/a.py", "old_string": "one\ntwo\n", "new_string": "one\n2\n"}
    assert text_of(given) == ["/x/a.py", "  one", "- two", "+ 2", "  "]


def test_several_edits():
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    assert text_of({"file_path": "f", "edits": edits}) == ["f", "- a", "+ b", "- c", "+ d"]


def test_what_goes_with_one_of_several_edits_is_not_left_out():
    edits = [{"old_string": "a", "new_string": "b", "replace_all": True}]
    shown = text_of({"file_path": "f", "edits": edits})
    assert shown == ["f", "- a", "+ b", "{", '  "replace_all": true', "}"]


@pytest.mark.parametrize(
    ("after", "said"),
    [("x\n", "only white space changes"), ("x\r\n", "nothing changes")],
)
def test_an_edit_that_looks_like_none_says_what_it_is(after: str, said: str):
    given = {"file_path": "f", "old_string": "x\r\n", "new_string": after}
    assert text_of(given) == ["f", said]


@pytest.mark.parametrize(("steps", "warned"), [(10, False), (30_000, False), (90_000, True)])
def test_a_plan_is_shown_with_its_end(steps: int, warned: bool):
    made = request("ExitPlanMode", {"plan": "a\n" * steps + "the end"}, "/p")
    shown = [line.text for line in asked(replace(plan(), config=dict(made.config)))]
    assert "the end" in shown
    assert any("only the start and the end" in line for line in shown) is warned


def test_a_new_file_is_shown_to_its_end():
    content = "\n".join(str(n) for n in range(500))
    shown = text_of({"file_path": "f", "content": content})
    assert shown[-1] == "+ 499"
    assert len(shown) == 501


@pytest.mark.parametrize("given", [{"x": 1}, [1], "text", 5, {"command": 7}, {"edits": "no"}])
def test_what_is_not_understood_is_shown_as_it_is(given: object):
    assert text_of(given)


def test_nothing_is_nothing():
    assert text_of(None) == []
    assert text_of({}) == []


# ---------------------------------------------------------------------- rows


def test_a_plate_that_this_version_does_not_know_is_shown():
    row = plate_row(plate("x", "dreaming"))
    assert row.standing.word == "dreaming"


def test_pinned_ones_are_on_top_of_their_group_only():
    rows = [
        plate_row(plate("a", "idle", pinned=True)),
        plate_row(plate("b", "running")),
        plate_row(plate("c", "running", pinned=True, at=ago(seconds=1))),
    ]
    assert [row.title for row in ordered(rows)] == ["c", "b", "a"]


def test_a_subagent_that_asks_makes_its_plate_needy():
    row = plate_row(plate("shop", "running", attention=True), [permission()])
    assert (row.group, row.standing.word) == (0, "approve")


@pytest.mark.parametrize("status", ["idle", "running", "starting"])
def test_a_dialog_of_a_subagent_is_never_called_done(status: str):
    asks = plate("shop", status, unseen=True, waitingFor="Run: make clean")
    row = plate_row(asks)
    assert (row.standing.word, row.asks) == ("approve", "Run: make clean")
    assert row.group == NEEDS


def test_the_summary_counts_no_closed_ones():
    rows = [plate_row(plate("a", "closed")), plate_row(plate("b", "error"))]
    assert summary(counted(rows)) == "1 needs you"
    assert summary(counted([rows[0]])) == ""


# ---------------------------------------------------------------------- calling


def test_the_first_look_calls_nobody_and_every_need_calls_once():
    needs = Needs()
    idle, error = plate_row(plate("a", "idle")), plate_row(plate("a", "error"))
    assert needs.new([error]) == []
    assert needs.new([error]) == []
    assert needs.new([idle]) == []
    assert needs.new([error]) == [error]
    asks = plate_row(plate("a", "error"), [permission()])
    assert needs.new([asks]) == [asks]


def test_messages_of_terminals():
    assert message("a;b", "c;d", {"TERM": "foot"}) == "\x1b]777;notify;a,b;c,d\a"
    assert message("a", "b", {"TERM": "xterm-kitty"}) == "\x1b]9;a: b\a"
    wrapped = message("a", "b", {"TERM": "screen", "TMUX": "x"})
    assert wrapped == "\x1bPtmux;\x1b\x1b]9;a: b\a\x1b\\"


def test_each_state_is_heard_as_the_person_chose():
    quiet, bell, tones = (BoardSettings(sound=one) for one in ("off", "bell", "tones"))
    states = ("awaiting_approval", "awaiting_input", "error", "idle", "closed", "running")
    assert {quiet.sound_of(one) for one in states} == {"off"}
    assert [bell.sound_of(one) for one in states] == ["bell"] * 4 + ["off"] * 2
    heard = ["rise", "chime", "alarm", "ping", "fall", "off"]
    assert [tones.sound_of(one) for one in states] == heard
    mapped = tones.hearing(["idle=off", "error=/alarm.wav", "closed=knock"])
    heard = ["rise", "chime", "/alarm.wav", "off", "knock", "off"]
    assert [mapped.sound_of(one) for one in states] == heard


def test_sounds_are_turned_on_and_off_by_name():
    assert BoardSettings().hearing([]).sound == "off"
    assert BoardSettings().hearing(["tones"]).sound == "tones"
    assert BoardSettings().hearing(["error=bell"]) == BoardSettings(
        sound="tones", sounds={"error": "bell"}
    )
    assert BoardSettings(sound="tones").hearing(["error=bell", "off"]).sound == "off"


@pytest.mark.parametrize("choice", ["loud", "error=loud", "sleepy=bell", "error=tones"])
def test_a_sound_that_nobody_knows_is_refused(choice: str):
    with pytest.raises(ValidationError, match="Use "):
        BoardSettings().hearing([choice])


def test_a_session_that_ended_is_heard_once():
    needs = Needs()
    runs, closed = plate_row(plate("a", "running")), plate_row(plate("a", "closed"))
    assert needs.ended([closed]) == []
    assert needs.ended([runs]) == []
    assert needs.ended([closed]) == [closed]
    assert needs.ended([closed]) == []


def test_the_most_pressing_of_several_is_heard(monkeypatch: pytest.MonkeyPatch):
    played: list[str] = []
    monkeypatch.setattr(alerts, "play", lambda sound: played.append(sound) or True)
    tones = BoardSettings(sound="tones")
    done, asks = plate_row(plate("a", "idle", unseen=True)), plate_row(plate("b"), [permission()])
    closed = plate_row(plate("c", "closed"))
    alerts.call([done, asks], tones, [closed])
    alerts.call([done], tones)
    alerts.call([], tones, [closed])
    alerts.call([], tones)
    alerts.call([asks], BoardSettings())
    assert played == ["rise", "ping", "fall"]


def test_settings_are_kept(tmp_path: Path):
    file = tmp_path / "new" / "board.json"
    liked = BoardSettings(
        theme="light",
        order="project",
        closed=True,
        sound="/x.wav",
        desktop=True,
        sounds={"error": "alarm"},
    )
    write_settings(file, liked)
    assert read_settings(file) == liked
    assert list(file.parent.iterdir()) == [file]


def test_a_place_that_cannot_be_written_to_is_no_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    write_settings(tmp_path / "file" / "board.json", BoardSettings())


def test_a_session_with_status_files_shows_how_far_it_is():
    asked = question("q1", "approval", session_id="s1", phase="ship")
    known = replace(session("s1", "book"), progress="3/5")
    assert question_row(asked, known).todo == "3/5"
    assert question_row(asked, session("s1", "book")).todo == ""


def test_a_session_is_called_by_its_title():
    asked = question("q1", "approval", session_id="s1", phase="ship")
    known = replace(session("s1", "book"), title="Summer\x1b[2J trip")
    assert question_row(asked, known).title == "Summer\\x1b[2J trip/ship"
    assert question_row(asked, session("s1", "book")).title == "book/ship"


def test_a_question_says_who_may_answer_and_who_is_expected_to():
    shown = replace(question("q"), assignees=["ada", "group:release"], assigned_to=["ada"])
    told = [line.text for line in asked(shown)]
    assert "Assigned to ada" in told
    assert "Only ada or the release group can answer." in told
    assert not any("answer." in line.text for line in asked(question("q")))
