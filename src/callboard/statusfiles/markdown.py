"""A workflow as a report for people."""

from callboard.statusfiles.phases import COMPLETED, FAILED, Phase, Workflow


def generate_markdown(workflow: Workflow) -> str:
    """The report: the task, its status, and the progress of each phase."""
    phases: list[Phase] = workflow["phases"]
    now = None if workflow["status"] == "completed" else workflow.get("current_phase")
    current = [one["title"] for one in phases if one["id"] == now]
    head = f"# Workflow Status: {one_line(workflow['task'])}\n\n"
    head += f"Status: {one_line(workflow['status'])} | Current Phase: "
    head += f"{one_line([*current, 'none'][0])}\n\n## Phases\n\n"
    return head + "".join(_phase(number, phase) for number, phase in enumerate(phases))


def _phase(number: int, phase: Phase) -> str:
    mark = "x" if phase["status"] == COMPLETED else " "
    how = " (failed)" if phase["status"] == FAILED else " (skipped)" if phase.get("skipped") else ""
    title = one_line(phase["title"]) + how
    made = ", ".join(one_line(one) for one in phase.get("deliverables") or ())
    return f"- [{mark}] Phase {number}: {title}" + (f" → {made}\n" if made else "\n")


def one_line(text: object) -> str:
    """The text as a single line, free of terminal control characters."""
    line = " ".join(str(text).split())
    return line if line.isprintable() else "".join(map(_shown, line))


def _shown(character: str) -> str:
    # Zero-width joiners are harmless, and lone surrogates are handled when writing.
    harmless = character.isprintable() or character == "\u200d" or "\ud7ff" < character < "\ue000"
    return character if harmless else character.encode("unicode_escape").decode()
