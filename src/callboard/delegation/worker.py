"""The agent of a phase: Claude Code with that agent's prompt, tools and model, on the board."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Final

from pydantic import BaseModel, Field

from callboard.agents.claude_code.agent import ClaudeCode, ClaudeCodeOptions
from callboard.delegation.agent_files import AgentFile
from callboard.delegation.prompts import another_attempt, phase_prompt
from callboard.delegation.state import (
    Delegation,
    PhaseResult,
    PhaseRun,
    agent_of,
    note_turn,
    planned,
)
from callboard.engine.context import Context
from callboard.engine.outputs import ItemFailed, OutputType
from callboard.engine.ports import Item, Output
from callboard.errors import AgentError
from callboard.events.payloads.agents import AgentDetails
from callboard.vendors.claude.launching import has_our_hooks
from callboard.vendors.claude.settings import ClaudeSettings
from callboard.vendors.settings.installing import InstallPlan

_LONGEST: Final = 60
NAME: Final = "worker"
BEGUN: Final = "phase_begun"
"""The event that says which phase a run works on."""
DETAILS: Final[AgentDetails] = {"provider": "claude-code"}
_FAILURE: Final = "delegation:failure:{}"


def board_arguments(state: Delegation, name: str) -> list[str]:
    """Arguments that let the client report to the board, and under which name."""
    named = f"--name={' '.join(name.split())[:_LONGEST]}"
    board = state.terms.board
    if board is None or has_our_hooks(Path(board.folder), Path(state.cwd)):
        return [named]
    wanted = ClaudeSettings().wanted(InstallPlan(Path(board.folder), Path(board.database)))
    return [named, "--settings", json.dumps(wanted)]


class WorkerReport(BaseModel):
    """An agent's report on its phase."""

    deliverables: list[str] = Field(description="Files or outcomes, each a short text.")
    context_for_next: str = Field(description="What the next phases have to know.")
    failure: str | None = Field(default=None, description="Why it cannot be done; omit otherwise.")


class PhaseDone(BaseModel):
    """A phase that is done."""

    turn: PhaseRun
    result: PhaseResult


class Worker:
    """Does one phase after another, or several in parallel."""

    name = NAME
    details = DETAILS
    output = OutputType(NAME, PhaseDone)

    async def stream(self, state: Delegation, ctx: Context) -> AsyncGenerator[Item, None]:
        """Do the phase that the item names, and end with its result."""
        turn = PhaseRun.model_validate(ctx.item)
        phase = planned(state, turn.id)
        await ctx.emit(BEGUN, f"{turn.id}  {phase.title}  ({phase.agent})")
        client = worker_client(state, turn, failure=await _failure(ctx))
        async with aclosing(client.stream(state, ctx)) as items:
            async for item in items:
                yield await _done(turn, item, ctx) if isinstance(item, Output) else item


async def _failure(ctx: Context) -> str:
    """Why the previous attempt failed, according to its agent; empty if it didn't say."""
    return await ctx.once(_FAILURE.format(ctx.attempt - 1), str) if ctx.attempt > 1 else ""


async def _done(turn: PhaseRun, ended: Output, ctx: Context) -> Output:
    report = WorkerReport.model_validate(ended.value)
    if report.failure:
        await ctx.once(_FAILURE.format(ctx.attempt), lambda: report.failure)
        raise AgentError(f"{turn.id} could not be done: {report.failure}", phase=turn.id)
    result = PhaseResult(
        deliverables=report.deliverables, context_for_next=report.context_for_next.strip()
    )
    return Output(PhaseDone(turn=turn, result=result), ended.usage)


def worker_client(state: Delegation, turn: PhaseRun, failure: str = "") -> ClaudeCode:
    """The client that does a phase; failure: why the previous attempt failed."""
    phase, terms = planned(state, turn.id), state.terms
    agent = agent_of(state, phase.agent)
    more: ClaudeCodeOptions = {
        "permission_mode": terms.permission_mode,
        "arguments": [*_tools(agent), *board_arguments(state, f"{turn.id} {phase.title}")],
    }
    if agent and agent.prompt:
        more["append_system_prompt"] = agent.prompt
    if failure:
        more["going_on"] = another_attempt(failure)
    return ClaudeCode(
        phase_prompt(state, turn),
        name=NAME,
        model=(agent.model if agent else None) or terms.model,
        cwd=state.cwd,
        allowed_tools=terms.allow,
        output=WorkerReport,
        **more,
    )


def _tools(agent: AgentFile | None) -> list[str]:
    """The agent's tools: those in its file, and the one for asking a person."""
    if agent is None:
        return []
    # With `=`, so that nothing from the file can be an option.
    forbidden = ",".join(agent.disallowed_tools)
    denied = [f"--disallowedTools={forbidden}"] if forbidden else []
    if agent.tools is None:
        return denied
    names = [tool.partition("(")[0] for tool in agent.tools if not tool.startswith("mcp__")]
    # `--tools` covers only the client's own tools. An agent that names no MCP tools gets no
    # servers.
    strict = [] if len(names) < len(agent.tools) else ["--strict-mcp-config"]
    return [*denied, *strict, f"--tools={','.join(dict.fromkeys((*names, 'AskUserQuestion')))}"]


def keep_result(state: Delegation, ended: PhaseDone | ItemFailed) -> None:
    """Store what became of a phase."""
    if isinstance(ended, ItemFailed):
        turn = PhaseRun.model_validate(ended.item)
        state.failures[turn.id] = str(ended.error.get("message") or "it failed")
    else:
        turn = ended.turn
        state.results[turn.id] = ended.result
        state.failures.pop(turn.id, None)
    note_turn(state, turn)
