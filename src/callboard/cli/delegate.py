"""`callboard delegate TASK`."""

import asyncio
import shutil
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from callboard.cli import options
from callboard.cli.attend_place import plan_of
from callboard.cli.audience import Audience
from callboard.cli.database import Database
from callboard.cli.exits import DONE, INTERRUPTED
from callboard.cli.foreground import Begin, Stage, play
from callboard.cli.lookup import find_session
from callboard.cli.periods import PERIOD
from callboard.cli.places import Board
from callboard.cli.printing import print_json
from callboard.cli.resume import resume_session
from callboard.cli.screen import Screen
from callboard.cli.source import OURS
from callboard.cli.task_drawing import draw
from callboard.cli.wording import one_line
from callboard.delegation.agent_files import AgentFile, find_agents
from callboard.delegation.plan import Plan
from callboard.delegation.state import BoardPlace, Order, Terms
from callboard.delegation.trust import check_trust
from callboard.delegation.wording import outline
from callboard.delegation.workflow import NAME, delegation
from callboard.drivers.execution import Result
from callboard.errors import AgentError, CallboardError, NotFound, ValidationError
from callboard.statusfiles.location import find_place
from callboard.statusfiles.publishing import published_in, with_status_files
from callboard.statusfiles.shelf import all_workflows
from callboard.vendors.claude.launching import PROGRAM
from callboard.vendors.claude.settings import home

Command = TypeVar("Command", bound=Callable[..., Any])

_LONGEST: Final = 1_000
_OF_A_NEW_ONE: Final = (
    "folder",
    "plan_only",
    "approve",
    "allow",
    "permission_mode",
    "model",
    "timeout",
)
_MODES: Final = ("default", "acceptEdits", "bypassPermissions")


def _terms(function: Command) -> Command:
    """Add how the work is to be done."""
    allow = click.option(
        "--allow", multiple=True, metavar="RULE", help="What agents may use without asking."
    )
    mode = click.option(
        "--permission-mode",
        type=click.Choice(_MODES),
        default=_MODES[0],
        help="The agents' mode. Default: they ask before they change anything.",
    )
    model = click.option(
        "--model", metavar="NAME", help="The model, where an agent does not name its own."
    )
    timeout = click.option(
        "--timeout",
        type=PERIOD,
        default="1h",
        help="How long an attempt at a phase may work; waiting for a person does not count.",
    )
    return allow(mode(model(timeout(function))))


@click.command("delegate")
@click.argument("task", required=False)
@click.option(
    "--agents",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="More agents, beside .claude/agents of the project and your own.",
)
@click.option("--plan-only", is_flag=True, help="Print the plan, and do nothing of it.")
@click.option(
    "--approve",
    type=click.Choice(["auto", "ask"]),
    default="ask",
    show_default=True,
    help="Whether a person has to agree to the plan.",
)
@_terms
@click.option("--resume", "session", metavar="SESSION", help="Go on with a task that was begun.")
@options.common
def command(task: str | None, session: str | None, database: Database, **given: Any) -> int:
    """Have a task done by coding agents, phase by phase.

    A planner breaks it into phases and picks agents from .claude/agents/*.md; then Claude Code does
    each phase, several at once where they do not need each other. What they ask is in the inbox.
    .claude/state/workflow.json and .claude/workflow_state_system.md tell how far it is.
    """
    if session is not None:
        return _resume(task, session, database, given["as_json"])
    if task is None or not task.strip():
        raise click.UsageError('Say what is to be done: callboard delegate "TASK"')
    _check_program()
    check_trust(Path.cwd())
    order = _order(task, database, given)
    if order.terms.plan_only:
        return _print_plan(database, order, as_json=given["as_json"])
    root, begun = Path(find_place().root), list[str]()
    stage = Stage(database, given["as_json"], False, _silent)
    code = play(stage, [delegation], _begin(order, root, begun.append))
    return _drawn(code, stage, root, *begun)


def _resume(task: str | None, given: str, database: Database, as_json: bool) -> int:
    if task is not None:
        raise click.UsageError("--resume goes on with its own task. Leave TASK out.")
    _check_alone()
    info = database.ask(lambda board: find_session(board, database, given))
    if info.workflow != NAME:
        raise ValidationError(
            f"Session {info.session_id} is no delegated task, but {info.workflow!r}. "
            f"Let it go on: {database.command('resume', info.session_id)}",
            field="resume",
        )
    _check_program()
    stage = Stage(database, as_json, False, _silent)
    code = resume_session(info, stage, by=options.user_name())
    root = published_in(info.source)
    return code if root is None else _drawn(code, stage, root, info.session_id)


def _begin(order: Order, root: Path | None, tell: Callable[[str], object] = str) -> Begin:
    async def begin(board: Board, audience: Audience) -> tuple[str, Awaitable[Any]]:
        execution = board.run(
            delegation,
            order.model_dump(mode="json"),
            human_input=audience.people,
            on_event=audience.tell,
            source=with_status_files(OURS[NAME], root),
        )
        tell(execution.session_id)
        return execution.session_id, execution

    return begin


def _order(task: str, database: Database, given: dict[str, Any]) -> Order:
    timeout: timedelta = given["timeout"]
    plan = plan_of(database)
    board = plan and BoardPlace(folder=str(plan.folder), database=str(plan.database))
    terms = Terms(
        approve=given["approve"],
        plan_only=given["plan_only"],
        timeout=timeout.total_seconds(),
        model=given["model"],
        allow=list(given["allow"]),
        permission_mode=given["permission_mode"],
        board=board or None,
    )
    return Order(task=task, cwd=str(Path.cwd()), agents=_agents(given["folder"]), terms=terms)


def _agents(folder: Path | None) -> list[AgentFile]:
    """Those of the folder that was named come first, then the project's, then the person's."""
    places = [Path(find_place().root) / ".claude" / "agents", home() / "agents"]
    found = find_agents([folder, *places] if folder else places)
    for warning in found.warnings:
        print(f"warning: {one_line(warning, _LONGEST)}", file=sys.stderr)
    return found.agents


def _print_plan(database: Database, order: Order, *, as_json: bool) -> int:
    if not as_json:
        return play(Stage(database, False, False, _tell_plan), [delegation], _begin(order, None))

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


def _tell_plan(screen: Screen, state: Any) -> None:
    for line in outline(Plan.model_validate(state["plan"])).splitlines():
        screen.line(line)


def _silent(screen: Screen, state: Any) -> None:
    """What there is to tell is drawn from the files."""


def _drawn(code: int, stage: Stage, root: Path, session: str) -> int:
    """Draw how far the phases are, unless nobody looks; gives the exit code back."""
    if stage.as_json or code == INTERRUPTED:
        return code
    for shelved in all_workflows(find_place(root)):
        if shelved.workflow and shelved.workflow.get("session_id") == session:
            draw(Screen(), shelved.workflow, as_json=False)
            break
    return code


def _check_alone() -> None:
    """Say which options would have no effect: a task that was begun keeps its terms."""
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in _OF_A_NEW_ONE and source is ParameterSource.COMMANDLINE:
            name = option.opts[0]
            raise click.UsageError(
                f"--resume goes on as the task was begun. Leave {name} out, or begin a new task."
            )


def _check_program() -> None:
    if shutil.which(PROGRAM) is None:
        raise NotFound(
            f"Claude Code is not installed here: there is no {PROGRAM!r} in PATH. Install it: "
            "npm install -g @anthropic-ai/claude-code, and log in once: claude"
        )
