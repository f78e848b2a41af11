"""Why a session isn't progressing, and what to do about it: the answer of `callboard why`.

Pure: everything is in the situation. `status` says how a session is; this says what to do.
"""

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from callboard.board.protocol import Board
from callboard.cli.answer_commands import CommandLine, ways_to_answer
from callboard.cli.format import ago, author, duration, error_text, moment, one_line
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.amounts import counted
from callboard.engine.sessions import SessionInfo
from callboard.engine.workers import StrandedSession, WorkerInfo, WorkerOverview
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.json_values import as_list, as_text
from callboard.events.limits import AgentLimit
from callboard.events.moments import from_ms
from callboard.events.status import ENDED
from callboard.interactions.answer_text import answer_text
from callboard.interactions.expiry import ran_out
from callboard.interactions.records import Interaction
from callboard.log.protocol import Lease
from callboard.state.session import SessionView

Kind = Literal[
    "completed", "failed", "cancelled", "paused", "pausing", "waiting", "held",
    "retrying", "limited", "driven", "orphaned", "stranded", "idle", "tasks",
]  # fmt: skip

_PROMPT = 100
_ANSWERS = 10
"""The number of questions to show with the ways to answer them."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything known about a session now, and how to write a command about it.

    `pause` is the event that paused it, if it is paused.
    """

    info: SessionInfo
    view: SessionView
    lease: Lease | None
    pause: Event | None
    now_ms: int
    command: CommandLine
    watched: bool = False
    """Whether a server or a worker drives it, so that it continues by itself when it can."""
    by_worker: bool = False
    """Whether that is a worker, not a server."""
    workers: WorkerOverview | None = None
    """The workers that drive it or could."""
    host: str = ""
    """The machine that this runs on."""
    start_worker: str = ""
    """The command that starts a worker."""
    left_open: Sequence[Interaction] = ()
    """The interactive sessions that outlive it, once it has ended."""
    limits: Sequence[AgentLimit] = ()
    """The limits of agents, with the slots that this session has or waits for."""

    @property
    def id(self) -> str:
        """The session's id."""
        return self.info.session_id

    @property
    def is_driven(self) -> bool:
        """Whether a living process drives the session."""
        return self.lease is not None and self.lease.owner is not None and self.lease.alive

    @property
    def driver(self) -> WorkerInfo | None:
        """The process that drives the session, if that is known."""
        found = self.workers and self.workers.driver_of(self.id)
        return found[0] if found else None

    @property
    def in_phase_since(self) -> int | None:
        """When a session that is driven entered its phase, if that is known."""
        found = self.workers and self.workers.driver_of(self.id)
        return found[1].since if found else None

    @property
    def stranded(self) -> StrandedSession | None:
        """Why no running worker can drive the session, although others run."""
        if self.workers is None or not (self.watched or self.workers.worker_count):
            return None
        return next(iter(self.workers.stranded), None)


@dataclass(frozen=True, slots=True)
class Way:
    """Something to do: its purpose, and the exact commands, any one of which does it."""

    purpose: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a session isn't progressing (or that it is), in a sentence or two, and what to do."""

    kind: Kind
    text: str
    ways: tuple[Way, ...] = field(default=())
    traceback: str | None = None
    """The traceback of a failed session's error."""

    def to_wire(self, session_id: str, status: str) -> dict[str, object]:
        """The reason as JSON."""
        ways = [{"purpose": way.purpose, "commands": list(way.commands)} for way in self.ways]
        told = {"kind": self.kind, "text": self.text, "ways": ways}
        return {"sessionId": session_id, "status": status, **told}


def reason(now: Situation) -> Reason:
    """Why the session isn't progressing."""
    match now.info.status:
        case "completed" | "failed" | "cancelled":
            return _ended(now)
        case "paused":
            return _paused(now)
        case _ if now.view.pausing is not None:
            return _pausing(now)
        case "waiting":
            return _waiting(now)
        case _:
            return _moving(now)


def _ended(now: Situation) -> Reason:
    info, fork = now.info, now.command("fork", now.id, "--phase", now.view.last_phase or "NAME")
    when = _when(now, now.view.updated_at)
    if info.status == "failed":
        error = info.error or {}
        text = f"It failed {when} in phase {error.get('phase', info.phase)!r}: {error_text(error)}"
        ways = (Way("Try again", (now.command("retry", now.id),)),)
        return Reason("failed", text, ways, error.get("traceback"))
    if info.status == "cancelled":
        text = f"It was cancelled {when} and cannot be resumed."
        return Reason("cancelled", text, (Way("Continue in a new session", (fork,)),))
    if not now.left_open:
        return Reason("completed", f"It completed {when}. Nothing is pending.")
    count = len(now.left_open)
    are = "interactive session is" if count == 1 else "interactive sessions are"
    ways = [
        Way(_purpose(now, one), tuple(ways_to_answer(one, now.command))) for one in now.left_open
    ]
    return Reason("completed", f"It completed {when}. {count} {are} still open.", tuple(ways))


