"""`callboard task create|start|done|fail|show|watch|history|list|archive`."""

import json
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import click

from callboard.cli.exit import DONE, FAILED
from callboard.cli.format import one_line
from callboard.cli.screen import Screen
from callboard.cli.task_drawing import draw, draw_history, draw_list, follow
from callboard.errors import NotFound, ValidationError
from callboard.events.json_values import as_list, as_object, is_mapping, objects
from callboard.statusfiles import (
    advance,
    archive,
    create_workflow_state,
    files,
    get_workflow_state,
    update_phase_status,
)
from callboard.statusfiles.location import StatusFolder, find_place
from callboard.statusfiles.phases import ACTIVE, Phase, Workflow
from callboard.statusfiles.shelf import all_workflows

Phases = list[Mapping[str, object]]
GIVEN: Final = '"TITLE:AGENT"'

_GIVEN = re.compile(r"(?P<title>.*\S)\s*:\s*(?P<agent>[^:@\s]+)(?:@(?P<wave>\d+))?", re.DOTALL)
Command = TypeVar("Command", bound=Callable[..., object])

_PHASE = click.argument("phase", required=False)


def _folder(place: StatusFolder) -> Path:
    return Path(place.root, ".claude", "workflow_templates")


def template_names(place: StatusFolder) -> list[str]:
    """The project's templates."""
    return sorted(file.stem for file in _folder(place).glob("*.json"))


def read_template(place: StatusFolder, name: str) -> Phases:
    """The phases of a template: a list, or an object with `phases`."""
    if name not in template_names(place):
        known = ", ".join(template_names(place)) or "no templates yet"
        raise NotFound(
            f"There is no template {name!r}. {_folder(place)} has {known}.", template=name
        )
    file = _folder(place) / f"{name}.json"
    try:
        found = json.loads(files.data_of(file) or b"")
    except (ValueError, RecursionError) as error:
        raise files.broken(file, str(error)) from error
    listed = as_list(as_object(found).get("phases") if is_mapping(found) else found)
    phases = objects(listed)
    if not phases or len(phases) < len(listed):
        raise ValidationError(
            f'{file} has no phases. Write [{{"title": "…", "agent": "…"}}, …].', template=name
        )
    return phases


def given_phase(text: str) -> dict[str, object]:
    """`Write tests:verifier`, or `Write tests:verifier@2` for the second wave."""
    found = _GIVEN.fullmatch(text.strip())
    if found is None:
        raise ValidationError(
            f"--phase {text!r} does not name an agent. Write {GIVEN}, or "
            '"TITLE:AGENT@2" for phases that run in parallel.',
            field="phase",
        )
    phase: dict[str, object] = {"title": found["title"], "agent": found["agent"]}
    return phase | ({"wave": int(found["wave"])} if found["wave"] else {})


def _common(function: Command) -> Command:
    where = click.option(
        "--path",
        type=click.Path(exists=True, file_okay=False),
        help="The project's folder. Default: the current folder.",
    )
    as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    debug = click.option(
        "--debug", is_flag=True, expose_value=False, help="Show a traceback for errors."
    )
    return where(as_json(debug(function)))


