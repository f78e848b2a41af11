"""The workflows that can be started here."""

from typing import Any

from fastapi import Response

from callboard.engine.workflow import Workflow
from callboard.server import routing
from callboard.server.access.requirement import Reads
from callboard.server.replies import reply
from callboard.server.routes.common import Serving
from callboard.server.routes.documented import failures, gives
from callboard.server.schemas import WorkflowsOut

router = routing.router("workflows")


@router.get("/workflows", responses=gives(WorkflowsOut) | failures())
async def list_workflows(serving: Serving, _: Reads) -> Response:
    """The workflows that this server runs, with their phases and the ways between them."""
    listed = [describe(workflow) for workflow in serving.board.workflows.values()]
    return reply({"workflows": listed})


def describe(workflow: Workflow) -> dict[str, Any]:
    """A workflow as the wire shows it."""
    return {
        "id": workflow.name,
        "version": workflow.version,
        "inputSchema": workflow.input_schema,
        "phases": [
            {
                "name": step.name,
                "agent": step.agent.name if step.agent else None,
                "human": step.human is not None,
                "terminal": step.phase.terminal,
            }
            for step in workflow.steps.values()
        ],
        "edges": _edges(workflow),
    }


def _edges(workflow: Workflow) -> list[dict[str, str]]:
    edges: list[dict[str, str]] = []
    for step in workflow.steps.values():
        targets = step.leads_to
        # Where a function decides and nobody has said where to, it may lead anywhere.
        anywhere = tuple(workflow.steps) if targets is None else targets
        taken = "always" if targets is not None and len(targets) == 1 else "sometimes"
        edges += [{"from": step.name, "to": target, "taken": taken} for target in anywhere]
    return edges
