"""A workflow of status files, drawn."""

from collections.abc import Iterable
from typing import Any, Final

from callboard.cli.printing import Cell, print_json, print_table
from callboard.cli.screen import Screen
from callboard.cli.wording import duration, one_line
from callboard.statusfiles.phases import Phase, Workflow
from callboard.statusfiles.shelf import Shelved
from callboard.statusfiles.turns import progress

_WIDTH: Final = 24
_SHORT: Final = 100
_STATUS = {"active": "running"}

Line = list[str | tuple[str, str]]


def draw(screen: Screen, workflow: Workflow, *, as_json: bool) -> None:
    """Print how far it is."""
    if as_json:
        return print_json([workflow])
    for line in lines(screen, workflow):
        screen.line(*line)
    return None


def lines(screen: Screen, workflow: Workflow) -> list[Line]:
    """How far it is, line by line."""
    done, count = progress(workflow)
    share = done / count if count else 0
    full, empty = ("█", "░") if screen.unicode else ("#", "-")
    cells = round(_WIDTH * share)
    sign, style = _status(screen, str(workflow["status"]))
    return [
        [(one_line(str(workflow["task"])), "name")],
        [(sign, style), f" {workflow['status']}  ", (str(workflow["id"]), "faint")],
        [(full * cells, "done"), (empty * (_WIDTH - cells), "faint"), f" {done} of {count} phases"],
        *(_phase(screen, phase) for phase in workflow["phases"]),
    ]


def draw_list(screen: Screen, shelved: Iterable[Shelved], *, as_json: bool) -> None:
    """Print workflows, one a line."""
    found = list(shelved)
    if as_json:
        return print_json(_wire(one) for one in found)
    if not found:
        screen.line('There is no workflow yet. Begin one: callboard task create "TASK" --phase …')
        return None
    rows = [_row(screen, one) for one in found]
    print_table(screen, ["workflow", "status", "phases", "where", "task"], rows)
    return None


def _phase(screen: Screen, phase: Phase) -> Line:
    sign, style = _status(screen, str(phase["status"]))
    line: Line = [(sign, style), f" {phase['id']}  {one_line(str(phase['title']))}  "]
    line.append((one_line(str(phase.get("agent") or "")), "faint"))
    took, attempts = phase.get("duration_ms"), phase.get("attempts")
    if isinstance(took, int) and phase["status"] != "active":
        line.append((f"  {duration(took / 1000)}", "faint"))
    if isinstance(attempts, int) and attempts > 1:
        line.append((f"  attempt {attempts}", "faint"))
    if phase.get("deliverables"):
        made = ", ".join(map(str, phase["deliverables"]))
        line.append(f" {screen.signs.arrow} {one_line(made, _SHORT)}")
    if phase.get("error"):
        line.append((f"  {one_line(str(phase['error']), _SHORT)}", "failed"))
    return line


def _status(screen: Screen, status: str) -> tuple[str, str]:
    try:
        sign, style = screen.status(_STATUS.get(status, status))
    except KeyError:  # A file that somebody wrote by hand.
        return "?", "failed"
    return sign.partition(" ")[0], style


def _row(screen: Screen, one: Shelved) -> list[Cell]:
    where = "here" if one.is_current else "archive"
    if one.workflow is None:
        return [one.name, ("broken", "failed"), "", where, ""]
    done, count = progress(one.workflow)
    status = str(one.workflow["status"])
    sign, style = _status(screen, status)
    task = one_line(str(one.workflow["task"]), _SHORT)
    return [one.name, (f"{sign} {status}", style), f"{done}/{count}", where, task]


def _wire(one: Shelved) -> dict[str, Any]:
    state = {"id": one.name, "current": one.is_current, "broken": one.workflow is None}
    if one.workflow is None:
        return state
    done, count = progress(one.workflow)
    kept = {key: one.workflow[key] for key in ("task", "status")}
    return {**state, **kept, "completed": done, "phases": count}