@click.group("task", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Track delegated work in status files that agents and people can read.

    .claude/state/workflow.json is the source of truth; .claude/workflow_state_system.md is a
    readable report of it. No server is needed. To have agents update them automatically:
    callboard hooks install --status-files
    """
    click.get_current_context().with_resource(warnings.catch_warnings())
    warnings.showwarning = _warned


def _warned(message: Warning | str, *where: object) -> None:
    """Print a warning without the line of code that raised it."""
    click.echo(f"warning: {one_line(str(message))}", err=True)


@command.command("create")
@click.argument("task")
@click.option(
    "--phase",
    "phases",
    multiple=True,
    metavar="TITLE:AGENT[@WAVE]",
    help="A phase; repeat it for each one, in order.",
)
@click.option(
    "--template", metavar="NAME", help="Take the phases from .claude/workflow_templates/NAME.json."
)
@click.option("--plain", is_flag=True, help="Leave times, attempts and errors out of the file.")
@_common
def _create(
    task: str,
    phases: tuple[str, ...],
    template: str | None,
    plain: bool,
    path: str | None,
    as_json: bool,
) -> int:
    """Create a task. The previous one is archived.

    Phases with the same wave run in parallel: --phase "Write docs:writer@2"
    """
    if bool(phases) == (template is not None):
        raise click.UsageError(f"Give --phase {GIVEN}, once or more, or --template NAME.")
    given = read_template(find_place(path), template) if template else map(given_phase, phases)
    create_workflow_state(task, list(given), path=path, details=not plain)
    return _tell(path, as_json)


@command.command("start")
@_PHASE
@_common
def _start(phase: str | None, path: str | None, as_json: bool) -> int:
    """Start the phases that are ready, or the one you name: phase_N."""
    workflow = _current(path)
    if phase is None:
        advance(workflow["id"], path=path)
    else:
        update_phase_status(workflow["id"], phase, ACTIVE, path=path)
    return _tell(path, as_json)


@command.command("done")
@_PHASE
@click.option(
    "--deliverable", "deliverables", multiple=True, metavar="TEXT", help="What the phase produced."
)
@click.option("--context", metavar="TEXT", help="What the next phase needs to know.")
@_common
def _done(
    phase: str | None,
    deliverables: tuple[str, ...],
    context: str | None,
    path: str | None,
    as_json: bool,
) -> int:
    """Complete a phase, by default the current one, and start the next."""
    workflow = _current(path)
    update_phase_status(
        workflow["id"], phase or _active(workflow), "completed", deliverables, context, path=path
    )
    advance(workflow["id"], path=path)
    return _tell(path, as_json)


@command.command("fail")
@_PHASE
@click.option("--error", metavar="TEXT", help="The reason.")
@_common
def _fail(phase: str | None, error: str | None, path: str | None, as_json: bool) -> int:
    """Mark a phase as failed, by default the current one. `start PHASE` retries it."""
    workflow = _current(path)
    update_phase_status(
        workflow["id"], phase or _active(workflow), "failed", error=error, path=path
    )
    return _tell(path, as_json)


@command.command("show")
@click.argument("workflow", metavar="[ID]", required=False)
@_common
def _show(workflow: str | None, path: str | None, as_json: bool) -> int:
    """Show the progress of the current or an archived task.

    ID is that of an archived one. `callboard task list` lists them.
    """
    return _tell(path, as_json, workflow)


@command.command("watch")
@_common
def _watch(path: str | None, as_json: bool) -> int:
    """Follow the progress of the task until it ends.

    The exit code is 1 if it failed.
    """
    _current(path)
    over = follow(find_place(path), Screen(), as_json=as_json)
    return FAILED if over["status"] == "failed" else DONE


@command.command("history")
@_common
def _history(path: str | None, as_json: bool) -> int:
    """Show the changes to the task, with times."""
    draw_history(Screen(), _current(path), as_json=as_json)
    return DONE


@command.command("list")
@_common
def _list(path: str | None, as_json: bool) -> int:
    """List the project's tasks, the current one first."""
    draw_list(Screen(), all_workflows(find_place(path)), as_json=as_json)
    return DONE


@command.command("archive")
@click.argument("workflow", metavar="[ID]", required=False)
@_common
def _archive(workflow: str | None, path: str | None, as_json: bool) -> int:
    """Archive the task. `show` and `list` still find it."""
    archived = archive(workflow or _current(path)["id"], path=path)
    if not as_json:
        print(f"Archived. Show it again: callboard task show {archived}")
    return _tell(path, as_json, archived)


def _current(path: str | None) -> Workflow:
    workflow = get_workflow_state(path=path)
    if workflow is None:
        raise NotFound(
            f"There is no task in {find_place(path).root}. Create one: "
            f'callboard task create "TASK" --phase {GIVEN}'
        )
    return workflow


def _active(workflow: Workflow) -> str:
    known: list[Phase] = workflow["phases"]
    active = [phase["id"] for phase in known if phase["status"] == ACTIVE]
    if not active:
        raise NotFound(
            f"No phase of {workflow['id']} is active. Name one of "
            f"{', '.join(phase['id'] for phase in known)}, or: callboard task start"
        )
    return active[0]


def _tell(path: str | None, as_json: bool, workflow_id: str | None = None) -> int:
    found = get_workflow_state(workflow_id, path=path) if workflow_id else _current(path)
    if found is not None:
        draw(Screen(), found, as_json=as_json)
    return DONE
