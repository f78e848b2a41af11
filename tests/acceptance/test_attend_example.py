"""The harness of forty lines, from which somebody could start their own."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.servers import TOKEN, serving

from callboard.app import Callboard

EXAMPLE = Path(__file__).parents[2] / "examples" / "harness_40_lines.py"


def run(place: str, typed: str, **env: str) -> str:
    command = [sys.executable, str(EXAMPLE), place]
    done = subprocess.run(
        command, input=typed, capture_output=True, text=True, check=True, env=env or None
    )
    return done.stdout


async def ask(path: Path, prompt: str = "Which environment?") -> str:
    async with Callboard.open(path) as board:
        asked = await board.people.ask(
            type="interactive_session",
            prompt=prompt,
            config={"outcomeSchema": {"type": "selection", "options": ["staging", "production"]}},
        )
    return asked.id


@pytest.mark.parametrize(
    ("typed", "status", "response"),
    [
        ('"staging"\n', "completed", "staging"),
        ("\n", "cancelled", None),
        ('"moon"\n', "pending", None),
    ],
)
async def test_on_a_database(tmp_path: Path, typed, status, response):
    id = await ask(tmp_path / "t.db")
    said = run(str(tmp_path / "t.db"), typed)
    assert "Which environment?" in said
    async with Callboard.open(tmp_path / "t.db") as board:
        found = await board.interaction(id)
    assert (found.status, found.response) == (status, response)


@pytest.mark.parametrize("typed", ["yes\n", '"moon"\n', ""])
async def test_what_is_no_decision_is_told_and_left_for_others(tmp_path: Path, typed: str):
    id = await ask(tmp_path / "t.db", prompt="\x1b]0;owned\x07Which one?")
    said = run(str(tmp_path / "t.db"), typed)
    assert "No decision:" in said
    assert "\x1b" not in said
    async with Callboard.open(tmp_path / "t.db") as board:
        found = await board.interaction(id)
    assert (found.status, found.claimed_by) == ("pending", None)


async def test_on_a_server(tmp_path: Path):
    id = await ask(tmp_path / "t.db")
    async with serving(tmp_path / "t.db") as server:
        assert "completed" in run(server.url, '"staging"\n', CALLBOARD_TOKEN=TOKEN)
        async with server.client() as client:
            found = (await client.get(f"/interactions/{id}")).json()
    assert (found["status"], found["response"]) == ("completed", "staging")


async def test_what_another_sees_to_is_left_to_them(tmp_path: Path):
    id = await ask(tmp_path / "t.db")
    async with Callboard.open(tmp_path / "t.db") as board:
        await board.people.claim(id, by="somebody")
        assert "somebody is working on question" in run(str(tmp_path / "t.db"), '"staging"\n')
        assert (await board.interaction(id)).status == "pending"


def test_it_has_forty_lines():
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 40
