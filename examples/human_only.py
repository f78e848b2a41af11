"""A phase with no agent: a person alone says what is to be built.

What they choose is the name of the phase that comes next.

    callboard run examples/human_only.py
"""

import asyncio
import os

from callboard import Choice, Context, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))
KINDS = ["App", "API", "Library"]


class Project(State):
    files: list[str] = []


@agent
async def app_builder(state: Project) -> list[str]:
    await asyncio.sleep(PAUSE)
    return ["index.html", "app.ts"]


@agent
async def api_builder(state: Project) -> list[str]:
    await asyncio.sleep(PAUSE)
    return ["routes.py", "openapi.json"]


@agent
async def library_builder(state: Project) -> list[str]:
    await asyncio.sleep(PAUSE)
    return ["__init__.py", "py.typed"]


def keep_files(state: Project, files: list[str]) -> None:
    state.files = files


@agent
async def reporter(state: Project, ctx: Context) -> None:
    await ctx.emit(Text(f"Made {' and '.join(state.files)}.\n"))


human_only = Workflow(
    "human-only",
    state=Project,
    phases=[
        Phase(
            "ask",
            human=Choice("What do you want to build?", KINDS),
            next=lambda s: s.human_response.value,
            to=KINDS,
        ),
        Phase("App", agent=app_builder, update=keep_files, next="report"),
        Phase("API", agent=api_builder, update=keep_files, next="report"),
        Phase("Library", agent=library_builder, update=keep_files, next="report"),
        Phase("report", agent=reporter, terminal=True),
    ],
)
