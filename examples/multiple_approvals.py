"""Two approvals in one workflow: research, approve, write, approve, publish.

Each phase has its own question. A rejection sends the work back to its author.

    callboard run examples/multiple_approvals.py --input "the harbour at night"
"""

import asyncio
import os

from callboard import Approval, Context, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))


class Article(State):
    topic: str = ""
    sources: list[str] = []
    text: str = ""
    published: bool = False


def set_up(state: Article, topic: str) -> None:
    state.topic = topic


@agent
async def researcher(state: Article, ctx: Context) -> list[str]:
    kinds = ["a book", "a letter", "an old map"][: ctx.visit + 1]
    for kind in kinds:
        await asyncio.sleep(PAUSE)
        await ctx.emit(Text(f"Found {kind}.\n"))
    return [f"{kind} about {state.topic}" for kind in kinds]


@agent
async def writer(state: Article, ctx: Context) -> str:
    await asyncio.sleep(PAUSE)
    return f"On {state.topic}, after {len(state.sources)} sources (version {ctx.visit})."


@agent
async def publisher(state: Article, ctx: Context) -> None:
    await ctx.emit(Text("Published.\n"))


def keep_sources(state: Article, sources: list[str]) -> None:
    state.sources = sources


def keep_text(state: Article, text: str) -> None:
    state.text = text


def mark_published(state: Article) -> None:
    state.published = True


multiple_approvals = Workflow(
    "multiple-approvals",
    state=Article,
    start=set_up,
    phases=[
        Phase(
            "research",
            agent=researcher,
            update=keep_sources,
            human=Approval(lambda s: "Are these sources enough?\n" + "\n".join(s.sources)),
            next=lambda s: "write" if s.approved else "research",
        ),
        Phase(
            "write",
            agent=writer,
            update=keep_text,
            human=Approval(lambda s: f"Publish this?\n{s.text}"),
            next=lambda s: "publish" if s.approved else "write",
        ),
        Phase("publish", agent=publisher, update=mark_published, terminal=True),
    ],
)
