"""`callboard hooks install|uninstall|status`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import click

from callboard.board.places import connection_file, hooks_folder, make_folders
from callboard.cli import options
from callboard.cli.database import Database
from callboard.cli.exits import DONE, FAILED
from callboard.cli.failures import as_payload
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.service import installed_port
from callboard.clock import SystemClock
from callboard.disk.private import make_private_folder
from callboard.errors import CallboardError, NotFound, SettingsUnusable, ValidationError
from callboard.server.access.tokens import Tokens
from callboard.server.hook_access import keep_hooks_in
from callboard.vendors.claude.protocol import LESSONS
from callboard.vendors.claude.settings import http_obstacles
from callboard.vendors.claude.status_hook import has_status_hooks
from callboard.vendors.settings import (
    AgentSettings,
    Outcome,
    Plan,
    Scope,
    Transport,
    install,
    uninstall,
)
from callboard.vendors.settings_agents import INSTALLABLE, Installable
from callboard.vendors.settings_files import check_inside, read

_ALL: Final = "all"
_CLAUDE: Final = "claude"


@dataclass(slots=True)
class _Done:
    """What was done for one agent."""

    agent: str
    path: Path
    changed: bool
    transport: str | None = None
    answers: bool | None = None
    backup: Path | None = None
    remarks: list[str] = field(default_factory=list[str])

    def add(self, outcomes: list[Outcome]) -> None:
        """Count in what was done to files beside the settings."""
        changed = [outcome.file.path for outcome in outcomes if outcome.changed]
        self.changed = self.changed or bool(changed)
        self.remarks += [f"{path} too" for path in changed]

    def to_wire(self) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "path": str(self.path),
            "changed": self.changed,
            "transport": self.transport,
            "answers": self.answers,
            "backup": str(self.backup) if self.backup else None,
            "remarks": self.remarks,
        }


_OPTIONS: Final = (
    click.option(
        "--agent",
        "agent",
        type=click.Choice([*INSTALLABLE, _ALL]),
        default=_ALL,
        show_default=True,
        help="Whose hooks; all are those that are found on this machine.",
    ),
    click.option(
        "--scope",
        type=click.Choice(["user", "project"]),
        default="user",
        show_default=True,
        help="Your own settings, or those of the project that you are in.",
    ),
    click.option(
        "--transport",
        type=click.Choice(["auto", "http", "command", "spool"]),
        default="auto",
        show_default=True,
        help="install: how hooks reach the server. auto is http with a service, else spool.",
    ),
    click.option(
        "--answers",
        type=click.Choice(["on", "off"]),
        help="install: whether permissions can be answered from the board. "
        "On, but for Codex, which asks in its terminal only after the board.",
    ),
    click.option(
        "--port",
        type=click.IntRange(1, 65535),
        help="install: the server's port, for http. Default: the one of `callboard service`.",
    ),
    click.option("--force", is_flag=True, help="install: http although there is no service."),
    click.option(
        "--status-files",
        is_flag=True,
        help="install: also keep up .claude/state/workflow.json as agents delegate work, and teach "
        "them how. Claude Code only.",
    ),
)


def _choosing(function: Callable[..., int]) -> Callable[..., int]:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@click.command("hooks")
@click.argument("action", type=click.Choice(["install", "uninstall", "status"]))
@_choosing
@options.common
def command(action: str, database: Database, as_json: bool, **given: Any) -> int:
    """Let coding agents tell the board what they do, and be answered from there.

    Merges into the agents' own settings and leaves everything else in them as it is. A backup is
    put beside each file; uninstall takes everything back, and the backups too.
    """
    chosen = _Chosen(database, as_json, **given)
    if action == "install":
        return chosen.each(chosen.install)
    if action == "uninstall":
        return chosen.each(chosen.uninstall)
    from callboard.cli.hook_status import show

    return show(database, chosen.project, as_json)


class _Chosen:
    """A call of the command: what was asked for, done for one agent after the other."""

    def __init__(self, database: Database, as_json: bool, **given: Any) -> None:
        self._database = database
        self._as_json = as_json
        self._screen = Screen()
        self._agent: str = given["agent"]
        self._scope: Scope = given["scope"]
        self._transport: str = given["transport"]
        self._answers: str | None = given["answers"]
        self._port: int | None = given["port"]
        self._force: bool = given["force"]
        self._status_files: bool = given["status_files"]
        self.project = project_root(Path.cwd())
        self.folder = hooks_folder(database.path)

    def each(self, work: Callable[[Installable], _Done]) -> int:
        """Do it for every agent that is meant; one that fails does not keep the others from it."""
        removes = work == self.uninstall
        agents = list(self._meant(also_absent=removes))
        failed, changed = False, False
        for one in agents:
            try:
                done = work(one)
                changed = changed or done.changed
                if done.changed or not removes or self._as_json:
                    self._tell(one, done)
            except CallboardError as error:
                if len(agents) == 1:
                    raise
                failed = True
                self._tell_failure(one, error)
        if removes and not changed and not failed and not self._as_json:
            self._screen.line("There were no hooks of ours.")
        return FAILED if failed else DONE

    def install(self, one: Installable) -> _Done:
        """Put our hooks into the settings of one agent."""
        transport = self._chosen_transport(one)
        path = self._place(one.settings)
        make_private_folder(self.folder.parent)
        make_folders(self.folder)
        plan = Plan(
            folder=self.folder,
            database=self._database.path.absolute(),
            transport=transport,
            answers=None if self._answers is None else self._answers == "on",
            port=self._port or installed_port() or 2255,
            token=self._hook_token() if transport == "http" else None,
            status_files=self._keeps_status_files(one, path),
        )
        outcome = install(one.settings, path, plan)
        text = path.read_text(encoding="utf-8")
        standing = one.settings.standing(text)
        done = _Done(one.name, path, outcome.changed, transport, backup=outcome.backup)
        done.answers = standing.answers if standing else None
        done.remarks = [*self._remarks(one, text, plan)]
        if plan.status_files:
            done.add(self._teach(plan))
        return done

    def uninstall(self, one: Installable) -> _Done:
        """Take our hooks out of the settings of one agent."""
        path = self._place(one.settings)
        # First what was made last, so that the folders are empty that were made for the first.
        lessons = self._lessons() if one.name == _CLAUDE else []
        beside = [uninstall(lesson, place, self.folder) for lesson, place in lessons]
        outcome = uninstall(one.settings, path, self.folder)
        done = _Done(one.name, path, outcome.changed)
        done.add(beside)
        return done

    def _keeps_status_files(self, one: Installable, path: Path) -> bool:
        """Asked for now, or before: an update leaves nothing out."""
        if one.name != _CLAUDE:
            if self._status_files and self._agent != _ALL:
                raise ValidationError(
                    f"{one.title} has no hooks for status files. Use --agent claude.", field="agent"
                )
            return False
        return self._status_files or has_status_hooks(read(path).text)

    def _teach(self, plan: Plan) -> list[Outcome]:
        return [install(lesson, place, plan) for lesson, place in self._lessons()]

    def _lessons(self) -> list[tuple[AgentSettings, Path]]:
        """What agents are taught, and where it is written."""
        return [(lesson, self._place(lesson)) for lesson in LESSONS]

    def _place(self, settings: AgentSettings) -> Path:
        path = settings.place(self._scope, self.project)
        if self._scope == "project":
            check_inside(self.project, path)
        return path

    def _meant(self, also_absent: bool) -> Iterator[Installable]:
        if self._agent != _ALL:
            yield INSTALLABLE[self._agent]
            return
        found = [one for one in INSTALLABLE.values() if also_absent or one.is_here]
        if not found:
            raise NotFound(
                "No coding agent is found here. Install one, or name it with --agent: "
                f"{', '.join(INSTALLABLE)}."
            )
        yield from found

    def _chosen_transport(self, one: Installable) -> Transport:
        asked = self._transport
        if asked == "auto":
            served = installed_port() is not None and "http" in one.transports
            return "http" if served else "spool"
        transport = cast("Transport", asked)
        if transport not in one.transports:
            if self._agent == _ALL:
                return "spool"
            raise ValidationError(
                f"{one.title} cannot use {transport}. Choose from {', '.join(one.transports)}.",
                field="transport",
            )
        if transport == "http" and installed_port() is None and not self._force:
            raise SettingsUnusable(
                "Without a service, every HTTP hook shows an error in the agent's terminal when "
                f"no server runs. First: {self._database.command('service', 'install')} "
                "(or --force)"
            )
        return transport

    def _hook_token(self) -> str:
        """The token that servers of this database give to hooks; made, if none ever ran."""
        tokens = Tokens(self._database.path, SystemClock())
        port = self._port or installed_port() or 2255
        for _ in range(2):
            try:
                token = connection_file(self.folder).read_text(encoding="ascii").split()[-1]
            except (OSError, ValueError, IndexError):
                token = ""
            found = tokens.identify(token)
            if found is not None and found[1] == "hook":
                return token
            keep_hooks_in(tokens, self._database.path, "127.0.0.1", port)
        raise SettingsUnusable(f"{connection_file(self.folder)} cannot be used. Remove it.")

    def _remarks(self, one: Installable, text: str, plan: Plan) -> Iterator[str]:
        yield from one.obstacles(text)
        if plan.transport == "http":
            yield from http_obstacles(text, f"http://127.0.0.1:{plan.port}/hooks/{one.name}")
        if self._transport not in ("auto", plan.transport):
            yield f"{one.title} cannot use {self._transport}; its hooks use {plan.transport}."
        if self._scope == "project" and one.name != "claude":
            yield "This file may be in git, and ours names paths of this machine: keep it out."
        if one.remark:
            yield one.remark

    def _tell(self, one: Installable, done: _Done) -> None:
        if self._as_json:
            return print_json([done.to_wire()])
        sign = (self._screen.signs.done, "done")
        how = f" by {done.transport}" if done.transport else ""
        held = {True: ", answers from the board on", False: ", answers from the board off"}
        state = "" if done.changed else " nothing to change;"
        more = held.get(cast("bool", done.answers), "") if done.transport else ""
        self._screen.line(sign, f" {one.title}:{state} {done.path}{how}{more}")
        if done.backup:
            self._screen.line(f"    backup: {done.backup}")
        for remark in done.remarks:
            self._screen.line("    ", (remark, "here"))
        return None

    def _tell_failure(self, one: Installable, error: CallboardError) -> None:
        if self._as_json:
            return print_json([{"agent": one.name, "error": as_payload(error)}])
        self._screen.line((self._screen.signs.failed, "failed"), f" {one.title}: {error.message}")
        return None


def project_root(here: Path) -> Path:
    """The project that a folder belongs to: where its git begins, else the folder itself."""
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return folder
    return here
