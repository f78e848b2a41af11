"""The planner: Claude Code, with read-only tools."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from callboard.agents.claude_code.agent import ClaudeCode
from callboard.delegation.plan import Plan, settled
from callboard.delegation.prompts import planning_prompt
from callboard.delegation.state import Delegation
from callboard.delegation.worker import DETAILS, board_arguments
from callboard.engine.context import Context
from callboard.engine.outputs import OutputType
from callboard.engine.ports import Item, Output

NAME: Final = "planner"
_TOOLS: Final = ("Read", "Glob", "Grep")


class Planner:
    """Breaks the task into phases and picks agents; its mistakes are fixed and noted."""

    name = NAME
    details = DETAILS
    output = OutputType(NAME, Plan)

    async def stream(self, state: Delegation, ctx: Context) -> AsyncGenerator[Item, None]:
        """Plan the task, and end with the plan."""
        async with aclosing(_client(state).stream(state, ctx)) as items:
            async for item in items:
                yield (
                    Output(self._plan(state, item.value), item.usage)
                    if isinstance(item, Output)
                    else item
                )

    def _plan(self, state: Delegation, given: object) -> Plan:
        plan = self.output.load(self.output.dump(given))
        assert isinstance(plan, Plan)
        return settled(plan, state.agent_names)


def _client(state: Delegation) -> ClaudeCode:
    return ClaudeCode(
        planning_prompt(state),
        name=NAME,
        model=state.terms.model,
        cwd=state.cwd,
        output=Plan,
        # No allowed_tools: the client can read in the project without asking, and asks for the
        # rest.
        arguments=[
            "--strict-mcp-config",
            "--tools",
            ",".join((*_TOOLS, "AskUserQuestion")),
            *board_arguments(state, NAME),
        ],
    )


def keep_plan(state: Delegation, plan: Plan) -> None:
    """Store the plan in the state."""
    state.plan, state.objection = plan, ""
