"""Everything a person can do on the board, by key presses."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tui.scenes import COMMAND, busy_board, choices, one, permission, plan
from tests.unit.tui.scripted import ScriptedSource, ago, plate, question
from tests.unit.tui.stage import Stage, staged

from callboard.board.hook_backlog import NO_BACKLOG, HookBacklog
from callboard.events.moments import to_ms


def waiting(**more):
    return plate("shop", "awaiting_approval", interactionId="q-shop", **more)


async def go_to(stage: Stage, title: str) -> None:
    """Select a row by the keys that select one."""
    await stage.press("g")
    for _ in range(20):
        row = stage.app.selected
        if row is not None and row.title.startswith(title):
            return
        await stage.press("j")
    raise AssertionError(f"{title} is not on the board")


# ---------------------------------------------------------------------- answering


async def test_yes_shows_the_exact_command_and_enter_allows_it(tmp_path: Path):
    source = one(waiting(), permission())
    async with staged(source, tmp_path) as stage:
        await stage.press("y")
        assert f"$ {COMMAND}" in stage.text
        assert source.answers == []
        await stage.press("enter")
        await stage.until(lambda: source.answers)
        assert source.answers == [("q-shop", {"approved": True})]


def session(schema: dict[str, Any] | None, **config: Any) -> ScriptedSource:
    """A board on which a workflow asks for an interactive session."""
    told = {**config, **({} if schema is None else {"outcomeSchema": schema})}
    asked = question("q1", "interactive_session", prompt="Review it.", session_id="s1", config=told)
    return ScriptedSource(questions=[asked])


@pytest.mark.parametrize(
    ("schema", "keys", "value"),
    [
        ({"type": "approval"}, ["y", "enter"], True),
        ({"type": "approval"}, ["enter", "n", "enter"], False),
        ({"type": "selection", "options": ["left", "right"]}, ["2", "enter"], "right"),
        ({"type": "selection", "options": ["left", "right"]}, ["enter", "down", "enter"], "right"),
        ({"type": "freeform"}, ["enter", "a", "s", "space", "i", "s", "enter"], "as is"),
        (None, ["enter", "o", "k", "enter"], "ok"),
    ],
)
async def test_a_session_with_a_simple_decision_is_decided_in_place(
    tmp_path: Path, schema: dict[str, Any] | None, keys: list[str], value: Any
):
    source = session(schema, context={"file": "a.py"})
    async with staged(source, tmp_path, (120, 40)) as stage:
        assert "With an agent: callboard attend --session s1" in stage.text
        assert '"file": "a.py"' in stage.text
        await stage.press(*keys)
        await stage.until(lambda: source.answers)
        assert source.answers == [("q1", value)]


@pytest.mark.parametrize(
    ("schema", "config"),
    [
        ({"type": "structured", "jsonSchema": {"type": "object"}}, {}),
        ({"type": "object"}, {}),
        ({"type": "approval"}, {"requiredParticipants": ["ann", "bob"]}),
    ],
)
async def test_any_other_session_says_how_to_attend(
    tmp_path: Path, schema: dict[str, Any], config: dict[str, Any]
):
    source = session(schema, **config)
    async with staged(source, tmp_path, (120, 40)) as stage:
        await stage.press("y", "1", "enter")
        assert "Decide with an agent: callboard attend --session s1" in stage.text
        assert source.answers == []


async def test_a_key_that_is_held_down_allows_nothing(tmp_path: Path):
    source = one(waiting(), permission())
    async with staged(source, tmp_path) as stage:
        await stage.press(*["y"] * 10)
        await stage.press("escape")
        await stage.press(*["enter"] * 10)
        assert source.answers == []


async def test_no_can_say_why(tmp_path: Path):
    source = one(waiting(), permission())
    async with staged(source, tmp_path) as stage:
        await stage.press("n")
        await stage.type("ask me first")
        await stage.press("enter")
        await stage.until(lambda: source.answers)
        said = {"approved": False, "message": "ask me first"}
        assert source.answers == [("q-shop", said)]


async def test_no_needs_no_reason(tmp_path: Path):
    source = one(waiting(), permission())
    async with staged(source, tmp_path) as stage:
        await stage.press("n", "enter")
        await stage.until(lambda: source.answers)
        assert source.answers == [("q-shop", {"approved": False})]


async def test_a_mind_can_be_changed_before_it_is_sent(tmp_path: Path):
    source = one(waiting(), permission())
    async with staged(source, tmp_path) as stage:
        await stage.press("enter", "y", "n", "escape")
        await stage.press("enter", "y", "escape")
        assert source.answers == []


async def test_a_rule_is_made_only_where_the_agent_offers_one(tmp_path: Path):
    rule = {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "psql\n*"}, {"toolName": "Read"}],
        "behavior": "allow",
        "destination": "userSettings",
    }
    offered = permission(suggestions=[rule])
    source = one(waiting(), offered)
    async with staged(source, tmp_path) as stage:
        await stage.press("y")
        assert "Bash(" not in stage.text
        await stage.press("a")
        assert "Allow, always?" in stage.text
        assert "Allow without asking for all your projects" in stage.text
        assert "Bash(psql\\x0a*)" in stage.text
        assert "    Read" in stage.text
        await stage.press("enter")
        await stage.until(lambda: source.answers)
        assert source.answers == [("q-shop", {"approved": True, "always": True})]


async def test_no_rule_is_made_of_what_the_agent_did_not_offer(tmp_path: Path):
    source = one(waiting(), permission())
    async with staged(source, tmp_path) as stage:
        await stage.press("y", "a", "enter")
        await stage.until(lambda: source.answers)
        assert source.answers == [("q-shop", {"approved": True})]


async def test_rules_come_into_view_whatever_was_looked_at(tmp_path: Path):
    long = {"command": "\n".join(f"step {n}" for n in range(100))}
    offered = permission(toolInput=long, suggestions=[{"type": "addDirectories", "of": "tomorrow"}])
    async with staged(one(waiting(), offered), tmp_path) as stage:
        await stage.press("y", "end")
        assert "step 99" in stage.text
        await stage.press("a")
        assert "Let it work in" in stage.text


async def test_a_plan_is_approved_without_a_word_which_nobody_would_hear(tmp_path: Path):
    source = one(plate("api", "awaiting_approval"), plan())
    async with staged(source, tmp_path) as stage:
        await stage.press("n")
        await stage.type("smaller")
        await stage.press("escape", "y")
        assert "2. Read from the new one" in stage.text
        assert "A word to" not in stage.text
        await stage.press("enter")
        await stage.until(lambda: source.answers)
        assert source.answers == [("q-api", {"approved": True})]


async def test_a_plan_is_sent_back_with_a_word(tmp_path: Path):
    source = one(plate("api", "awaiting_approval"), plan())
    async with staged(source, tmp_path) as stage:
        await stage.press("n")
        await stage.type("smaller")
        await stage.press("enter")
        await stage.until(lambda: source.answers)
        assert source.answers == [("q-api", {"approved": False, "feedback": "smaller"})]


async def test_several_questions_are_answered_by_numbers(tmp_path: Path):
    source = one(plate("docs", "awaiting_input"), choices())
    async with staged(source, tmp_path) as stage:
        await stage.press("enter", "2", "1", "3", "enter")
        await stage.until(lambda: source.answers)
        (answer,) = source.answers
        assert answer[1] == {
            "answers": {
                "Which store should carts live in?": "Redis",
                "What should the first version have?": ["Guest carts", "Reminders"],
            }
        }


async def test_an_answer_in_words_of_ones_own(tmp_path: Path):
    source = one(plate("docs", "awaiting_input"), choices())
    async with staged(source, tmp_path) as stage:
        await stage.press("enter", "3")
        await stage.type("SQLite 3")
        await stage.press("enter", "2")
        await stage.press("4")
        await stage.type("speed")
        await stage.press("enter")
        await stage.until(lambda: source.answers)
        answers = list(source.answers[0][1]["answers"].values())
        assert answers == ["SQLite 3", ["Merge at login", "speed"]]


async def test_one_can_go_back_to_the_question_before(tmp_path: Path):
    source = one(plate("docs", "awaiting_input"), choices())
    async with staged(source, tmp_path) as stage:
        await stage.press("enter", "2", "backspace", "1", "down", "space", "enter")
        await stage.until(lambda: source.answers)
        answers = list(source.answers[0][1]["answers"].values())
        assert answers == ["PostgreSQL", ["Merge at login"]]


async def test_a_number_on_the_list_opens_the_question_there_and_sends_nothing(tmp_path: Path):
    source = one(plate("docs", "awaiting_input"), choices())
    async with staged(source, tmp_path) as stage:
        await stage.press("2")
        assert "▸ 2 Redis" in stage.text
        assert source.answers == []


async def test_an_approval_of_a_workflow(tmp_path: Path):
    source = ScriptedSource(
        [], [question("q1", "approval", prompt="Go to Rome?", session_id="s1", phase="plan")]
    )
    async with staged(source, tmp_path) as stage:
        assert "s1/plan" in stage.text
        await stage.press("y", "enter")
        await stage.until(lambda: source.answers)
        assert source.answers == [("q1", True)]


async def test_a_choice_of_a_workflow(tmp_path: Path):
    asked = question("q1", "choice", prompt="Which way?", options=["left", "right"])
    source = ScriptedSource([], [asked])
    async with staged(source, tmp_path) as stage:
        await stage.press("enter", "2")
        await stage.until(lambda: source.answers)
        assert source.answers == [("q1", "right")]


async def test_who_comes_second_is_told_kindly(tmp_path: Path):
    source = one(waiting(), permission())
    async with staged(source, tmp_path) as stage:
        await stage.press("y")
        del source.questions["q-shop"]
        await stage.press("enter")
        await stage.until(lambda: "Already answered" in stage.text)
        assert "bob has answered" in stage.text
        assert source.answers == []


async def test_a_dialog_whose_question_is_answered_elsewhere_closes(tmp_path: Path):
    source = one(waiting(), permission())
    async with staged(source, tmp_path) as stage:
        await stage.press("n")
        await stage.type("but")
        source.close("q-shop")
        await stage.until(lambda: len(stage.app.screen_stack) == 1)
        await stage.until(lambda: "no longer open" in stage.text)


async def test_a_dialog_answers_the_question_it_shows_and_no_other(tmp_path: Path):
    source = one(waiting(), permission())
    async with staged(source, tmp_path) as stage:
        await stage.press("y")
        worse = permission("q-other", toolInput={"command": "rm -rf /"})
        source.questions = {"q-other": replace(worse, created_at=ago(hours=1)), **source.questions}
        source.tell("input:requested", "q-other")
        await stage.settle()
        await stage.press("enter")
        await stage.until(lambda: source.answers)
        assert source.answers == [("q-shop", {"approved": True})]


async def test_an_input_that_was_cut_is_said_to_be(tmp_path: Path):
    source = one(waiting(), permission(truncated=True))
    async with staged(source, tmp_path) as stage:
        await stage.press("y")
        assert "only the start and the end" in stage.text


async def test_what_only_the_terminal_can_answer_is_said_to_be(tmp_path: Path):
    source = one(plate("shop", "awaiting_approval", waitingFor="Run: make", tmuxTarget="%1"))
    async with staged(source, tmp_path) as stage:
        assert "only be answered in its own terminal" in stage.text
        await stage.press("y")
        assert len(stage.app.screen_stack) == 1


# ---------------------------------------------------------------------- order, filter, marks


async def test_who_needs_a_person_comes_first(tmp_path: Path):
    async with staged(busy_board(), tmp_path, (80, 40)) as stage:
        titles = [row.title for row in stage.app._list._rows]
        needy = ["trip/plan", "shop/checkout", "docs", "infra", "search"]
        assert titles == [*needy, "ledger/month end", "api", "blog"]


async def test_closed_ones_are_shown_when_asked_for_and_that_is_remembered(tmp_path: Path):
    source = busy_board()
    async with staged(source, tmp_path, (80, 40)) as stage:
        assert "× closed" not in stage.text
        await stage.press("c")
        assert "× closed" in stage.text
    async with staged(busy_board(), tmp_path, (80, 40)) as stage:
        assert "× closed" in stage.text


async def test_a_filter_wants_every_word(tmp_path: Path):
    async with staged(busy_board(), tmp_path, (80, 40)) as stage:
        await stage.press("slash")
        await stage.type("running month")
        assert [row.title for row in stage.app._list._rows] == ["ledger/month end"]
        await stage.press("enter")
        assert stage.app.selected is not None
        await stage.press("escape")
        assert len(stage.app._list._rows) == 8


async def test_a_filter_that_finds_nothing_says_how_to_end_it(tmp_path: Path):
    async with staged(busy_board(), tmp_path) as stage:
        await stage.press("slash")
        await stage.type("nowhere")
        assert "Escape to clear the filter" in stage.text


async def test_orders(tmp_path: Path):
    async with staged(busy_board(), tmp_path, (80, 40)) as stage:
        await stage.press("o")
        titles = [row.title for row in stage.app._list._rows]
        assert titles[:2] == ["docs", "shop/checkout"]
        await stage.press("o")
        titles = [row.title for row in stage.app._list._rows]
        assert titles == [
            *["docs", "infra", "search", "shop/checkout", "trip/plan"],
            *["ledger/month end", "api", "blog"],
        ]
        assert "by project" in stage.text


async def test_what_a_person_stays_at_is_seen_and_does_not_run_away(tmp_path: Path):
    source = busy_board()
    async with staged(source, tmp_path, (80, 40)) as stage:
        await go_to(stage, "search")
        await stage.until(lambda: source.changes)
        await stage.settle()
        assert source.changes == [("search", {"seen": True})]
        assert [row.title for row in stage.app._list._rows][4] == "search"
        await stage.press("k")
        await stage.settle()
        stage.app.show_changes()
        assert [row.title for row in stage.app._list._rows][4] != "search"


async def test_what_a_person_only_passes_is_not_seen(tmp_path: Path):
    source = busy_board()
    async with staged(source, tmp_path, (80, 40)) as stage:
        for _ in range(6):
            await stage.press("j")
            stage.clock.skip(0.4)
        await stage.until(lambda: stage.clock.monotonic() > 30)
        assert source.changes == []


async def test_what_the_board_itself_selects_is_not_seen(tmp_path: Path):
    source = one(plate("shop", "idle", attention=True, unseen=True))
    async with staged(source, tmp_path) as stage:
        stage.clock.skip(60)
        await stage.pilot.pause()
        assert source.changes == []


async def test_the_cursor_stays_on_its_row_when_others_move(tmp_path: Path):
    source = busy_board()
    async with staged(source, tmp_path, (80, 40)) as stage:
        await go_to(stage, "api")
        source.put(plate("new", "error", at=ago(hours=9), error="boom"))
        await stage.until(lambda: "boom" in stage.text)
        assert stage.app.selected is not None
        assert stage.app.selected.title == "api"


async def test_pin_name_and_dismiss(tmp_path: Path):
    source = one(plate("api"))
    async with staged(source, tmp_path) as stage:
        await stage.press("p")
        await stage.until(lambda: "▴" in stage.text)
        await stage.press("n")
        await stage.type("router")
        await stage.press("enter")
        await stage.until(lambda: "api/router" in stage.text)
        await stage.press("N")
        await stage.press("ctrl+u", "enter")
        await stage.until(lambda: "api/router" not in stage.text)
        await stage.press("d")
        await stage.until(lambda: "No agents yet" in stage.text)
        assert source.changes == [
            ("api", {"pinned": True}),
            ("api", {"name": "router"}),
            ("api", {"name": ""}),
            ("api", None),
        ]


async def test_enter_shows_all_about_what_asks_nothing(tmp_path: Path):
    source = one(plate("api", "idle", lastMessage="\n".join(f"line {n}" for n in range(9))))
    async with staged(source, tmp_path) as stage:
        await stage.press("enter")
        assert "line 8" in stage.text
        await stage.press("escape")
        assert len(stage.app.screen_stack) == 1


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
async def test_quitting(tmp_path: Path, key: str):
    async with staged(busy_board(), tmp_path) as stage:
        await stage.press(key)
        assert stage.app._exit


async def test_keys_that_do_nothing_here_are_not_offered(tmp_path: Path):
    async with staged(one(plate("api")), tmp_path, (120, 24)) as stage:
        keys = stage.lines[-1]
        assert "Yes" not in keys
        assert "Resume" not in keys
        assert "Filter" in keys


async def test_how_a_person_likes_it_is_remembered(tmp_path: Path):
    async with staged(busy_board(), tmp_path) as stage:
        await stage.press("T", "o", "b", "w")
    kept = json.loads((tmp_path / "board.json").read_text())
    assert kept == {
        "theme": "light",
        "order": "latest",
        "closed": False,
        "sound": "bell",
        "desktop": True,
        "sounds": {},
    }


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"theme":7,"order":"x","closed":"yes"}'])
async def test_settings_that_cannot_be_read_are_as_in_the_beginning(tmp_path: Path, broken: str):
    (tmp_path / "board.json").write_text(broken)
    async with staged(busy_board(), tmp_path) as stage:
        assert stage.app.theme == "dark"


# ---------------------------------------------------------------------- the server


async def test_a_backlog_is_announced_until_it_is_read(tmp_path: Path):
    source = busy_board()
    source.unread = HookBacklog(3214, to_ms(ago(seconds=23)))
    async with staged(source, tmp_path, (100, 40)) as stage:
        await stage.until(lambda: "Catching up." in stage.text)
        assert "3,214 reports from agents not shown yet; the oldest arrived 23s ago." in stage.text
        source.unread = NO_BACKLOG
        await stage.press("ctrl+l")
        await stage.until(lambda: "Catching up." not in stage.text)


async def test_a_server_that_went_away_and_came_back(tmp_path: Path):
    source = busy_board()
    async with staged(source, tmp_path, (80, 40)) as stage:
        source.go_away()
        await stage.until(lambda: "Stale since" in stage.text)
        assert "shop/checkout" in stage.text
        source.on_board["late"] = plate("late", "error", error="missed")
        source.come_back()
        await stage.until(lambda: "missed" in stage.text)
        assert "Stale since" not in stage.text
        assert source.connections == 2


async def test_an_answer_that_cannot_be_sent_is_said_to_be(tmp_path: Path):
    source = one(waiting(), permission())
    async with staged(source, tmp_path) as stage:
        await stage.press("y")
        source.go_away()
        await stage.press("enter")
        await stage.until(lambda: "No server is running" in stage.text)
        assert source.answers == []


async def test_one_change_is_one_look(tmp_path: Path):
    source = ScriptedSource([plate(f"p{n}", at=ago(seconds=n)) for n in range(1000)])
    async with staged(source, tmp_path, (80, 40)) as stage:
        rows = stage.app._list._rows
        source.looks.clear()
        source.put(plate("p7", "error", error="boom"))
        await stage.until(lambda: "boom" in stage.text)
        assert source.looks == ["p7", "waiting"]
        # Rows that have not changed are the same objects: nothing else was made anew.
        known = {id(row) for row in rows}
        assert sum(id(row) not in known for row in stage.app._list._rows) == 1


async def test_of_a_thousand_rows_only_those_in_view_are_drawn(tmp_path: Path, monkeypatch):
    source = ScriptedSource([plate(f"p{n}", at=ago(seconds=n)) for n in range(1000)])
    async with staged(source, tmp_path, (80, 40)) as stage:
        drawn: list[str] = []
        listing = stage.app._list
        cells = listing._segments
        monkeypatch.setattr(listing, "_segments", lambda row: drawn.append(row.key) or cells(row))
        await stage.press("G")
        assert stage.app.selected is not None
        # The rows at the top may have been drawn once more before the key arrived.
        assert 0 < len(set(drawn)) <= 2 * 40


@pytest.mark.parametrize("part", ["head", "warning", "filter", "empty", "main"])
async def test_a_second_that_passes_while_it_is_taken_down_breaks_nothing(
    tmp_path: Path, part: str
):
    async with staged(ScriptedSource([plate("p")]), tmp_path) as stage:
        await stage.app._base.query_one(f"#{part}").remove()
        stage.app._tick()
        stage.app.show_changes()


async def test_a_burst_is_looked_at_together(tmp_path: Path):
    source = ScriptedSource([plate(f"p{n}") for n in range(200)])
    async with staged(source, tmp_path) as stage:
        source.looks.clear()
        for n in range(200):
            source.put(plate(f"p{n}", "idle", lastMessage=f"done {n}"))
        await stage.until(lambda: "200 idle" in stage.text)
        assert source.looks.count("plates") <= 2
        assert len(source.looks) <= 6
