"""A workflow as people read it."""

from callboard.statusfiles.phases import COMPLETED, FAILED, Phase, Workflow


def generate_markdown(workflow: Workflow) -> str:
    """The report: what the task is, how it stands, and phase by phase how far."""
    phases: list[Phase] = workflow["phases"]
    current = [one["title"] for one in phases if one["id"] == workflow.get("current_phase")]
    lines = [
        f"# Workflow Status: {_line(workflow['task'])}",
        "",
        f"Status: {workflow['status']} | Current Phase: {_line([*current, 'none'][0])}",
        "",
        "## Phases",
        "",
        *(_phase(number, phase) for number, phase in enumerate(phases)),
    ]
    return "\n".join(lines) + "\n"


def _phase(number: int, phase: Phase) -> str:
    mark = "x" if phase["status"] == COMPLETED else " "
    title = _line(phase["title"]) + (" (failed)" if phase["status"] == FAILED else "")
    made = ", ".join(_line(one) for one in phase.get("deliverables") or ())
    return f"- [{mark}] Phase {number}: {title}" + (f" → {made}" if made else "")


def _line(text: object) -> str:
    """One line, whatever somebody wrote: a report whose lines can be counted on."""
    return " ".join(str(text).split())
