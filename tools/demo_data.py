"""demo_data.py DATABASE: what `make run` shows: sessions and agents, some with an open question."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

os.environ["EXAMPLE_PAUSE"] = "0"
sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

from refund import refund
from release import release
from research import research

from callboard import Callboard, Workflow
from callboard.board.demo.playing import DemoHook, scripts
from callboard.board.hook_folders import hooks_folder, make_folders, spool_folder

SESSIONS: list[tuple[str, Workflow, str, list[object]]] = [
    ("release-2-3-0", release, "2.3.0", [False, True, "10% of customers"]),
    ("refund-1038", refund, "Okafor Studio, 24, I bought the wrong plan.", []),
    ("refund-1041", refund, "Brightline GmbH, 1250, We cancelled in May.", [False]),
    ("refund-1043", refund, ", 39, The export never worked for me.", []),
    ("release-2-4-0", release, "2.4.0", []),
    ("refund-1044", refund, "Lindqvist AB, 480, Our card was charged twice in October.", []),
    ("release-2-3-1", release, "2.3.1", [True]),
    ("queue-study", research, "Should we move our queue to PostgreSQL?", [False, True]),
    ("nightly-study", research, "Can PostgreSQL run our nightly jobs?", []),
]
"""Name, workflow, input, and the answers that were given; without one, it waits."""


WORKFLOWS: list[Workflow] = [release, refund, research]

AT_WORK = {"atlas": 0.6, "crawler": 0.5, "Search in all notes": 0.6}
"""How far these agents are; the others have just finished, or are about to ask something."""


async def fill(database: Path) -> None:
    """Run every session, with the answers that people gave."""
    async with Callboard.open(database, WORKFLOWS) as board:
        for name, workflow, given, answers in SESSIONS:
            await board.run(workflow, given, session_id=name)
            for answer in answers:
                (question,) = await board.inbox(name)
                await board.answer(question.id, answer, by="ada")
                await board.drive(name)


def report(database: Path) -> None:
    """Leave what agents report where the server looks when it starts."""
    folder = hooks_folder(database)
    make_folders(folder)
    number = 0
    for script in scripts():
        for hook in so_far(script.lines, AT_WORK.get(script.title, 1.0)):
            number += 1
            left = spool_folder(folder) / f"{script.agent}.0.{number:06}.0.json"
            left.write_text(json.dumps(hook.payload), encoding="utf-8")


def so_far(lines: Sequence[DemoHook], part: float) -> Sequence[DemoHook]:
    """A part of a session; one that asks stops before its question, which needs its process."""
    asks = next((at for at, hook in enumerate(lines) if hook.asks), len(lines))
    return lines[: min(asks, round(len(lines) * part))]


def remove(database: Path) -> None:
    """Remove the database and what lies beside it."""
    for path in database.parent.glob(f"{database.name}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def main(database: Path) -> None:
    """Make the database; a failed attempt leaves nothing behind."""
    database.parent.mkdir(exist_ok=True)
    remove(database)
    try:
        asyncio.run(fill(database))
        report(database)
    except BaseException:
        remove(database)
        raise


if __name__ == "__main__":
    main(Path(sys.argv[1]))
