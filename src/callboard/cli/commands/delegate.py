"""`callboard delegate TASK`."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, Literal

import click
from click.core import ParameterSource

from callboard.cli import options
from callboard.cli.commands.resume import resume_session
from callboard.cli.exit import DONE, INTERRUPTED
from callboard.cli.foreground import Begin, Continuation, Foreground, play, start
from callboard.cli.format import one_line
from callboard.cli.handover import plan_of
from callboard.cli.lookup import find_session
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.cli.task_drawing import draw
from callboard.cli.units import period
from callboard.cli.workflow_files import OURS
from callboard.delegation.agent_files import AgentFile, find_agents
from callboard.delegation.plan import Plan
from callboard.delegation.prompts import outline
from callboard.delegation.state import BoardPlace, Order, Terms
from callboard.delegation.workflow import NAME, delegation
from callboard.drivers.execution import Result
from callboard.errors import AgentError, CallboardError, NotFound, ValidationError
from callboard.events.json_values import as_object
from callboard.interactions.assignment import checked_assignees
from callboard.statusfiles.location import find_place
from callboard.statusfiles.publishing import published_in, with_status_files
from callboard.statusfiles.shelf import all_workflows
from callboard.vendors.claude.home import home
from callboard.vendors.claude.launching import PROGRAM

_LONGEST: Final = 1_000
_ALSO_WITH_RESUME: Final = ("task", "session", "database", "as_json", "debug")
_MODES: Final = ("default", "acceptEdits", "bypassPermissions")


@dataclass(frozen=True, slots=True)
class _Typed:
    """The command line's values."""

    task: str | None
    folder: Path | None
    plan_only: bool
    approve: Literal["auto", "ask"]
    allow: tuple[str, ...]
    permission_mode: Literal["default", "acceptEdits", "bypassPermissions"]
    model: str | None
    timeout: timedelta
    assignees: tuple[str, ...]
    session: str | None
    database: Database
    as_json: bool


_TERMS: Final = (
    click.option(
        "--allow", multiple=True, metavar="RULE", help="Tools that agents may use without asking."
    ),
    click.option(
        "--permission-mode",
        type=click.Choice(_MODES),
        default=_MODES[0],
        help="The agents' permission mode. Default: they ask before changing anything.",
    ),
    click.option("--model", metavar="NAME", help="The model for agents that don't name their own."),
    click.option(
        "--timeout",
        type=period,
        default="1h",
        help="Time limit for one attempt at a phase; waiting for a person doesn't count.",
    ),
    click.option(
        "--assignee",
        "assignees",
        multiple=True,
        metavar="NAME",
        help="A person, or group:NAME, who may approve the plan and decide about failures. Can be "
        "repeated. Default: anyone.",
    ),
)
"""Options for how the work is done."""


@click.command("delegate")
@click.argument("task", required=False)
@click.option(
    "--agents",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Additional agents, besides the project's .claude/agents and your own.",
)
@click.option("--plan-only", is_flag=True, help="Print the plan without running it.")
@click.option(
    "--approve",
    type=click.Choice(["auto", "ask"]),
    default="ask",
    show_default=True,
    help="Whether a person must approve the plan.",
)
@options.several(*_TERMS)
@click.option("--resume", "session", metavar="SESSION", help="Resume an earlier task.")
@options.found
@options.collected(_Typed)
def command(typed: _Typed) -> int:
    """Have coding agents do a task, phase by phase.

    A planner breaks the task into phases and picks agents from .claude/agents/*.md. Claude Code
    then works through the phases, in parallel where they don't depend on each other. Questions
    arrive in the inbox. .claude/state/workflow.json and .claude/workflow_state_system.md show
    the progress.
    """
    if typed.session is not None:
        return _resume(typed, typed.session)
    if typed.task is None or not typed.task.strip():
        raise click.UsageError(f"Describe the task: {typed.database.command('delegate', 'TASK')}")
    _check_program()
    check_trust(Path.cwd())
    order = _order(typed.task, typed)
    if order.terms.plan_only:
        return _print_plan(typed.database, order, as_json=typed.as_json)
    root, begun = Path(find_place().root), list[str]()
    stage = Foreground(typed.database, typed.as_json, False, _silent)
    code = play(stage, [delegation], _begin(order, root, begun.append))
    return _drawn(code, stage, root, *begun)


def _resume(typed: _Typed, given: str) -> int:
    database = typed.database
    if typed.task is not None:
        raise click.UsageError("--resume continues an existing task. Remove TASK.")
    _check_alone()
    info = database.ask(lambda board: find_session(board, database, given))
    if info.workflow != NAME:
        raise ValidationError(
            f"Session {info.session_id} is not a delegated task but a session of "
            f"{info.workflow!r}. Resume it: {database.command('resume', info.session_id)}",
            field="resume",
        )
    _check_program()
    stage = Foreground(database, typed.as_json, False, _silent)
    code = resume_session(Continuation(info, stage, options.user_name()))
    root = published_in(info.source)
    return code if root is None else _drawn(code, stage, root, info.session_id)


