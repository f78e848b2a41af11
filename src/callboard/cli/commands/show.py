"""`callboard show ID`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.diagnosis import Reason, reason, situation, tell_reason
from callboard.cli.format import between, duration, error_text, moment, one_line
from callboard.cli.history import History, Stay, history, phases_seen
from callboard.cli.lookup import find_session
from callboard.cli.picture import Path, picture
from callboard.cli.printing import Cell, print_json, print_table
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.amounts import counted
from callboard.display.receipts import answerer_name, ending
from callboard.engine.offers import PhaseInfo
from callboard.engine.sessions import SessionInfo
from callboard.errors import CallboardError
from callboard.events.moments import from_ms, to_ms
from callboard.events.status import ENDED
from callboard.interactions.kinds import is_from_board
from callboard.interactions.records import Interaction
from callboard.statusfiles.progress import with_progress
from callboard.statusfiles.publishing import SOURCE

REPORT = ".claude/workflow_state_system.md"

_MOST_STAYS = 50
_MOST_FORKS = 1000
_PROMPT = 60


@dataclass(frozen=True, slots=True)
class SessionReport:
    """Everything that is shown about a session."""

    info: SessionInfo
    told: History
    why: Reason
    forks: Sequence[SessionInfo]
    answered: Sequence[Interaction]
    now: datetime


@click.command("show")
@click.argument("session", metavar="ID")
@options.workflow_file
@options.anywhere
def command(session: str, file: str | None, place: Target, as_json: bool) -> None:
    """Show a session: its path, timings and questions."""

    async def look(board: Board) -> SessionReport:
        info = await find_session(board, place, session)
        standing = await situation(board, place, info.session_id)
        forks = await board.session_page(parent=info.session_id, limit=_MOST_FORKS)
        asked = await board.people.find(session_id=info.session_id)
        [with_files] = await with_progress([standing.info])
        return SessionReport(
            info=with_files,
            told=history(await board.events(info.session_id)),
            why=reason(standing),
            forks=forks.sessions[::-1],
            answered=[one for one in asked if one.status != "pending" or one.accepted is not None],
            now=from_ms(standing.now_ms),
        )

    report = place.look(look)
    phases = _phases(report, place, file)
    if as_json:
        return print_json([_wire(report, phases)])
    screen = Screen()
    _tell_header(screen, report)
    for line in picture(phases, _path(report), min(screen.width, 120), unicode=screen.unicode):
        screen.line(*line)
    _tell_stays(screen, report)
    _tell_answers(screen, report)
    return _tell_standing(screen, report)


def _phases(report: SessionReport, place: Target, file: str | None) -> Sequence[PhaseInfo]:
    try:
        return place.phases(report.info, file)
    except CallboardError:
        if file is not None:
            raise
        return phases_seen(report.told)


def _path(report: SessionReport) -> Path:
    info, failed = report.info, None
    if info.status == "failed":
        failed = (info.error or {}).get("phase") or info.phase
    here = None if info.status in ENDED else info.phase
    told = report.told
    done = {stay.phase for stay in told.stays if stay.outcome != "skipped"}
    return Path(told.visits, told.edges, here, failed, told.visits.keys() - done)


def _tell_header(screen: Screen, report: SessionReport) -> None:
    info, now = report.info, report.now
    ended = report.told.ended
    when = f"started {moment(info.created_at, now)}"
    if ended is not None:
        when += f", ended {moment(ended, now)}"
    took = between(info.created_at, ended or now)
    if info.title:
        screen.line((one_line(info.title), "name"))
    screen.line(
        (one_line(info.workflow), "name"),
        "  ",
        screen.status(info.status),
        f"  {when}  {took}",
        (f"  session {info.session_id}", "faint"),
    )
    if info.progress:
        where = "" if info.source is None else f" in {info.source[SOURCE]}/{REPORT}"
        screen.line((f"{info.progress} phases{where}", "faint"))
    if info.parent:
        came = f"forked from {info.parent} at position {info.fork_position}"
        screen.line((came, "faint"))
    screen.line()


def _tell_stays(screen: Screen, report: SessionReport) -> None:
    stays = report.told.stays
    if not stays:
        return
    screen.line()
    if len(stays) > _MOST_STAYS:
        hidden = counted(len(stays) - _MOST_STAYS, "earlier visit")
        screen.line((f"{hidden}; all of them with --json", "faint"))
    titles = ["phase", "visit", "took", "waited", "agents", "outcome"]
    print_table(screen, titles, [_row(screen, stay, report.now) for stay in stays[-_MOST_STAYS:]])


def _row(screen: Screen, stay: Stay, now: datetime) -> list[Cell]:
    now_ms = to_ms(now)
    return [
        one_line(stay.phase),
        str(stay.number),
        duration(stay.visit.took(now_ms) / 1000),
        duration(stay.waited_ms(now_ms) / 1000) if stay.questions else "",
        _agents(stay),
        _outcome(screen, stay),
    ]


def _agents(stay: Stay) -> str:
    """Each agent once, with its number of attempts; items of a `for_each` are counted."""
    said: list[str] = []
    for name in dict.fromkeys(work.agent for work in stay.works):
        works = [work for work in stay.works if work.agent == name]
        tries = max(work.attempts for work in works)
        notes = [counted(len(works), "item")] if len(works) > 1 else []
        notes += [f"{tries} attempts"] if tries > 1 else []
        said.append(one_line(name) + (f" ({', '.join(notes)})" if notes else ""))
    return ", ".join(said)


def _outcome(screen: Screen, stay: Stay) -> Cell:
    match stay.outcome:
        case "next":
            return f"{screen.signs.arrow} {one_line(stay.next or '')}"
        case "terminal":
            return "end", "done"
        case "error":
            return error_text(stay.error or {}), "failed"
        case "open":
            return "here", "here"
        case other:
            return other, "faint"


def _tell_answers(screen: Screen, report: SessionReport) -> None:
    """Print who answered what, and the receipts."""
    if not report.answered:
        return
    screen.line()
    if len(report.answered) > _MOST_STAYS:
        hidden = counted(len(report.answered) - _MOST_STAYS, "earlier question")
        screen.line((f"{hidden}; all of them with --json", "faint"))
    shown = report.answered[-_MOST_STAYS:]
    # A workflow has the answer at once; only a coding agent has to confirm it.
    receipts = any(is_from_board(one.type) for one in shown)
    rows: list[list[Cell]] = [
        [
            one_line(one.prompt, _PROMPT),
            one_line(ending(one), _PROMPT),
            *([one.receipt or ""] if receipts else []),
            answerer_name(one),
        ]
        for one in shown
    ]
    titles = ["question", "answer", *(["receipt"] if receipts else []), "answered by"]
    print_table(screen, titles, rows)


def _tell_standing(screen: Screen, report: SessionReport) -> None:
    screen.line()
    tell_reason(screen, report.why)
    for fork in report.forks:
        screen.line(
            (f"Forked at position {fork.fork_position}: ", "faint"),
            f"{fork.session_id}  ",
            screen.status(fork.status),
        )


def _wire(report: SessionReport, phases: Sequence[PhaseInfo]) -> dict[str, object]:
    info, edges = report.info, report.told.edges
    possible = {(phase.name, to) for phase in phases for to in phase.leads_to or ()}
    return {
        **info.to_wire(),
        "phases": [phase.to_wire() for phase in phases],
        "edges": [
            {"from": source, "to": target, "taken": edges.get((source, target), 0)}
            for source, target in sorted(possible | set(edges))
        ],
        "visits": [stay.to_wire(report.now) for stay in report.told.stays],
        "why": report.why.to_wire(info.session_id, info.status),
        "forks": [fork.session_id for fork in report.forks],
        "questions": [one.to_wire() for one in report.answered],
    }
