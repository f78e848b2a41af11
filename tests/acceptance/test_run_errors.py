"""What `callboard run` says when an input is missing, or when a workflow's own code raises."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from tests.acceptance.cli_process import CallboardCommand

FLOWS = """
import json
from dataclasses import dataclass

from callboard import Phase, Workflow


@dataclass
class Order:
    city: str
    nights: int
    note: str = ""


def with_city(state, city: str):
    state["city"] = city


def with_order(state, order: Order):
    state["city"] = order["city"] * order["nights"]


def undeclared(state, given):
    state["city"] = given.upper()


def maybe(state, given: str | None):
    state["city"] = given


def reader(state):
    return parsed("{")


def parsed(text):
    return json.loads(text)


def divided(state, output):
    return 1 / 0


def flow(name, start=None, **more):
    return Workflow(name, state=dict, start=start, phases=[Phase("do", terminal=True, **more)])


city = flow("city", with_city)
order = flow("order", with_order)
anything = flow("anything", undeclared)
optional = flow("optional", maybe)
reading = flow("reading", agent=reader)
dividing = flow("dividing", agent=lambda state: 1, update=divided)
"""


def line_of(text: str) -> int:
    return FLOWS[: FLOWS.index(text)].count("\n") + 1


@pytest.fixture
def call(callboard: CallboardCommand) -> CallboardCommand:
    callboard.flows.write_text(FLOWS, encoding="utf-8")
    return callboard


@pytest.fixture
def server(call: CallboardCommand) -> Iterator[str]:
    process = call.start("serve", "flows.py", "--port", "0", "--json", "--db", "there.db")
    assert process.stdout is not None
    yield orjson.loads(process.stdout.readline())["url"]
    process.terminate()
    process.communicate(timeout=120)


def test_a_missing_input_is_named_with_an_example(call: CallboardCommand):
    said = call.here("run", "flows.py:city", code=2).err
    assert said == (
        "error: Workflow 'city' needs an input: city (string). Give it with --input, for "
        "example: callboard run flows.py:city --input text\n"
    )
    call.here("run", "flows.py:city", "--input", "text")
    said = call.here("run", "flows.py:order", code=2).err
    assert "needs an input: city (string), nights (integer). " in said
    example = """callboard run flows.py:order --input '{"city": "text", "nights": 1}'"""
    assert said.endswith(f"for example: {example}\n")
    ran = call.here("run", "flows.py:order", "--input", '{"city": "Oslo ", "nights": 2}')
    assert "Oslo Oslo" in ran.out


def test_an_undeclared_input_is_named_when_start_fails_without_it(call: CallboardCommand):
    said = call.here("run", "flows.py:anything", code=2).err
    assert "start of workflow 'anything' raised AttributeError" in said
    assert "needs an input: given. Give it with --input, for example: " in said
    call.here("run", "flows.py:anything", "--input", "Rome")
    wrong = call.here("run", "flows.py:reading", code=1).err
    assert "--input" not in wrong


def test_an_input_that_may_be_missing_is_not_asked_for(call: CallboardCommand):
    call.here("run", "flows.py:optional")


def test_a_server_needs_the_same_input(call: CallboardCommand, server: str):
    said = call.here("run", "order", "--server", server, code=2).err
    assert "needs an input: city (string), nights (integer). " in said
    assert "callboard run order --input" in said
    typed = '{"city": "Oslo ", "nights": 2}'
    assert "Oslo Oslo" in call.here("run", "order", "--server", server, "--input", typed).out


def test_an_agent_that_raises_shows_where(call: CallboardCommand):
    said = call.here("run", "flows.py:reading", code=1).err
    assert f'File "{call.flows}", line {line_of("return parsed")}, in reader' in said
    assert f'File "{call.flows}", line {line_of("json.loads(text)")}, in parsed' in said
    assert "return json.loads(text)" in said
    assert "JSONDecodeError" in said.splitlines()[-2]
    assert said.splitlines()[-1].startswith("Retry it: callboard retry ")
    assert "callboard/engine" not in said


def test_so_does_any_other_function_of_a_workflow(call: CallboardCommand):
    said = call.here("run", "flows.py:dividing", code=1).err
    assert f'File "{call.flows}", line {line_of("1 / 0")}, in divided' in said


def test_why_and_the_events_have_it_too(call: CallboardCommand):
    failed = call.here("run", "flows.py:reading", "--json", code=1)
    told = orjson.loads(failed.err)["error"]
    assert told["traceback"].startswith("Traceback (most recent call last):\n")
    session = told["sessionId"]
    events = {one["name"]: one["payload"] for one in failed.json}
    assert events["phase:failed"]["error"]["traceback"] == told["traceback"]
    assert events["workflow:failed"]["error"]["traceback"] == told["traceback"]
    (shown,) = call.here("sessions", "--json").json
    assert shown["error"]["traceback"] == told["traceback"]
    assert ", in parsed" in call.here("why", session).out


def test_with_debug_the_whole_traceback_is_shown(call: CallboardCommand):
    said = call.here("run", "flows.py:reading", "--debug", code=1).err
    assert "callboard/engine/attempt.py" in said
    again = call.here("run", "flows.py:reading", code=1).err
    assert "callboard/engine/attempt.py" not in again


def test_what_an_error_hides_is_made_visible(call: CallboardCommand, tmp_path: Path):
    call.flows.write_text(
        FLOWS.replace('return parsed("{")', 'raise ValueError("a\\x1b[31mb")'), encoding="utf-8"
    )
    assert "\x1b" not in call.here("run", "flows.py:reading", code=1).err
