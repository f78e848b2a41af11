"""cli_prompt at a real terminal: a script in a pseudo-terminal, and keys that are pressed."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest
from tests.terminals import end_at_once

from callboard.display.lines import visible
from callboard.engine.ports import NoAnswer, Request
from callboard.handlers.custom import as_handler
from callboard.handlers.terminal import cli_prompt

DOWN, ENTER, CTRL_C = "\x1b[B", "\r", "\x03"

SETUP = """
import asyncio
from callboard import Approval, Callboard, Choice, Context, Interactive, Phase, State, Workflow
from callboard import agent, cli_prompt, run

class Told(State):
    pass

def asking(question):
    phase = Phase("ask", human=question, terminal=True)
    return Workflow("asking", state=Told, phases=[phase])

def show(result):
    answers = [e.payload["value"] for e in result.events if e.name == "input:received"]
    print("END", result.status, answers)
"""

Spawn = Callable[[str], Any]


def put(question: str) -> str:
    """The body of a script that puts a question, and shows how that ended."""
    return f"    show(await run(asking({question}), human_input=cli_prompt()))"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Spawn]:
    """Runs a script in a terminal of its own."""
    children: list[Any] = []

    def spawn(body: str) -> Any:
        script = tmp_path / "script.py"
        script.write_text(f"{SETUP}\nasync def main():\n{body}\nasyncio.run(main())\n")
        child = pexpect.spawn(
            sys.executable,
            [str(script)],
            cwd=str(tmp_path),
            encoding="utf-8",
            timeout=20,
            dimensions=(40, 120),
            env={"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "LANG": "C.UTF-8"},
        )
        children.append(child)
        return child

    yield spawn
    for child in children:
        end_at_once(child)


@pytest.mark.parametrize(
    ("key", "answer"), [("y", "yes"), ("n", "no"), (ENTER, "no")], ids=["y", "n", "enter"]
)
def test_an_approval(terminal: Spawn, key: str, answer: str):
    child = terminal(put("Approval('Go on?')"))

    child.expect("Go on\\?.*y/N")
    child.send(key)

    child.expect(f"END completed \\['{answer}'\\]")
    child.expect(pexpect.EOF)


@pytest.mark.parametrize(
    "question",
    [
        "Approval('Go on?', assignees=['ada', 'group:ops'])",
        "Choice('Go on?', ['y', 'n'], assignees=['ada', 'group:ops'])",
        "Interactive('Go on?', assignees=['ada', 'group:ops'])",
    ],
)
def test_a_question_says_who_may_answer(terminal: Spawn, question: str):
    child = terminal(put(question))
    child.expect("Only ada or the ops group can answer\\. An answer given here is recorded")


DECISIONS = {
    "approve": ({"type": "approval"}, ENTER, "'approved'"),
    "reject": ({"type": "approval"}, DOWN + ENTER, "'rejected'"),
    "select": ({"type": "selection", "options": ["left", "right"]}, DOWN + ENTER, "'right'"),
    "write": ({"type": "freeform"}, "as it is" + ENTER, "'as it is'"),
    "structure": (
        {"type": "structured", "json_schema": {"required": ["n"]}},
        '{"n": 1}\r',
        "{'n': 1}",
    ),
}


@pytest.mark.parametrize("form", DECISIONS)
def test_a_session_is_decided(terminal: Spawn, form: str):
    schema, keys, value = DECISIONS[form]
    child = terminal(put(f"Interactive('Review it.', outcome_schema={schema!r})"))
    child.expect("Review it\\.")
    child.expect("callboard attend --session ")
    child.send(keys)
    child.expect(f"END completed \\[{re.escape(value)}\\]")


def test_a_decision_that_does_not_fit_is_told_at_once_and_may_be_left(terminal: Spawn):
    schema = {"type": "structured", "json_schema": {"required": ["n"]}}
    child = terminal(put(f"Interactive('Review it.', outcome_schema={schema!r})"))
    child.expect("as JSON")
    child.send("{}\r")
    child.expect('"n" is a required property')
    child.send("\x08\x08\r")
    child.expect("END waiting \\[\\]")


def test_a_session_is_left_for_later(terminal: Spawn):
    child = terminal(put("Interactive('Review it.', outcome_schema={'type': 'approval'})"))
    child.expect("Later")
    child.send(DOWN + DOWN + ENTER)
    child.expect("END waiting \\[\\]")


def test_a_choice_with_arrow_keys(terminal: Spawn):
    child = terminal(put("Choice('Which way?', ['Fast', 'Thorough', 'Custom'])"))

    child.expect("Which way\\?.*arrow keys.*Fast.*Thorough.*Custom")
    child.send(DOWN)
    child.expect("» Thorough")
    child.send(ENTER)

    child.expect("END completed \\['Thorough'\\]")


def test_an_answer_of_ones_own_must_not_be_empty(terminal: Spawn):
    child = terminal(put("Choice('Which way?', ['Fast'], other=True)"))

    child.expect("Other…")
    child.send(DOWN)
    child.expect("» Other…")
    child.send(ENTER)
    child.expect("Your answer:")
    child.send(ENTER)
    child.expect("Please enter an answer")
    child.send(f"by boat{ENTER}")

    child.expect("END completed \\['by boat'\\]")


def test_options_that_look_like_the_prompts_own_are_kept_apart(terminal: Spawn):
    child = terminal(put("Choice('Which way?', ['Other…', 'two\\nlines'], other=True)"))

    child.expect("» Other….*two.x0alines.*Other…")
    child.send(ENTER)

    child.expect("END completed \\['Other…'\\]")


def test_ctrl_c_leaves_the_question_pending_for_whoever_comes(terminal: Spawn, tmp_path: Path):
    child = terminal(
        "    flow = asking(Approval('Go on?'))\n"
        "    first = await run(flow, human_input=cli_prompt(), db='asked.db')\n"
        "    show(first)\n"
        "    async with Callboard.open('asked.db', [flow]) as board:\n"
        "        [question] = await board.inbox()\n"
        "        print('STILL', question.status, question.prompt)\n"
        "        await board.drive(first.session_id, human_input=cli_prompt())\n"
        "        print('THEN', (await board.session(first.session_id)).status)"
    )

    child.expect("Go on\\?.*y/N")
    child.send(CTRL_C)
    child.expect("END waiting \\[\\]")
    child.expect("STILL pending Go on\\?")
    child.expect("Go on\\?.*y/N")
    child.send("y")

    child.expect("THEN completed")
    child.expect(pexpect.EOF)


SEVERAL = """
    @agent
    async def reviewer(state: Told, ctx: Context) -> bool:
        return await ctx.ask(f"Is {ctx.item} fine?")

    phase = Phase("review", agent=reviewer, for_each=lambda s: ["one", "two", "three"],
                  parallel=3, terminal=True)
    flow = Workflow("reviews", state=Told, phases=[phase])
    show(await run(flow, human_input=cli_prompt()))
