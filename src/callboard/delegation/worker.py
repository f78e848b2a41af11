"""Whoever does a phase: Claude Code with its agent's words, tools and model."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final

from pydantic import BaseModel, Field

from callboard.agents.claude_code.agent import ClaudeCode
from callboard.delegation.agent_files import AgentFile
from callboard.delegation.boarding import board_arguments
from callboard.delegation.state import Delegation, Result, Turn, agent_of, note_turn, planned
from callboard.delegation.wording import another_attempt, phase_prompt
from callboard.engine.context import Context
from callboard.engine.outputs import ItemFailed, OutputType
from callboard.engine.ports import Item, Output
from callboard.errors import AgentError

NAME: Final = "worker"
BEGUN: Final = "phase_begun"
"""The event that tells which phase a run is about."""
_FAILURE: Final = "delegation:failure:{}"


class Report(BaseModel):
    """What an agent says of its phase when it is done."""

    deliverables: list[str] = Field(description="Files or outcomes, each a short text.")
    context_for_next: str = Field(description="What the next phases have to know.")
    failure: str | None = Field(default=None, description="Why it cannot be done; else left out.")


class PhaseDone(BaseModel):
    """A phase that is done."""

    turn: Turn
    result: Result


class Worker:
    """Does one phase after the other, or several at once."""

    name = NAME
    details: Mapping[str, str] = {"provider": "claude-code"}
    output = OutputType(NAME, PhaseDone)

    async def stream(self, state: Delegation, ctx: Context) -> AsyncGenerator[Item, None]:
        """Do the phase that the item names, and end with what it brought."""
        turn = Turn.model_validate(ctx.item)
        phase = planned(state, turn.id)
        await ctx.emit(BEGUN, f"{turn.id}  {phase.title}  ({phase.agent})")
        client = worker_client(state, turn, failure=await _failure(ctx))
        async with aclosing(client.stream(state, ctx)) as items:
            async for item in items:
                yield await _done(turn, item, ctx) if isinstance(item, Output) else item


async def _failure(ctx: Context) -> str:
    """What the attempt before this one said of why it failed; empty when it said nothing."""
    return await ctx.once(_FAILURE.format(ctx.attempt - 1), str) if ctx.attempt > 1 else ""


async def _done(turn: Turn, ended: Output, ctx: Context) -> Output:
    report = Report.model_validate(ended.value)
    if report.failure:
        await ctx.once(_FAILURE.format(ctx.attempt), lambda: report.failure)
        raise AgentError(f"{turn.id} could not be done: {report.failure}", phase=turn.id)
    result = Result(
        deliverables=report.deliverables, context_for_next=report.context_for_next.strip()
    )
    return Output(PhaseDone(turn=turn, result=result), ended.usage)


def worker_client(state: Delegation, turn: Turn, failure: str = "") -> ClaudeCode:
    """The client that does a phase; failure: why its attempt before did not."""
    phase, terms = planned(state, turn.id), state.terms
    agent = agent_of(state, phase.agent)
    more: dict[str, Any] = {"append_system_prompt": agent.prompt} if agent and agent.prompt else {}
    if failure:
        more["going_on"] = another_attempt(failure)
    return ClaudeCode(
        phase_prompt(state, turn),
        name=NAME,
        model=(agent.model if agent else None) or terms.model,
        cwd=state.cwd,
        allowed_tools=terms.allow,
        output=Report,
        permission_mode=terms.permission_mode,
        arguments=[*_tools(agent), *board_arguments(state, f"{turn.id} {phase.title}")],
        **more,
    )


def _tools(agent: AgentFile | None) -> list[str]:
    """The tools that the agent has: those of its file, and the one to ask a person with."""
    if agent is None:
        return []
    # Behind `=`, so that no word of the file is an option.
    forbidden = ",".join(agent.disallowed_tools)
    denied = [f"--disallowedTools={forbidden}"] if forbidden else []
    if agent.tools is None:
        return denied
    names = [tool.partition("(")[0] for tool in agent.tools if not tool.startswith("mcp__")]
    # `--tools` is about the client's own. Who names none of a server has no server.
    strict = [] if len(names) < len(agent.tools) else ["--strict-mcp-config"]
    return [*denied, *strict, f"--tools={','.join(dict.fromkeys((*names, 'AskUserQuestion')))}"]


def keep_result(state: Delegation, ended: PhaseDone | ItemFailed) -> None:
    """Take down what became of a phase."""
    if isinstance(ended, ItemFailed):
        turn = Turn.model_validate(ended.item)
        state.failures[turn.id] = str(ended.error.get("message") or "it failed")
    else:
        turn = ended.turn
        state.results[turn.id] = ended.result
        state.failures.pop(turn.id, None)
    note_turn(state, turn)
