"""`callboard start AGENT ["PROMPT"]`."""

from pathlib import Path
from typing import NamedTuple

import click

from callboard.board.protocol import Board
from callboard.board.starting import StartedPlate
from callboard.cli import options
from callboard.cli.attach_terminal import attach_to
from callboard.cli.format import one_line
from callboard.cli.lookup import machines
from callboard.cli.person import STARTS, ask_as_person
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Database, ServerTarget, Target
from callboard.cli.this_machine import this_machine
from callboard.errors import ValidationError
from callboard.vendors.acp.payloads import NAME as ACP
from callboard.vendors.client_programs import PROGRAMS


@click.command("start")
@click.argument("words", metavar="[AGENT] [PROMPT] | acp -- COMMAND …", nargs=-1)
@click.option("--cwd", metavar="DIR", help="The folder to work in; by default, this one.")
@click.option("--resume", metavar="SESSION", help="Resume a session: its plate, or its own id.")
@click.option(
    "--host", metavar="HOST", help="Start it on this machine: its name or id; by default, here."
)
@click.option("--prompt", metavar="TEXT", help="The first prompt, for an agent that speaks ACP.")
@click.option("--attach", is_flag=True, help="Attach to it at once.")
@options.anywhere
def command(  # noqa: PLR0913 - one for each option
    words: tuple[str, ...],
    cwd: str | None,
    resume: str | None,
    host: str | None,
    prompt: str | None,
    attach: bool,
    place: Target,
    as_json: bool,
) -> int | None:
    """Start a coding agent in the background: claude, codex, gemini, opencode or acp.

    It runs in a terminal of its own and keeps running when this terminal is closed or the server
    restarts. `callboard attach` shows it in your terminal. With --resume, AGENT can be left out.

    `callboard start acp -- COMMAND …` starts any agent that speaks the Agent Client Protocol, such
    as `opencode acp` or `gemini --acp`. It has no terminal: read it with `callboard transcript`,
    and write to it with `callboard say`.
    """
    if words[:1] == (ACP,):
        given = _AcpWords(words[1:], cwd, prompt, resume)
        return _start_acp(given, place, host=host, attach=attach, as_json=as_json)
    if prompt is not None:
        raise click.UsageError(f"--prompt is for `start {ACP}`. Put the prompt after the agent.")
    agent, prompt = _agent_and_prompt(words, is_resumed=resume is not None)
    wanted = _Wanted(agent, prompt, cwd, resume, host)
    with machines(place):
        started = ask_as_person(place, STARTS, lambda board: _start(board, place, wanted))
    _say(started, place, as_json=as_json)
    return attach_to(started.plate, place) if attach else None


class _Wanted(NamedTuple):
    agent: str
    prompt: str | None
    cwd: str | None
    resume: str | None
    host: str | None


async def _start(board: Board, place: Target, wanted: _Wanted) -> StartedPlate:
    agent, prompt, cwd, resume, host = wanted
    is_known = resume is not None and await _knows(board, resume)
    if host is None and (is_known or not agent):
        # Its plate knows its machine, and its folder if no other one was named.
        folder = "" if cwd is None else _absolute(cwd)
        return await board.starting.start(agent, folder=folder, prompt=prompt, resume=resume)
    if host is None:
        host, cwd = await _here(board, place), _absolute(cwd or ".")
    elif cwd is None and not is_known:
        raise click.UsageError("Give --cwd with --host: the folder on that machine.")
    return await board.starting.start(
        agent, folder=cwd or "", prompt=prompt, host=host, resume=resume
    )


async def _here(board: Board, place: Target) -> str | None:
    """This machine, as a server knows it; None if the board is in this process."""
    if not isinstance(place, ServerTarget):
        return None
    if (found := await this_machine(board)) is not None:
        return found
    raise ValidationError(
        f"host: the server at {place.url} is not on this machine, and this machine has no relay to "
        "it. Either name the machine and a folder there: --host HOST --cwd DIR; or pair this "
        "machine: `callboard pair` on the server makes the code for `callboard relay`.",
        field="host",
    )


async def _knows(board: Board, session: str) -> bool:
    """Whether a session has a plate: this is its id, or that of its plate."""
    plates = await board.plates.all(dismissed=True)
    return any(session in (one.plate_id, one.session_id) for one in plates)


def _absolute(folder: str) -> str:
    return str(Path(folder).expanduser().absolute())


class _AcpWords(NamedTuple):
    words: tuple[str, ...]
    cwd: str | None
    prompt: str | None
    resume: str | None


def _start_acp(
    given: _AcpWords, place: Target, *, host: str | None, attach: bool, as_json: bool
) -> int | None:
    from callboard.cli.acp_start import start_here

    if not given.words:
        raise click.UsageError(
            f"Give the command that speaks ACP: callboard start {ACP} -- opencode acp"
        )
    if host is not None:
        raise click.UsageError(
            f"`start {ACP}` only starts agents on this machine. Run it on {host}."
        )
    if attach:
        raise click.UsageError("An agent that speaks ACP has no terminal to attach to.")
    folder = Path(given.cwd or ".").expanduser().absolute()
    started = start_here(place, given.words, folder, given.prompt, given.resume)
    _say(started, place, as_json=as_json)
    return None


def _agent_and_prompt(words: tuple[str, ...], *, is_resumed: bool) -> tuple[str, str | None]:
    """The agent and the prompt."""
    agent, prompt = "", list(words)
    if prompt and (prompt[0] in PROGRAMS or not is_resumed):
        agent = prompt.pop(0)
    if not agent and not is_resumed:
        raise click.UsageError(f"Say which agent to start: {', '.join(PROGRAMS)}.")
    if len(prompt) > 1:
        raise click.UsageError('Put the prompt in quotes: callboard start claude "Fix the tests"')
    return agent, prompt[0] if prompt else None


def _say(started: StartedPlate, place: Target, *, as_json: bool) -> None:
    if started.warning is not None:
        click.echo(f"Warning: {one_line(started.warning)}", err=True)
    if isinstance(place, Database) and not place.is_served:
        click.echo(
            "Warning: no server is running, so nothing follows it. Start one: "
            f"{place.command('serve')}",
            err=True,
        )
    if as_json:
        print_json([started.to_wire()])
        return
    plate = started.plate
    where = one_line(plate.project_path)
    Screen().line(f"Starting {plate.agent} in {where}: plate {plate.plate_id}.")
    if plate.agent == ACP:
        Screen().line("Read it: ", place.command("transcript", plate.plate_id))
        Screen().line("Write to it: ", place.command("say", plate.plate_id, "…"))
        return
    Screen().line("Attach to it: ", place.command("attach", plate.plate_id))