"""


def test_several_questions_are_asked_one_after_the_other(terminal: Spawn):
    child = terminal(SEVERAL)

    for item, key in (("one", "y"), ("two", "n"), ("three", "y")):
        child.expect(f"Is {item} fine\\?.*y/N")
        with pytest.raises(pexpect.TIMEOUT):
            child.expect("fine\\?", timeout=0.3)
        child.send(key)

    child.expect("END completed \\['yes', 'no', 'yes'\\]")


def test_ctrl_c_leaves_the_others_pending_too(terminal: Spawn):
    child = terminal(SEVERAL)

    child.expect("Is one fine\\?.*y/N")
    child.send(CTRL_C)

    child.expect("END waiting \\[\\]")
    child.expect(pexpect.EOF)


def test_a_question_that_is_answered_elsewhere_leaves_the_terminal(terminal: Spawn):
    child = terminal(
        "    first, second = Phase('a', human=Approval('First?'), next='b'), "
        "Phase('b', human=Approval('Second?'), terminal=True)\n"
        "    flow = Workflow('two', state=Told, phases=[first, second])\n"
        "    async with Callboard.open('asked.db', [flow]) as board:\n"
        "        running = board.run(flow, human_input=cli_prompt())\n"
        "        while not (found := await board.inbox()):\n"
        "            await asyncio.sleep(0.05)\n"
        "        await asyncio.sleep(1)\n"
        "        await board.answer(found[0].id, 'no', by='Ada')\n"
        "        show(await running)"
    )

    child.expect("First\\?.*y/N")
    child.expect("Second\\?.*y/N")
    child.send("y")

    child.expect("END completed \\['no', 'yes'\\]")


def test_what_is_shown_cannot_draw_on_the_terminal(terminal: Spawn):
    child = terminal(put("Approval('Delete\\x1b[2J \\u202eeverything?')"))

    child.expect(r"Delete\\x1b\[2J \\u202eeverything\?")


def test_after_several_lines_the_answer_has_its_own(terminal: Spawn):
    child = terminal(put("Approval('Approve this plan?\\nDay 1\\nDay 2')"))

    child.expect("Day 1.*\n.*Day 2[^y]*\n.*y/N")


def test_without_a_terminal_the_question_stays_pending(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(
        f"{SETUP}\nasync def main():\n"
        "    show(await run(asking(Approval('Go on?')), human_input=cli_prompt()))\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, script], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )

    assert done.stdout.strip() == "END waiting []"
    assert done.stderr == ""


async def test_nobody_is_asked_after_an_interruption():
    prompt = cli_prompt()
    prompt.interrupted = True
    handler = as_handler(prompt)

    assert handler is not None
    with pytest.raises(NoAnswer):
        await handler.answer(Request("q", "s", "approval", "Go?", None, False, None, None, None))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext – ünïcödé 日本", "plain\n\ttext – ünïcödé 日本"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("line\rover", "line\\x0dover"),
        ("\u202ereversed\u2066", "\\u202ereversed\\u2066"),
        ("\u2028line", "\\u2028line"),
        ("\ud800", "\\ud800"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("👩‍💻 and می‌خواهم", "👩‍💻 and می‌خواهم"),
    ],
)
def test_control_and_bidi_characters_are_made_visible(text: str, shown: str):
    assert visible(text) == shown
