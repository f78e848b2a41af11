"""A phase without an agent: a person says what to build.

`on_answer` puts the answer into the state, and the planner works from it.

    callboard run examples/human_only.py
"""

import asyncio
import os

from callboard import Choice, Context, HumanResponse, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))
FIRST_FILES = {
    "App": ["index.html", "app.ts"],
    "API": ["routes.py", "openapi.json"],
    "Library": ["__init__.py", "py.typed"],
}


class Project(State):
    kind: str = ""
    files: list[str] = []


def keep_kind(state: Project, response: HumanResponse) -> None:
    state.kind = response.value


@agent
async def planner(state: Project) -> list[str]:
    await asyncio.sleep(PAUSE)
    return FIRST_FILES[state.kind]


def keep_files(state: Project, files: list[str]) -> None:
    state.files = files


@agent
async def reporter(state: Project, ctx: Context) -> None:
    await ctx.emit(Text(f"The {state.kind} starts with {' and '.join(state.files)}.\n"))


human_only = Workflow(
    "human-only",
    state=Project,
    phases=[
        Phase(
            "ask",
            human=Choice("What do you want to build?", list(FIRST_FILES)),
            on_answer=keep_kind,
            next="plan",
        ),
        Phase("plan", agent=planner, update=keep_files, next="report"),
        Phase("report", agent=reporter, terminal=True),
    ],
)
