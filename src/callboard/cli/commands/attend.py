"""`callboard attend`."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.attend_screen import AttendScreen, Keyboard, PollPace
from callboard.cli.exit import DONE, FAILED
from callboard.cli.handover import Handover, folders_of, plan_of, take_token
from callboard.cli.lookup import find_session
from callboard.cli.printing import print_json
from callboard.cli.targets import Target
from callboard.errors import (
    AgentError,
    CallboardError,
    Claimed,
    ConflictError,
    NotFound,
    ValidationError,
)
from callboard.events.status import ENDED
from callboard.harness.attending import GRACE, Attendance, Office, alongside, starting
from callboard.harness.checkpoints import saved
from callboard.harness.claim_renewal import Harness, give_back, is_for, is_free, keep, take
from callboard.harness.ending import SessionEnding
from callboard.harness.preparing import PreparedSession, prepared
from callboard.harness.recording import EndRecord, recorded
from callboard.harness.tmux_windows import check_tmux
from callboard.harness.unrecorded import record_leftovers
from callboard.interactions.records import Interaction
from callboard.terminals.persons_terminal import PersonsTerminal

_TYPE = "interactive_session"
_LOOK_AGAIN = 1.0


@dataclass(frozen=True, slots=True)
class _Typed:
    """The command line's values."""

    once: bool
    session: str
    agent: str
    tmux: bool
    yes: bool
    grace: float
    question: str | None
    giver: str | None
    shown: str | None
    token_from: Path | None
    by: str | None
    place: Target
    as_json: bool


@click.command("attend")
@click.option("--once", is_flag=True, help="Exit after one session.")
@click.option("--session", metavar="ID", default="*", help="Filter by workflow session.")
@click.option("--agent", type=click.Choice(["claude"]), default="claude", show_default=True)
@click.option(
    "--tmux", is_flag=True, help="Open a tmux window; no one needs to be at this terminal."
)
@click.option("--yes", is_flag=True, help="Open the oldest one without asking.")
@click.option(
    "--grace",
    type=click.FloatRange(0),
    default=GRACE,
    show_default=True,
    help="Seconds between the warning that a session's time is up and its end.",
)
@click.option("--question", hidden=True, help="This one, which a harness hands over.")
@click.option("--from", "giver", hidden=True, help="The harness that has claimed it.")
@click.option("--shown", hidden=True, help="The mark of what was shown there to be started.")
@click.option("--token-from", type=click.Path(path_type=Path), hidden=True)
@options.by
@options.anywhere
@options.collected(_Typed)
def command(typed: _Typed) -> int:
    """Work through interactive sessions with a coding agent, one at a time.

    Lists the interactive sessions that are waiting and opens a coding agent in this terminal
    for the one you choose. When you leave the agent, your decision is recorded and the list
    returns.
    """
    if typed.token_from is not None:
        take_token(typed.token_from)
    if typed.tmux:
        check_tmux()
    elif not PersonsTerminal().is_there:
        raise ValidationError(
            "`attend` needs an interactive terminal. Run it in a terminal, or with --tmux."
        )
    return typed.place.ask(lambda board: Attending(board, typed).run())


