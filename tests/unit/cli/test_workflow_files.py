"""Finding workflows in files."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.cli.scenes import Story

from callboard.cli.targets import Database
from callboard.cli.workflow_files import OURS, load, load_again
from callboard.engine.sessions import SessionInfo
from callboard.errors import DefinitionError, WorkflowNotFound

ONE = """
from callboard import Phase, Workflow
trip = Workflow("trip", state=dict, phases=[Phase("end", terminal=True)])
"""
TWO = ONE + 'walk = Workflow("walk", state=dict, phases=[Phase("end", terminal=True)])\n'

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "modules", {**sys.modules})

    def write(text: str, name: str = "flows.py") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def session(source: dict[str, str] | None) -> SessionInfo:
    return replace(Story().situation().info, source=source)


def test_the_only_workflow_needs_no_name(write: Write):
    path = write(ONE + "again = trip\n")
    found = load(str(path))
    assert found.workflow.name == "trip"
    assert found.recorded() == {"file": str(path), "name": "trip"}
    assert load(f"{path}:trip").workflow.name == "trip"


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (TWO, "", "Which workflow of {path}? choose one: flows.py:trip, flows.py:walk"),
        (TWO, ":run", "has no workflow 'run'; choose one: flows.py:trip, flows.py:walk"),
        ("x = 1\n", "", "it doesn't define any"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(
    write: Write, text: str, name: str, said: str
):
    path = write(text)
    with pytest.raises(WorkflowNotFound) as error:
        load(f"{path}{name}")
    assert said.format(path=path) in error.value.message


def test_a_folder_is_answered_with_the_workflows_in_it(
    write: Write, monkeypatch: pytest.MonkeyPatch
):
    path = write(TWO)
    path.with_name("more.py").write_text(ONE, encoding="utf-8")
    path.with_name("broken.py").write_bytes(b"x = (\xff\n")
    offers = "FILE[:NAME]. Found here: flows.py:trip, flows.py:walk, more.py:trip"
    monkeypatch.chdir(path.parent)
    with pytest.raises(WorkflowNotFound) as error:
        load(".")
    assert error.value.message == f". is a folder. Give a Python file: {offers}"
    with pytest.raises(WorkflowNotFound) as error:
        Database("t.db").startable("nope")
    assert error.value.message == (
        "There is no file nope, and no server is running that has such a workflow. "
        f"Give a Python file: {offers}"
    )


def test_many_workflows_are_not_all_listed(write: Write):
    path = write("".join(f"flow{n} = Workflow('f{n}')\n" for n in range(20)))
    with pytest.raises(WorkflowNotFound) as error:
        load(str(path.parent))
    assert error.value.message.endswith(f"{path}:flow9, …")


def test_there_is_no_such_file(tmp_path: Path):
    with pytest.raises(WorkflowNotFound, match="There is no file nope"):
        load("nope.py:trip")
    notes = tmp_path / "notes.txt"
    notes.touch()
    with pytest.raises(WorkflowNotFound, match="is not a Python file"):
        load(str(notes))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\nx +\n", "line 2: SyntaxError: invalid syntax"),
        ("import nosuchthing\n", "line 1: ModuleNotFoundError"),
        ("def f():\n    1 / 0\n\n\nf()\n", "line 2: ZeroDivisionError"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
    ],
)
def test_a_file_that_cannot_be_loaded_says_where_and_why(write: Write, text: str, said: str):
    with pytest.raises(DefinitionError) as error:
        load(str(write(text)))
    assert said in error.value.message


def test_a_wrong_definition_says_itself_what_is_wrong(write: Write):
    with pytest.raises(DefinitionError, match="'end'"):
        load(str(write(ONE.replace("terminal=True", "next='nowhere'"))))


def test_what_stands_beside_the_file_can_be_imported(write: Write):
    write("NAME = 'trip'\n", "flow_names.py")
    path = write("from flow_names import NAME\nprint('loaded')\n" + ONE)
    assert load(str(path)).workflow.name == "trip"


def test_what_a_file_prints_does_not_get_into_the_output(
    write: Write, capsys: pytest.CaptureFixture[str]
):
    load(str(write("print('loaded')\n" + ONE)))
    assert capsys.readouterr() == ("", "loaded\n")


def test_a_file_named_like_a_known_module_hides_it_from_nobody(write: Write):
    import json

    assert load(str(write(ONE, "json.py"))).workflow.name == "trip"
    assert sys.modules["json"] is json


def test_a_session_finds_its_workflow_again(write: Write):
    path = write(TWO)
    known = session({"file": str(path), "name": "trip"})
    assert load_again(known, None).name == "trip"
    # The variable was renamed: the workflow's own name still tells.
    assert load_again(session({"file": str(path), "name": "other"}), None).name == "trip"
    assert load_again(session(None), f"{path}:trip").name == "trip"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (None, "was not started from a file"),
        ({"file": "/nowhere/trip.py", "name": "trip"}, "which is gone"),
    ],
)
def test_a_workflow_that_is_gone_can_be_named(source: dict[str, str] | None, said: str):
    with pytest.raises(WorkflowNotFound, match=said) as error:
        load_again(session(source), None)
    assert error.value.message.endswith("--file FILE[:NAME]")


def test_another_workflow_will_not_do(write: Write):
    path = write(ONE.replace('"trip"', '"other"'))
    with pytest.raises(WorkflowNotFound, match="runs workflow 'trip', which is not in"):
        load_again(session({"file": str(path), "name": "trip"}), None)


def test_a_workflow_of_our_own_needs_no_file():
    found = replace(session({**OURS["delegate"], "statusFiles": "/here"}), workflow="delegate")
    assert load_again(found, None).name == "delegate"


def test_nothing_else_is_imported_because_a_session_says_so():
    for name in ("trip", "delegate"):
        other = replace(session({"module": "antigravity", "name": "geohash"}), workflow=name)
        with pytest.raises(WorkflowNotFound, match="was not started from a file"):
            load_again(other, None)
