"""Workflows for tests of the dashboard, with something to look at and nothing that takes time."""

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from callboard import Approval, Choice, Context, Interactive, Phase, State, Text, Workflow, agent


class Release(State):
    title: str = ""
    notes: list[str] = []
    published: str = ""


def begin(state: Release, title: str) -> None:
    state.title = title


@agent
async def writer(state: Release, ctx: Context) -> list[str]:
    """Writes the notes, others at each visit, and says each line as it comes."""
    verbs = ["Adds", "Mends", "Speeds up"] if ctx.visit == 1 else ["Brings", "Repairs", "Quickens"]
    parts = ["the fork dialog", "late answers", "the event stream"]
    lines = [f"{verb} {part}" for verb, part in zip(verbs, parts, strict=True)]
    for line in lines:
        await ctx.emit(Text(f"{line}\n"))
    return lines


def keep_notes(state: Release, notes: list[str]) -> None:
    state.notes = notes


@agent
async def publisher(state: Release, ctx: Context) -> str:
    await ctx.emit(Text(f"Publishing {state.title} …\n"))
    return f"{state.title} is out"


def keep_published(state: Release, said: str) -> None:
    state.published = said


release = Workflow(
    "release",
    state=Release,
    start=begin,
    phases=[
        Phase(
            "write",
            agent=writer,
            update=keep_notes,
            human=Approval(lambda s: f"Publish {s.title}?\n" + "\n".join(s.notes)),
            next=lambda s: "tell" if s.approved else "write",
            to=["tell", "write"],
        ),
        Phase(
            "tell",
            human=Choice("Who should hear of it?", ["everyone", "testers", "nobody yet"]),
            next="publish",
        ),
        Phase("publish", agent=publisher, update=keep_published, terminal=True),
    ],
)


class Repair(State):
    file: str = ""


def look_at(state: Repair, file: str) -> None:
    state.file = file


@agent
async def mechanic(state: Repair) -> str:
    raise RuntimeError(f"{state.file} cannot be read")


repair = Workflow(
    "repair", state=Repair, start=look_at, phases=[Phase("mend", agent=mechanic, terminal=True)]
)


class Tale(State):
    gate: str = ""


def listen(state: Tale, gate: str) -> None:
    state.gate = gate


@agent
async def teller(state: Tale, ctx: Context) -> None:
    """Says each word when its file is there."""
    for number, word in enumerate(["Once ", "upon ", "a time."]):
        while not Path(f"{state.gate}-{number}").exists():
            await asyncio.sleep(0.02)
        await ctx.emit(Text(word))


tale = Workflow(
    "tale", state=Tale, start=listen, phases=[Phase("tell", agent=teller, terminal=True)]
)


class Risk(StrEnum):
    low = "low"
    medium = "medium"
    high = "high"


class Finding(BaseModel):
    title: str = Field(max_length=60)
    risk: Risk
    line: int | None = Field(None, ge=1)


class Verdict(BaseModel):
    approved: bool = Field(description="Whether this version may go out.")
    risk: Risk = Risk.low
    notes: str = Field(title="Notes for the author")
    ticket: str | None = Field(None, pattern="^[A-Z]+-[0-9]+$", description="Such as SEC-12.")
    findings: list[Finding] = []


class Audit(State):
    version: str = ""
    verdict: dict[str, Any] = {}


def open_audit(state: Audit, version: str) -> None:
    state.version = version


def keep_verdict(state: Audit, response: Any) -> None:
    state.verdict = response.value or {}


audit = Workflow(
    "audit",
    state=Audit,
    start=open_audit,
    phases=[
        Phase(
            "review",
            human=Interactive(
                lambda s: f"May {s.version} go out?",
                context=lambda s: {
                    "version": s.version,
                    "findings": ["A token is written to the log", "A cookie lacks SameSite"],
                },
                system_prompt="Help a security engineer to understand each finding.",
                model="opus",
                cwd="/home/ada/website",
                mcp_config="/home/ada/audit.json",
                timeout=1800,
                result_type=Verdict,
            ),
            on_answer=keep_verdict,
            next=lambda s: "publish" if s.verdict.get("approved") else "drop",
            to=["publish", "drop"],
        ),
        Phase("publish", terminal=True),
        Phase("drop", terminal=True),
    ],
)
