"""A session whose progress anyone can read: `cat .claude/workflow_state_system.md`.

Two writers draft chapters and a person approves them. Meanwhile, two files in the folder show what
is being done and how far along it is. Look at them from another terminal while it waits:

    python examples/status_files.py "Sailing for beginners"
    watch cat .claude/workflow_state_system.md
"""

import asyncio
import os
import sys
from pathlib import Path

from callboard import Approval, Context, Phase, State, Workflow, cli_prompt, run

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "1"))


class Book(State):
    title: str = ""
    chapters: list[str] = []
    drafts: list[str] = []


def set_up(state: Book, title: str) -> None:
    state.title = title


async def outline(state: Book) -> dict[str, list[str] | str]:
    """Returns an outline; its `deliverables` and `context_for_next` appear in the files."""
    await asyncio.sleep(PAUSE)
    return {
        "chapters": ["Wind", "Knots", "Weather"],
        "deliverables": ["outline.md"],
        "context_for_next": "Three chapters, for people who have never sailed.",
    }


def keep_outline(state: Book, made: dict[str, list[str]]) -> None:
    state.chapters, state.drafts = made["chapters"], []


async def draft(state: Book, ctx: Context) -> str:
    await asyncio.sleep(PAUSE)
    return f"A chapter about {str(ctx.item).lower()}"


def keep_draft(state: Book, made: str) -> None:
    state.drafts.append(made)


book = Workflow(
    "book",
    state=Book,
    start=set_up,
    phases=[
        Phase("outline", agent=outline, update=keep_outline, next="draft"),
        Phase(
            "draft",
            agent=draft,
            for_each=lambda state: state.chapters,
            parallel=2,
            update=keep_draft,
            human=Approval("Are the chapters good?"),
            next=lambda state: "print" if state.approved else "outline",
            to=["print", "outline"],
        ),
        Phase("print", terminal=True),
    ],
)


async def main(title: str) -> None:
    await run(book, title, human_input=cli_prompt(), status_files=Path.cwd())
    print(Path(".claude/workflow_state_system.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "Sailing for beginners"))