def _paused(now: Situation) -> Reason:
    text = "It is paused"
    if now.pause is not None:
        why = as_text(now.pause.payload.get("reason"))
        text += author(now.pause.payload)
        text += f", {_when(now, now.pause.at_ms)}"
        text += f": {one_line(why)}" if why else ""
    text = _sentence(text)
    if now.info.pending_count:
        asked = counted(now.info.pending_count, "question")
        text += f" {asked} can be answered now; answers take effect when it is resumed."
    return Reason("paused", text, (_resume(now), *_answers(now)))


def _pausing(now: Situation) -> Reason:
    running = ", ".join(sorted({repr(run.agent) for run in now.view.in_flight().values()}))
    if now.is_driven and running:
        text = f"A pause was requested. It takes effect as soon as {running} has finished."
        return Reason("pausing", text, (Way("Resume instead", _resume(now).commands),))
    undriven = "it has not been picked up yet" if now.watched else "no process is driving it"
    return Reason("pausing", f"A pause was requested, and {undriven}.", (_resume(now),))


def _waiting(now: Situation) -> Reason:
    open_ones = [one for one in now.info.pending if not _has_run_out(now, one)]
    if not open_ones:
        return _overdue(now)
    left = now.info.pending_count - len(now.info.pending) + len(open_ones)
    text = f"Waiting for a person: {counted(left, 'question')} to answer."
    if now.is_driven or now.watched:
        text += f" {_driver(now)} continues as soon as it is answered."
        return Reason("waiting", text, _answers(now))
    then = Way("Then resume (or answer right there, in a terminal)", _resume(now).commands)
    return Reason("waiting", text, (*_answers(now), then))


def _overdue(now: Situation) -> Reason:
    """Every question has timed out, which the driver of the session will notice."""
    asked = "; ".join(_purpose(now, one) for one in now.info.pending)
    text = f"Timed out without an answer: {asked}."
    if now.is_driven or now.watched:
        return Reason("driven", f"{text} {_driver(now)} is driving it.")
    return Reason("idle", f"{text} No process is driving it.", (_resume(now),))


def _moving(now: Situation) -> Reason:
    if now.info.held is not None:
        fork = now.command("fork", now.id, "--phase", "NAME")
        ways = (_resume(now), Way("Or start a new session at another phase", (fork,)))
        return Reason("held", f"It is held: {now.info.held}", ways)
    if (waits := _next_retry(now) or _limited(now)) is not None:
        return waits
    if now.is_driven:
        return _driven(now)
    if now.view.tasks:
        tasks = ", ".join(repr(one_line(title)) for title in now.view.tasks.values())
        return Reason("tasks", f"It completes when its open tasks are done: {tasks}.")
    if now.stranded is not None:
        text = f"Ready to continue. {now.stranded.reason} {_doing(now)}"
        start = Way("Start a worker that has it", (now.start_worker,))
        return Reason("stranded", text, (start, _resume_here(now)))
    if now.watched:
        watcher = "no worker has" if now.by_worker else "the server has not"
        text = f"Ready to continue; {watcher} picked it up yet. {_doing(now)}"
        return Reason("idle", text, (Way("Resume it and follow", _resume(now).commands),))
    if now.lease is not None and now.lease.owner is not None:
        text = f"{_driver(now)} was driving it and has died. {_doing(now)}"
        return Reason("orphaned", text, (_resume(now),))
    return Reason(
        "idle", f"Ready to continue, but no process is driving it. {_doing(now)}", (_resume(now),)
    )


def _driven(now: Situation) -> Reason:
    text = f"It is running: {_doing(now)} {_driver(now)} is driving it."
    since = now.in_phase_since
    text += f" The phase started {_when(now, since)}." if since is not None else ""
    return Reason("driven", text)


def _next_retry(now: Situation) -> Reason | None:
    runs = now.view.visit.runs.values() if now.view.visit else ()
    waiting = [run for run in runs if run.retry_at is not None]
    if not waiting:
        return None
    run = min(waiting, key=lambda run: run.retry_at or 0)
    at = run.retry_at or 0
    left = max(at - now.now_ms, 0) / 1000
    said = (
        f"failed {counted(run.failures, 'time')}" if run.status == "failed" else "cannot work yet"
    )
    text = (
        f"Agent {run.agent!r} in phase {now.info.phase!r} {said}: "
        f"{_sentence(error_text(run.error or {}))} "
        f"It is tried again at {moment(from_ms(at), from_ms(now.now_ms))}, in {duration(left)}."
    )
    if now.is_driven or now.watched:
        return Reason("retrying", text)
    return Reason("retrying", text + " No process is driving it.", (_resume(now),))


