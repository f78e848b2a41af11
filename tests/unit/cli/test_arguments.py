"""What people type, and what it means."""

import stat
from pathlib import Path

import pytest

from callboard.cli import targets as databases
from callboard.cli.commands.fork import read_edits
from callboard.cli.options import user_name
from callboard.cli.questions import meant
from callboard.cli.targets import Database, default_path
from callboard.errors import NotFound, ValidationError

CITY = {"op": "replace", "path": "/city", "value": "Rome"}


@pytest.mark.parametrize(
    ("typed", "option"),
    [
        ("Train", "Train"),
        ("2", "Train"),
        ("1", "Plane"),
        ("4", "4"),
        ("0", "0"),
        ("train", "train"),
        ("²", "²"),
    ],
)
def test_an_option_is_meant_by_itself_or_by_its_number(typed: str, option: str):
    assert meant(typed, ["Plane", "Train", "Foot"]) == option


def test_an_option_that_is_a_number_is_itself():
    assert meant("2", ["3", "5", "2"]) == "2"
    assert meant("1", None) == "1"


def test_edits_are_a_patch_an_operation_or_a_file(tmp_path: Path):
    (tmp_path / "edit.json").write_text('[{"op": "remove", "path": "/x"}]', encoding="utf-8")
    assert read_edits('[{"op":"replace","path":"/city","value":"Rome"}]') == [CITY]
    assert read_edits('{"op":"replace","path":"/city","value":"Rome"}') == [CITY]
    assert read_edits(f"@{tmp_path}/edit.json") == [{"op": "remove", "path": "/x"}]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("{", "--edit is not valid JSON"),
        ("[1]", "must be a JSON Patch"),
        ("@/nowhere/x", "Cannot read"),
    ],
)
def test_edits_that_are_none(typed: str, said: str):
    with pytest.raises(ValidationError, match=said):
        read_edits(typed)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path


def test_the_default_database_is_private_and_made_when_it_is_wanted(home: Path):
    async def count(board: databases.Callboard) -> int:
        return len(await board.sessions())

    assert Database().ask(count) == 0
    folder = home / "share" / "callboard"
    assert default_path() == folder / "callboard.db"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(default_path().stat().st_mode) == 0o600


def test_a_database_that_was_named_has_to_be_there(tmp_path: Path):
    with pytest.raises(NotFound, match="There is no database"):
        Database(str(tmp_path / "typo.db")).open()
    assert not (tmp_path / "typo.db").exists()


@pytest.mark.usefixtures("home")
def test_commands_name_the_database_unless_it_is_the_default():
    assert Database().command("why", "s1") == "callboard why s1"
    assert Database(f"sqlite:///{default_path()}").command("why", "s1") == "callboard why s1"
    assert Database("my data.db").command("why", "s1") == "callboard why s1 --db 'my data.db'"


def test_a_user_without_a_name_is_nobody(monkeypatch: pytest.MonkeyPatch):
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr("callboard.cli.options.getuser", nameless)
    assert user_name() is None
