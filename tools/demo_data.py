"""demo_data.py DATABASE: sessions for `make run` to show, some done, some with an open question."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

os.environ["EXAMPLE_PAUSE"] = "0"
sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

from refund import refund
from release import release

from callboard import Callboard, Workflow

SESSIONS: list[tuple[str, Workflow, str, list[object]]] = [
    ("release-2-3-0", release, "2.3.0", [False, True, "10% of customers"]),
    ("refund-1038", refund, "Okafor Studio, 24, I bought the wrong plan.", []),
    ("refund-1041", refund, "Brightline GmbH, 1250, We cancelled in May.", [False]),
    ("refund-1043", refund, ", 39, The export never worked for me.", []),
    ("release-2-4-0", release, "2.4.0", []),
    ("refund-1044", refund, "Lindqvist AB, 480, Our card was charged twice in October.", []),
    ("release-2-3-1", release, "2.3.1", [True]),
]
"""Name, workflow, input, and the answers that were given; without one, it waits."""


async def fill(database: Path) -> None:
    """Run every session, with the answers that people gave."""
    async with Callboard.open(database, [release, refund]) as board:
        for name, workflow, given, answers in SESSIONS:
            await board.run(workflow, given, session_id=name)
            for answer in answers:
                (question,) = await board.inbox(name)
                await board.answer(question.id, answer, by="ada")
                await board.drive(name)


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
    except BaseException:
        remove(database)
        raise


if __name__ == "__main__":
    main(Path(sys.argv[1]))
