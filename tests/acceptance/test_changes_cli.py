"""`callboard changes`: what an agent changed, as a list and as a diff."""

import asyncio
from pathlib import Path

import orjson
import pytest
from tests.acceptance.cli_process import CallboardCommand
from tests.repositories import TestRepository, new_repository

from callboard import Callboard
from callboard.board.hosts import local_host
from callboard.board.plate import Plate


@pytest.fixture
def command(tmp_path: Path) -> CallboardCommand:
    # Commands in processes of their own are on the same machine.
    host = tmp_path / "share" / "callboard" / "host"
    host.parent.mkdir(parents=True)
    host.write_text(local_host().id)
    return CallboardCommand(tmp_path)


@pytest.fixture
def repository(tmp_path: Path) -> TestRepository:
    return new_repository(tmp_path)


@pytest.fixture
def plate(command: CallboardCommand, repository: TestRepository) -> Plate:
    async def register() -> Plate:
        async with Callboard.open(command.folder / "t.db") as board:
            return await board.plates.register(
                "claude", project_path=str(repository.root), session_id="s1"
            )

    return asyncio.run(register())


def test_the_list(command: CallboardCommand, plate: Plate, repository: TestRepository):
    assert "No files changed." in command.here("changes", plate.plate_id).out
    repository.write("README", "one\n2\nthree\n")
    repository.write("\x1b[31mnew\n")
    shown = command("changes", "s1").out
    assert shown.startswith("On main.\nCompared with the last commit.\nThere is no snapshot")
    assert "README" in shown
    assert "+1 -1" in shown
    assert "\\x1b[31mnew added" in " ".join(shown.split())
    assert "\x1b" not in shown
    told = orjson.loads(command.here("changes", plate.plate_id, "--json").out)
    assert [one["path"] for one in told["files"]] == ["\x1b[31mnew\n", "README"]


def test_one_file(command: CallboardCommand, plate: Plate, repository: TestRepository):
    repository.write("long", "line\n" * 30)
    repository.commit()
    repository.write("README", "one\n2\nthree")
    (repository.root / "long").rename(repository.root / "moved")
    repository.write("moved", "line\n" * 29 + "other\n")
    shown = command.here("changes", plate.plate_id, "--file=README", "--since=commit").out
    assert shown == (
        "README  modified\n@@ -1 +1 @@\n one\n-two\n-three\n+2\n+three\n"
        "\\ No line break at the end of the file\n"
    )
    shown = command.here("changes", plate.plate_id, "--file=moved").out
    assert shown.startswith("moved  renamed\n")
    assert shown.endswith(" line\n-line\n+other\n")
    told = orjson.loads(command.here("changes", plate.plate_id, "--file=README", "--json").out)
    assert told["file"]["added"] == 2


def test_what_is_wrong(command: CallboardCommand, plate: Plate):
    assert "no agent 'other'" in command.here("changes", "other", code=2).err
    assert (
        "not among the changed files"
        in command.here("changes", plate.plate_id, "--file=none", code=2).err
    )
    assert (
        "since: use session, turn"
        in command.here("changes", plate.plate_id, "--since=today", code=2).err
    )


def test_syntax_colors(command: CallboardCommand, plate: Plate, repository: TestRepository):
    repository.write("a.py", "def look():\n")
    arguments = ("changes", plate.plate_id, "--file=a.py")
    assert "+def look():\n" in command.here(*arguments).out
    colors = command.here(*arguments, FORCE_COLOR="1", TERM="xterm-256color", NO_COLOR="")
    assert "\x1b[35mdef\x1b[0m" in colors.out
