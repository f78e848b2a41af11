"""A workflow as people read it."""

from callboard.statusfiles.phases import COMPLETED, FAILED, Phase, Workflow


def generate_markdown(workflow: Workflow) -> str:
    """The report: what the task is, how it stands, and phase by phase how far."""
    phases: list[Phase] = workflow["phases"]
    current = [one["title"] for one in phases if one["id"] == workflow.get("current_phase")]
    head = f"# Workflow Status: {_line(workflow['task'])}\n\nStatus: {_line(workflow['status'])}"
    head += f" | Current Phase: {_line([*current, 'none'][0])}\n\n## Phases\n\n"
    return head + "".join(_phase(number, phase) for number, phase in enumerate(phases))


def _phase(number: int, phase: Phase) -> str:
    mark = "x" if phase["status"] == COMPLETED else " "
    title = _line(phase["title"]) + (" (failed)" if phase["status"] == FAILED else "")
    made = ", ".join(_line(one) for one in phase.get("deliverables") or ())
    return f"- [{mark}] Phase {number}: {title}" + (f" → {made}\n" if made else "\n")


def _line(text: object) -> str:
    """One line, whatever somebody wrote: a report whose lines can be counted on."""
    return " ".join(str(text).split())
