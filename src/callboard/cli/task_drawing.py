"""Drawing workflows from status files."""

import time
from collections.abc import Iterable, Iterator
from typing import Final

from rich.live import Live
from rich.text import Text

from callboard.cli.format import duration, one_line
from callboard.cli.printing import Cell, print_json, print_table
from callboard.cli.screen import Screen
from callboard.errors import StoreCorrupt
from callboard.statusfiles import files
from callboard.statusfiles.history import HISTORY, percent, progress
from callboard.statusfiles.location import StatusFolder
from callboard.statusfiles.phases import Phase, Workflow
from callboard.statusfiles.shelf import Shelved

_WIDTH: Final = 24
_SHORT: Final = 100
_STATUS = {"active": "running"}

Line = list[str | tuple[str, str]]


def draw(screen: Screen, workflow: Workflow, *, as_json: bool) -> None:
    """Print the progress."""
    if as_json:
        return print_json([workflow])
    for line in lines(screen, workflow):
        screen.line(*line)
    return None


def lines(screen: Screen, workflow: Workflow) -> list[Line]:
    """The progress, line by line."""
    done, count = progress(workflow)
    share = done / count if count else 0
    full, empty = ("█", "░") if screen.unicode else ("#", "-")
    cells = round(_WIDTH * share)
    sign, style = _status(screen, str(workflow["status"]))
    return [
        [(one_line(str(workflow["task"])), "name")],
        [(sign, style), f" {workflow['status']}  ", (str(workflow["id"]), "faint")],
        [
            (full * cells, "done"),
            (empty * (_WIDTH - cells), "faint"),
            f" {done} of {count} phases, {percent(workflow)} %",
        ],
        *(_phase(screen, phase) for phase in workflow["phases"]),
    ]


def draw_history(screen: Screen, workflow: Workflow, *, as_json: bool) -> None:
    """Print the changes with their times, one per line."""
    history: list[Phase] = workflow.get(HISTORY) or []
    if as_json:
        return print_json(history)
    if not history:
        screen.line(f"No changes are logged for {workflow['id']}.")
        return None
    titles = {phase["id"]: phase["title"] for phase in workflow["phases"]}
    for change in history:
        what = [f"{change['from']} {screen.signs.arrow} {change['to']}"] if "to" in change else []
        what += [f"made {', '.join(change['deliverables'])}"] if "deliverables" in change else []
        what += ["left context for the next phase"] if "context_for_next" in change else []
        what += [str(change["error"])] if "error" in change else []
        title = one_line(str(titles.get(change["phase"], change["phase"])))
        told = one_line("; ".join(what), _SHORT)
        screen.line((str(change["at"]), "faint"), f"  {title}  ", told)
    return None


def draw_list(screen: Screen, shelved: Iterable[Shelved], *, as_json: bool) -> None:
    """Print workflows, one per line."""
    found = list(shelved)
    if as_json:
        return print_json(_wire(one) for one in found)
    if not found:
        screen.line('There is no task yet. Create one: callboard task create "TASK" --phase …')
        return None
    rows = [_row(screen, one) for one in found]
    return print_table(screen, ["id", "status", "phases", "where", "task"], rows)


def _phase(screen: Screen, phase: Phase) -> Line:
    sign, style = _status(screen, str(phase["status"]))
    line: Line = [(sign, style), f" {phase['id']}  {one_line(str(phase['title']))}  "]
    line.append((one_line(str(phase.get("agent") or "")), "faint"))
    took, attempts = phase.get("duration_ms"), phase.get("attempts")
    if isinstance(took, int) and phase["status"] != "active":
        line.append((f"  {duration(took / 1000)}", "faint"))
    if isinstance(attempts, int) and attempts > 1:
        line.append((f"  attempt {attempts}", "faint"))
    if phase.get("skipped"):
        line.append(("  skipped", "faint"))
    if phase.get("deliverables"):
        made = ", ".join(map(str, phase["deliverables"]))
        line.append(f" {screen.signs.arrow} {one_line(made, _SHORT)}")
    if phase.get("error"):
        line.append((f"  {one_line(str(phase['error']), _SHORT)}", "failed"))
    return line


def _status(screen: Screen, status: str) -> tuple[str, str]:
    try:
        sign, style = screen.status(_STATUS.get(status, status))
    except KeyError:  # A file that was written by hand.
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


def _wire(one: Shelved) -> dict[str, object]:
    state: dict[str, object] = {
        "id": one.name,
        "current": one.is_current,
        "broken": one.workflow is None,
    }
    if one.workflow is None:
        return state
    done, count = progress(one.workflow)
    kept = {key: one.workflow[key] for key in ("task", "status")}
    return {**state, **kept, "completed": done, "phases": count}


_LOOK_AGAIN: Final = 0.1
_LOOKS: Final = 30
"""How often to read a broken file before it counts as broken."""


def follow(place: StatusFolder, screen: Screen, *, as_json: bool) -> Workflow:
    """Draw the workflow on each change; returns it when it has ended."""
    if screen.is_terminal and not as_json:
        return _live(place, screen)
    last: Workflow = {"status": "archived"}
    for last in _changes(place):
        draw(screen, last, as_json=as_json)
    return last


def _live(place: StatusFolder, screen: Screen) -> Workflow:
    last: Workflow = {"status": "archived"}
    with Live(console=screen.console, auto_refresh=False) as live:
        for last in _changes(place):
            drawn = [screen.styled(*line) for line in lines(screen, last)]
            live.update(Text("\n").join(drawn), refresh=True)
    return last


def _changes(place: StatusFolder) -> Iterator[Workflow]:
    """The workflow, now and on each change, until it has ended or is archived or replaced."""
    first = before = files.read(place.state)
    while before is not None:
        yield before
        if before["status"] in ("completed", "failed"):
            return
        now = before
        while now == before:
            time.sleep(_LOOK_AGAIN)
            now = _read(place)
        before = now if now and first and now["id"] == first["id"] else None


def _read(place: StatusFolder) -> Workflow | None:
    """The workflow as it is now. Not everyone writes it atomically: half a file is read again."""
    for _ in range(_LOOKS - 1):
        try:
            return files.read(place.state)
        except StoreCorrupt:
            time.sleep(_LOOK_AGAIN)
    return files.read(place.state)