class Attending:
    """The list, and one session after the other."""

    def __init__(self, board: Board, typed: _Typed) -> None:
        self._board = board
        self._typed = typed
        self._place = typed.place
        self._session = typed.session
        self._keyboard = Keyboard()
        self._screen = AttendScreen(typed.place)
        self._office = Office(
            desk=board.people,
            folders=folders_of(typed.place),
            me=Harness.here(typed.by),
            clock=board.clock,
            plan=plan_of(typed.place),
            grace=typed.grace,
        )

    async def run(self) -> int:
        """Run until the person leaves."""
        if self._session != "*":
            info = await find_session(self._board, self._place, self._session)
            self._session = info.session_id
        while True:
            asked = await self._handed()
            if asked is None:
                await self._clear_up()
                asked = await self._choose()
            if asked is None:
                return DONE
            done = await self._attend(asked)
            if done is not None:
                await self._tell(done)
            if self._typed.once or self._screen.is_gone:
                return FAILED if done is not None and done.status == "failed" else DONE

    async def _clear_up(self) -> None:
        office = self._office
        confirm = self._confirm if PersonsTerminal().is_there else None
        for one in await record_leftovers(office.desk, office.folders, self._screen.note, confirm):
            self._screen.note("Recorded the decisions made before the harness stopped:")
            await self._tell(one)

    # ------------------------------------------------------------------ choosing

    async def _handed(self) -> Interaction | None:
        """The question that another harness has claimed for this one."""
        if self._typed.question is None:
            return None
        desk = self._office.desk
        if self._typed.giver is not None:
            with suppress(ConflictError):
                return await desk.release(self._typed.question, by=self._typed.giver)
        return await desk.get(self._typed.question)

    async def _choose(self) -> Interaction | None:
        """The person's choice from the list, which is shown again when it changes."""
        shown: list[tuple[str, str | None]] | None = None
        pace = PollPace()
        while True:
            waiting = await self._office.desk.find(
                status="pending", session_id=self._session, type=_TYPE
            )
            free = [one for one in waiting if is_free(one, self._office.me)]
            if self._typed.yes and free:
                return free[0]
            listed = [(one.id, one.claimed_by) for one in waiting]
            within = pace.after(changed=listed != shown)
            if listed != shown:
                self._screen.waiting(
                    waiting, free, self._board.clock.now_ms(), asks=not self._typed.yes
                )
                shown = listed
            line = await self._keyboard.line(within=within)
            if line is None:
                continue
            if line in ("q", "quit", "exit") or self._keyboard.is_closed:
                return None
            if (picked := _picked(line, waiting, free)) is not None:
                return picked
            shown = None

    # ------------------------------------------------------------------ attending

    async def _attend(self, asked: Interaction) -> Interaction | None:
        office = self._office
        if not is_for(asked, office.me.person):
            self._screen.not_for(office.me.person, asked)
            return None
        try:
            asked = await take(office.desk, asked, office.me)
        except (Claimed, ConflictError) as error:
            self._screen.note(error.message)
            return None
        try:
            ready = prepared(asked, Path.cwd(), saved(office.folders, asked.id))
        except (ValidationError, NotFound) as error:
            return await self._fail(asked, error)
        self._screen.show(ready)
        if not await self._holding(asked, self._agreed(ready)):
            await give_back(office.desk, asked, office.me)
            self._screen.note("Released, so that someone else can take it.")
            return None
        return await self._open(asked, ready)

    async def _open(self, asked: Interaction, ready: PreparedSession) -> Interaction | None:
        office = self._office
        try:
            if self._typed.tmux:
                return await self._in_window(asked, ready.mark)
            attendance = Attendance(office, ready)
            done = await attendance.attend(self._confirm, self._screen.note)
        except AgentError as error:
            return await self._fail(asked, error)
        except NotFound as error:
            return self._screen.note(f"{error.message} Nothing was recorded.")
        if done is None:
            await give_back(office.desk, asked, office.me)
            if attendance.left_to_others:
                return self._screen.note("The other participants can continue.")
            self._screen.note("Stopped. Someone else can take it now.")
            raise KeyboardInterrupt
        if attendance.lost is not None:
            self._screen.note(attendance.lost)
        if done.status == "pending":
            await give_back(office.desk, asked, office.me)  # Others have to decide it too.
        return done

    async def _in_window(self, asked: Interaction, mark: str) -> Interaction:
        """Open a window for it and wait; the window works without anyone waiting."""
        office = self._office
        self._screen.note("It opens in a tmux window. Your decision there is recorded.")
        handover = Handover(self._place, office.folders, office.me, office.grace)
        with starting():
            await handover.give(asked.id, mark)
        await give_back(office.desk, asked, office.me)  # Unless the window has taken it.
        return await office.desk.get(asked.id)

    async def _fail(self, asked: Interaction, error: CallboardError) -> Interaction:
        record = EndRecord("failed", error=error.message, by=self._office.me.person)
        return await recorded(self._office.desk, asked.id, record, self._screen.note)

    async def _agreed(self, ready: PreparedSession) -> bool:
        is_as_shown = self._typed.shown in (None, ready.mark)
        return (self._typed.yes and is_as_shown) or await self._asked(
            "Open it? [Y/n] ", default=True
        )

    async def _confirm(self, ending: SessionEnding) -> bool:
        """Ask the person, because no one confirmed it in the agent's dialog."""
        if not PersonsTerminal().is_there:
            return False
        self._screen.unsure(ending)
        return await self._asked("Record that? [y/N] ", default=False)

    async def _asked(self, question: str, *, default: bool) -> bool:
        self._screen.ask(question)
        line = None
        while line is None:
            line = await self._keyboard.line(within=_LOOK_AGAIN)
        if self._keyboard.is_closed:
            return False
        return default if not line else line.casefold() in ("y", "yes")

    async def _holding(self, asked: Interaction, work: Awaitable[bool]) -> bool:
        """Keep the claim while the person decides."""
        office = self._office
        lost: Callable[[str], None] = self._screen.note
        async with alongside(keep(office.desk, asked, office.me, office.clock, lost)):
            return await work

    async def _tell(self, done: Interaction) -> None:
        with suppress(OSError):
            if self._typed.as_json:
                print_json([done.to_wire()])
            else:
                self._screen.done(done, stays=await self._stays(done))

    async def _stays(self, done: Interaction) -> bool:
        """Whether nothing will resume the session, although it has its answer."""
        if done.session_id is None or done.status == "pending":
            return False
        try:
            info = await self._board.session(done.session_id)
        except CallboardError:
            return False  # It was deleted, or the server is gone: there is nothing to suggest.
        ended = info.status in ENDED
        return not (ended or info.running or self._place.drives(info.workflow))


def _picked(line: str, waiting: list[Interaction], free: list[Interaction]) -> Interaction | None:
    """The question by its number or the start of its id; the first one for an empty line."""
    if not line:
        return free[0] if free else None
    if line.isdecimal() and 1 <= int(line) <= len(waiting):
        return waiting[int(line) - 1]
    named = [one for one in waiting if len(line) >= 4 and one.id.startswith(line)]
    return named[0] if len(named) == 1 else None