def _begin(order: Order, root: Path | None, tell: Callable[[str], object] = str) -> Begin:
    source = with_status_files(OURS[NAME], root)
    return start(delegation, order.model_dump(mode="json"), source, tell)


def _order(task: str, typed: _Typed) -> Order:
    plan = plan_of(typed.database)
    board = plan and BoardPlace(folder=str(plan.folder), database=str(plan.database))
    terms = Terms(
        approve=typed.approve,
        plan_only=typed.plan_only,
        timeout=typed.timeout.total_seconds(),
        model=typed.model,
        allow=list(typed.allow),
        permission_mode=typed.permission_mode,
        assignees=checked_assignees(typed.assignees or None),
        board=board or None,
    )
    return Order(task=task, cwd=str(Path.cwd()), agents=_agents(typed.folder), terms=terms)


def _agents(folder: Path | None) -> list[AgentFile]:
    """The agents in the given folder come first, then the project's, then the person's."""
    places = [Path(find_place().root) / ".claude" / "agents", home() / "agents"]
    found = find_agents([folder, *places] if folder else places)
    for warning in found.warnings:
        print(f"warning: {one_line(warning, _LONGEST)}", file=sys.stderr)
    return found.agents


def _print_plan(database: Database, order: Order, *, as_json: bool) -> int:
    if not as_json:
        return play(
            Foreground(database, False, False, _tell_plan), [delegation], _begin(order, None)
        )

    async def plan() -> Result:
        async with database.open([delegation], create=True) as board:
            return await board.run(
                delegation,
                order.model_dump(mode="json"),
                source=with_status_files(OURS[NAME], None),
            )

    done = asyncio.run(plan())
    if done.status != "completed":
        raise _no_plan(done, database)
    print_json([done.state.plan.model_dump(mode="json")])
    return DONE


def _no_plan(done: Result, database: Database) -> CallboardError:
    why = database.command("why", done.session_id)
    said = (done.error or {}).get("message") or f"its session is {done.status}"
    return AgentError(f"There is no plan: {said}. See: {why}", session_id=done.session_id)


def _tell_plan(screen: Screen, state: object) -> None:
    for line in outline(Plan.model_validate(as_object(state)["plan"])).splitlines():
        screen.line(line)


def _silent(screen: Screen, state: object) -> None:
    """Prints nothing: the progress is drawn from the files."""


def _drawn(code: int, stage: Foreground, root: Path, session: str) -> int:
    """Draw the phases' progress, if there is a terminal; returns the exit code."""
    if stage.as_json or code == INTERRUPTED:
        return code
    for shelved in all_workflows(find_place(root)):
        if shelved.workflow and shelved.workflow.get("session_id") == session:
            draw(Screen(), shelved.workflow, as_json=False)
            break
    return code


def _check_alone() -> None:
    """Reject options that would have no effect: a running task keeps its options."""
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name not in _ALSO_WITH_RESUME and source is ParameterSource.COMMANDLINE:
            name = option.opts[0]
            raise click.UsageError(
                f"--resume uses the options of the original task. "
                f"Remove {name} or start a new task."
            )


def _check_program() -> None:
    if shutil.which(PROGRAM) is None:
        raise NotFound(
            f"Claude Code is not installed here: there is no {PROGRAM!r} in PATH. Install it: "
            "npm install -g @anthropic-ai/claude-code, and log in once: claude"
        )


def check_trust(folder: Path) -> None:
    """Raise a ValidationError if a project's own settings would run something untrusted."""
    own = next(_own_settings(folder), None)
    if own is None or _is_trusted(folder):
        return
    raise ValidationError(
        f"Claude Code does not trust {folder}, and {own} can make it run commands. "
        "Look at it, then run `claude` here once and trust the folder.",
        field="cwd",
    )


def _own_settings(folder: Path) -> Iterator[Path]:
    """The settings that the client would apply here, up to the root of the repository."""
    persons = home().resolve()
    for place in _up_to_root(folder):
        if (place / ".claude").resolve() != persons:
            yield from sorted((place / ".claude").glob("settings*.json"))
        if (place / ".mcp.json").exists():
            yield place / ".mcp.json"


def _up_to_root(folder: Path) -> list[Path]:
    places = [folder, *folder.parents]
    roots = (number for number, place in enumerate(places) if (place / ".git").exists())
    return places[: next(roots, 0) + 1]


def _is_trusted(folder: Path) -> bool:
    projects = as_object(_known().get("projects"))
    return any(
        as_object(projects.get(str(place))).get("hasTrustDialogAccepted") is True
        for place in (folder, *folder.parents)
    )


def _known() -> Mapping[str, object]:
    """What the client remembers; empty if it was never used."""
    place = home() if os.environ.get("CLAUDE_CONFIG_DIR") else Path.home()
    try:
        return as_object(json.loads((place / ".claude.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
