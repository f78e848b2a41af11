"""`callboard hooks install|uninstall|status`."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, Literal

import click

from callboard.board.hook_folders import hooks_folder, make_folders
from callboard.cli import options
from callboard.cli.commands.relay import move_to
from callboard.cli.commands.service import installed_port
from callboard.cli.exit import DONE, FAILED
from callboard.cli.failures import as_payload
from callboard.cli.printing import print_json
from callboard.cli.relay_place import relay_folder
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.disk.private import make_private_folder
from callboard.errors import CallboardError, NotFound, SettingsUnusable, ValidationError
from callboard.relay.settings import hooks_of, settings_file
from callboard.server.hook_access import HookAccess
from callboard.vendors.claude.protocol import LESSONS
from callboard.vendors.claude.settings import has_status_hooks, http_obstacles
from callboard.vendors.hook_targets import INSTALLABLE, Installable
from callboard.vendors.settings.files import check_inside, read
from callboard.vendors.settings.installing import (
    AgentSettings,
    InstallPlan,
    InstallResult,
    Scope,
    Transport,
    install,
    uninstall,
)

_ALL: Final = "all"
_CLAUDE: Final = "claude"


@dataclass(slots=True)
class _Done:
    """What was done for one agent."""

    agent: str
    path: str
    changed: bool
    transport: str | None = None
    answers: bool | None = None
    backup: str | None = None
    remarks: list[str] = field(default_factory=list[str])

    def add(self, outcomes: list[InstallResult]) -> None:
        """Add what was done to other files than the settings."""
        changed = [outcome.file.path for outcome in outcomes if outcome.changed]
        self.changed = self.changed or bool(changed)
        self.remarks += [f"{path} too" for path in changed]


_OPTIONS: Final = (
    click.option(
        "--agent",
        "agent",
        type=click.Choice([*INSTALLABLE, _ALL]),
        default=_ALL,
        show_default=True,
        help="Which coding agent; all means every one found on this machine.",
    ),
    click.option(
        "--scope",
        type=click.Choice(["user", "project"]),
        default="user",
        show_default=True,
        help="Your own settings, or those of the current project.",
    ),
    click.option(
        "--transport",
        type=click.Choice(["auto", "http", "command", "spool"]),
        default="auto",
        show_default=True,
        help="install: how hooks reach the server. auto is http with a service, otherwise spool.",
    ),
    click.option(
        "--answers",
        type=click.Choice(["on", "off"]),
        help="install: whether permissions can be answered from the board. On by default, except "
        "for Codex, whose own dialog then waits for the board.",
    ),
    click.option(
        "--port",
        type=click.IntRange(1, 65535),
        help="install: the server's port, for http. Default: the port of `callboard service`.",
    ),
    click.option(
        "--server",
        metavar="URL",
        help="Report to a server on another machine, through `callboard relay` on this one.",
    ),
    click.option("--force", is_flag=True, help="install: use http even without a service."),
    click.option(
        "--status-files",
        is_flag=True,
        help="install: also update .claude/state/workflow.json as agents delegate work, and add "
        "instructions for them. Claude Code only.",
    ),
)


@dataclass(frozen=True, slots=True)
class _Typed:
    """The command line's values. The action runs for one agent after the other."""

    action: Literal["install", "uninstall", "status"]
    agent: str
    scope: Scope
    transport: Transport | Literal["auto"]
    answers: Literal["on", "off"] | None
    port: int | None
    server: str | None
    force: bool
    status_files: bool
    database: Database
    as_json: bool
    screen: Screen = field(default_factory=Screen)

    @property
    def project(self) -> Path:
        """The current project."""
        return project_root(Path.cwd())

    @property
    def folder(self) -> Path:
        """The folder that hooks of this database, or of this machine's relay, use."""
        if self.server is not None:
            return hooks_of(relay_folder())
        return hooks_folder(self.database.path)

    @property
    def kept_in(self) -> Path:
        """What agents must not read: the database, or the relay's settings."""
        if self.server is not None:
            return settings_file(relay_folder())
        return self.database.path.absolute()

    def each(self, work: Callable[[Installable], _Done]) -> int:
        """Run it for every selected agent, even if it fails for one of them."""
        removes = work == self.uninstall
        agents = list(self._meant(also_absent=removes))
        failed, changed = False, False
        for one in agents:
            try:
                done = work(one)
                changed = changed or done.changed
                if done.changed or not removes or self.as_json:
                    self._tell(one, done)
            except CallboardError as error:
                if len(agents) == 1:
                    raise
                failed = True
                self._tell_failure(one, error)
        if removes and not changed and not failed and not self.as_json:
            self.screen.line("No Callboard hooks were installed.")
        return FAILED if failed else DONE

    def install(self, one: Installable) -> _Done:
        """Add our hooks to one agent's settings."""
        transport = self._chosen_transport(one)
        path = self._place(one.settings)
        make_private_folder(self.folder.parent)
        make_folders(self.folder)
        plan = InstallPlan(
            folder=self.folder,
            database=self.kept_in,
            transport=transport,
            answers=None if self.answers is None else self.answers == "on",
            port=self.port or installed_port() or 2255,
            token=self._hook_token() if transport == "http" else None,
            status_files=self._keeps_status_files(one, path),
        )
        outcome = install(one.settings, path, plan)
        text = path.read_text(encoding="utf-8")
        standing = one.settings.standing(text)
        done = _Done(
            one.name,
            str(path),
            outcome.changed,
            transport,
            answers=standing.answers if standing else None,
            backup=str(outcome.backup) if outcome.backup else None,
            remarks=[*self._remarks(one, text, plan)],
        )
        if plan.status_files:
            done.add([install(lesson, place, plan) for lesson, place in self._lessons()])
        return done

    def uninstall(self, one: Installable) -> _Done:
        """Remove our hooks from one agent's settings."""
        path = self._place(one.settings)
        # In reverse order, so that the folders created for the first file are empty.
        lessons = self._lessons() if one.name == _CLAUDE else []
        beside = [uninstall(lesson, place, self.folder) for lesson, place in lessons]
        outcome = uninstall(one.settings, path, self.folder)
        done = _Done(one.name, str(path), outcome.changed)
        done.add(beside)
        return done

    def _keeps_status_files(self, one: Installable, path: Path) -> bool:
        """Whether this was requested now or before: an update keeps everything."""
        if one.name != _CLAUDE:
            if self.status_files and self.agent != _ALL:
                raise ValidationError(
                    f"{one.title} has no hooks for status files. Use --agent claude.", field="agent"
                )
            return False
        return self.status_files or has_status_hooks(read(path).text)

    def _lessons(self) -> list[tuple[AgentSettings, Path]]:
        """What agents are taught, and where it is written."""
        return [(lesson, self._place(lesson)) for lesson in LESSONS]

    def _place(self, settings: AgentSettings) -> Path:
        path = settings.place(self.scope, self.project)
        if self.scope == "project":
            check_inside(self.project, path)
        return path

    def _meant(self, also_absent: bool) -> Iterator[Installable]:
        if self.agent != _ALL:
            yield INSTALLABLE[self.agent]
            return
        found = [one for one in INSTALLABLE.values() if also_absent or one.is_here]
        if not found:
            raise NotFound(
                "No coding agent found on this machine. Install one, or name it with --agent: "
                f"{', '.join(INSTALLABLE)}."
            )
        yield from found

    def _chosen_transport(self, one: Installable) -> Transport:
        transport = self.transport
        if self.server is not None:
            if transport == "http":
                raise ValidationError(
                    "Hooks that report through a relay use the spool.", field="transport"
                )
            return "spool"
        if transport == "auto":
            served = installed_port() is not None and "http" in one.transports
            return "http" if served else "spool"
        if transport not in one.transports:
            if self.agent == _ALL:
                return "spool"
            raise ValidationError(
                f"{one.title} cannot use {transport}. Choose from {', '.join(one.transports)}.",
                field="transport",
            )
        if transport == "http" and installed_port() is None and not self.force:
            raise SettingsUnusable(
                "Without a service, every HTTP hook shows an error in the agent's terminal when "
                f"no server runs. First: {self.database.command('service', 'install')} "
                "(or --force)"
            )
        return transport

    def _hook_token(self) -> str:
        """The token that servers of this database give to hooks; created if none has run yet."""
        port = self.port or installed_port() or 2255

        async def keep() -> str:
            async with self.database.open(create=True) as board:
                access = HookAccess(board.tokens, self.database.path, "127.0.0.1", port)
                return await access.secret()

        return asyncio.run(keep())

    def _remarks(self, one: Installable, text: str, plan: InstallPlan) -> Iterator[str]:
        yield from one.obstacles(text)
        if plan.transport == "http":
            yield from http_obstacles(text, f"http://127.0.0.1:{plan.port}/hooks/{one.name}")
        if self.transport not in ("auto", plan.transport):
            yield f"{one.title} cannot use {self.transport}; its hooks use {plan.transport}."
        if self.scope == "project" and one.name != "claude":
            yield "The hooks contain paths of this machine. Don't commit this file."
        if one.remark:
            yield one.remark

    def _tell(self, one: Installable, done: _Done) -> None:
        if self.as_json:
            return print_json([asdict(done)])
        sign = (self.screen.signs.done, "done")
        how = f" by {done.transport}" if done.transport else ""
        state = "" if done.changed else " no changes;"
        more = ""
        if done.transport and done.answers is not None:
            more = f", answers from the board {'on' if done.answers else 'off'}"
        self.screen.line(sign, f" {one.title}:{state} {done.path}{how}{more}")
        if done.backup:
            self.screen.line(f"    backup: {done.backup}")
        for remark in done.remarks:
            self.screen.line("    ", (remark, "here"))
        return None

    def _tell_failure(self, one: Installable, error: CallboardError) -> None:
        if self.as_json:
            return print_json([{"agent": one.name, "error": as_payload(error)}])
        sign = (self.screen.signs.failed, "failed")
        return self.screen.line(sign, f" {one.title}: {error.message}")


@click.command("hooks")
@click.argument("action", type=click.Choice(["install", "uninstall", "status"]))
@options.several(*_OPTIONS)
@options.common
@options.collected(_Typed)
def command(typed: _Typed) -> int:
    """Connect coding agents to the board, to follow and answer them there.

    Merges into the agents' own settings and leaves everything else unchanged. Each file is
    backed up first; uninstall removes the hooks and the backups.
    """
    if typed.action == "install":
        if typed.server is not None:
            move_to(typed.server)
        return typed.each(typed.install)
    if typed.action == "uninstall":
        return typed.each(typed.uninstall)
    from callboard.cli.doctor.hooks import show

    return show(typed.database, typed.project, typed.as_json)


def project_root(here: Path) -> Path:
    """The project of a folder: the root of its git repository, or the folder itself."""
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return folder
    return here