def _limited(now: Situation) -> Reason | None:
    """Its agents wait for a slot of a limit, which others have."""
    full = [limit for limit in now.limits if any(slot.waiting for slot in limit.slots)]
    if not full:
        return None
    waits = [f"{one_line(limit.name)}, {limit.in_use} of {limit.number} in use" for limit in full]
    text = f"Waiting for a slot of {'; of '.join(waits)}. First come, first served."
    if now.view.in_flight():
        text += f" {_doing(now)}"
    ways = [
        Way("See who has one", tuple(now.command("limit", limit.name) for limit in full)),
        Way("Raise the limit", tuple(now.command("limit", one.name, "NUMBER") for one in full)),
    ]
    return Reason("limited", text, tuple(ways))


def _doing(now: Situation) -> str:
    agents = ", ".join(sorted({repr(run.agent) for run in now.view.in_flight().values()}))
    if agents:
        works = "works" if now.is_driven else "was at work"
        return f"Agent {agents} {works} in phase {now.info.phase!r}."
    return f"It is in phase {now.info.phase!r}." if now.info.phase else "It has not started yet."


def _driver(now: Situation) -> str:
    """Who drives the session: an owner's id may have its host, and then its process id."""
    found = now.driver
    if found is not None and (found.engine_worker is not None or found.host != now.host):
        return f"Process {found.pid} on {one_line(found.host)}"
    if now.watched:
        return "A worker" if now.by_worker else "The server"
    owner = (now.lease.owner if now.lease else None) or ""
    host, _, pid = owner.rpartition("-")[0].rpartition("-")
    if not pid.isdecimal():
        return "Another process"
    return f"Process {pid} on {host}" if host else f"Process {pid}"


def _resume(now: Situation) -> Way:
    return Way("Resume it", (now.command("resume", now.id),))


def _resume_here(now: Situation) -> Way:
    return Way("Or drive it in this terminal", _resume(now).commands)


def _answers(now: Situation) -> tuple[Way, ...]:
    """How to answer the open questions."""
    open_ones = [one for one in now.info.pending if not _has_run_out(now, one)]
    ways = [_answer(now, one) for one in open_ones[:_ANSWERS]]
    if len(open_ones) > _ANSWERS or now.info.pending_count > len(now.info.pending):
        more = now.command("inbox", "--session", now.id)
        ways.append(Way(f"See all {now.info.pending_count} questions", (more,)))
    return tuple(ways)


def _answer(now: Situation, one: Interaction) -> Way:
    asked = now.view.questions.get(one.id)
    free = asked is not None and asked.other
    return Way(_purpose(now, one), tuple(ways_to_answer(one, now.command, free=free)))


def _has_run_out(now: Situation, one: Interaction) -> bool:
    asked = now.view.questions.get(one.id)
    return asked is not None and ran_out(asked, now.now_ms)


def _purpose(now: Situation, one: Interaction) -> str:
    """The question, and its deadline."""
    prompt = one_line(one.prompt, _PROMPT)
    if one.deadline is None:
        return prompt
    asked = now.view.questions.get(one.id)
    then = _at_timeout(asked.on_timeout if asked else None)
    return f"{prompt} (until {moment(one.deadline, from_ms(now.now_ms))}{then})"


def _at_timeout(policy: Mapping[str, object] | None) -> str:
    match policy or {}:
        case {"action": "answer", "value": value}:
            return f", then {one_line(answer_text(value))} is taken"
        case {"action": "fail"}:
            return ", then the workflow fails"
        case {"action": "escalate", "to": to}:
            return f", then {one_line(', '.join(map(str, as_list(to))))} are asked as well"
        case _:
            return ""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _when(now: Situation, at_ms: int) -> str:
    at, today = from_ms(at_ms), from_ms(now.now_ms)
    return f"{ago(at, today)} ({moment(at, today)})"


async def situation(board: Board, place: Target, session_id: str) -> Situation:
    """Everything that `reason` needs to know about a session."""
    info = await board.session(session_id)
    pause = None
    if info.status == "paused":
        events = await board.events(session_id)
        pause = next((e for e in reversed(events) if e.name == names.PAUSED), None)
    workers, by_server = await board.workers(session_id), place.drives(info.workflow)
    by_worker = any(one.has(info.workflow) for one in workers.workers)
    return Situation(
        info=info,
        view=await board.view(session_id),
        lease=await board.lease(session_id),
        pause=pause,
        now_ms=board.clock.now_ms(),
        command=place.command,
        watched=by_server or by_worker,
        by_worker=not by_server,
        workers=workers,
        host=socket.gethostname(),
        start_worker=place.worker_command(),
        left_open=await board.inbox(session_id) if info.status in ENDED else (),
        limits=await board.limits.list(session_id) if info.status == "running" else (),
    )


async def reason_now(board: Board, place: Target, session_id: str) -> Reason:
    """Why a session isn't progressing."""
    return reason(await situation(board, place, session_id))


def tell_reason(screen: Screen, why: Reason) -> None:
    """Print the reason, and what to do, with the exact commands."""
    screen.paragraph(why.text)
    for line in (why.traceback or "").splitlines():
        screen.line((f"  {line}", "faint"))
    for way in why.ways:
        screen.line(f"  {way.purpose}")
        for command in way.commands:
            screen.line("    ", (command, "command"))
