"""A workflow as people read it."""

from collections.abc import Mapping
from typing import Any

from callboard.statusfiles.phases import COMPLETED, FAILED


def generate_markdown(workflow: Mapping[str, Any]) -> str:
    """The report: what the task is, how it stands, and phase by phase how far."""
    phases = workflow["phases"]
    lines = [
        f"# Workflow Status: {_line(workflow['task'])}",
        "",
        f"Status: {workflow['status']} | Current Phase: {_current(workflow)}",
        "",
        "## Phases",
        "",
        *(_phase(number, phase) for number, phase in enumerate(phases)),
    ]
    return "\n".join(lines) + "\n"


def _current(workflow: Mapping[str, Any]) -> str:
    current = workflow.get("current_phase")
    titles = (_line(phase["title"]) for phase in workflow["phases"] if phase["id"] == current)
    return next(titles, "none")


def _phase(number: int, phase: Mapping[str, Any]) -> str:
    mark = "x" if phase["status"] == COMPLETED else " "
    line = f"- [{mark}] Phase {number}: {_line(phase['title'])}"
    if phase["status"] == FAILED:
        line += " (failed)"
    deliverables: list[Any] = phase.get("deliverables") or []
    if deliverables:
        line += " → " + ", ".join(_line(one) for one in deliverables)
    return line


def _line(text: Any) -> str:
    """One line, whatever somebody wrote: a report whose lines can be counted on."""
    return " ".join(str(text).split())
