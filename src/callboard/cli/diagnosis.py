"""Why a session isn't progressing, and what to do about it: the answer of `callboard why`.

Pure: everything is in the situation. `status` says how a session is; this says what to do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from callboard.board.protocol import Board
from callboard.cli.format import ago, author, duration, error_text, moment, one_line, plural
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.engine.sessions import SessionInfo
from callboard.events import names
from callboard.events.codec import dump_json
from callboard.events.envelope import Event
from callboard.events.json_values import as_list, as_object, as_text, objects
from callboard.events.limits import AgentLimit
from callboard.events.moments import from_ms
from callboard.events.status import ENDED
from callboard.interactions.answer_text import answer_text
from callboard.interactions.expiry import ran_out
from callboard.interactions.kinds import manner_of
from callboard.interactions.records import Interaction
from callboard.log.protocol import Lease
from callboard.state.session import SessionView

Kind = Literal[
    "completed", "failed", "cancelled", "paused", "pausing", "waiting", "held",
    "retrying", "limited", "driven", "orphaned", "idle", "tasks",
]  # fmt: skip

_PROMPT = 100
_ANSWERS = 10
"""The number of questions to show with the ways to answer them."""

CommandLine = Callable[..., str]
"""Builds a Callboard command line from words."""


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
    """Whether a server drives it, so that it continues by itself when it can."""
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
        asked = plural(now.info.pending_count, "question")
        text += f" {asked} can be answered now; answers take effect when it is resumed."
    return Reason("paused", text, (_resume(now), *_answers(now)))


def _pausing(now: Situation) -> Reason:
    running = ", ".join(sorted({repr(run.agent) for run in now.view.in_flight().values()}))
    if now.is_driven and running:
        text = f"A pause was requested. It takes effect as soon as {running} has finished."
        return Reason("pausing", text, (Way("Resume instead", _resume(now).commands),))
    undriven = "the server has not picked it up yet" if now.watched else "no process is driving it"
    return Reason("pausing", f"A pause was requested, and {undriven}.", (_resume(now),))


def _waiting(now: Situation) -> Reason:
    open_ones = [one for one in now.info.pending if not _has_run_out(now, one)]
    if not open_ones:
        return _overdue(now)
    left = now.info.pending_count - len(now.info.pending) + len(open_ones)
    text = f"Waiting for a person: {plural(left, 'question')} to answer."
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
    retry = _next_retry(now)
    if retry is not None:
        return retry
    if now.is_driven and (limited := _limited(now)):
        return limited
    if now.is_driven:
        return Reason("driven", f"It is running: {_doing(now)} {_driver(now)} is driving it.")
    if now.view.tasks:
        tasks = ", ".join(repr(one_line(title)) for title in now.view.tasks.values())
        return Reason("tasks", f"It completes when its open tasks are done: {tasks}.")
    if now.watched:
        text = f"Ready to continue; the server has not picked it up yet. {_doing(now)}"
        return Reason("idle", text, (Way("Resume it and follow", _resume(now).commands),))
    if now.lease is not None and now.lease.owner is not None:
        text = f"{_driver(now)} was driving it and has died. {_doing(now)}"
        return Reason("orphaned", text, (_resume(now),))
    return Reason(
        "idle", f"Ready to continue, but no process is driving it. {_doing(now)}", (_resume(now),)
    )


def _next_retry(now: Situation) -> Reason | None:
    runs = now.view.visit.runs.values() if now.view.visit else ()
    waiting = [run for run in runs if run.retry_at is not None]
    if not waiting:
        return None
    run = min(waiting, key=lambda run: run.retry_at or 0)
    at = run.retry_at or 0
    left = max(at - now.now_ms, 0) / 1000
    said = f"failed {plural(run.failures, 'time')}" if run.status == "failed" else "cannot work yet"
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
    if now.watched:
        return "The server"
    owner = (now.lease.owner if now.lease else None) or ""
    host, _, pid = owner.rpartition("-")[0].rpartition("-")
    if not pid.isdecimal():
        return "Another process"
    return f"Process {pid} on {host}" if host else f"Process {pid}"


def _resume(now: Situation) -> Way:
    return Way("Resume it", (now.command("resume", now.id),))


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


def ways_to_answer(one: Interaction, command: CommandLine, *, free: bool = False) -> list[str]:
    """The commands that answer a question, one for each possible answer."""
    declining = command("answer", one.id, "no", "--message", "WHY")
    match manner_of(one.type):
        case "outcome":
            session = ["--session", one.session_id] if one.session_id else []
            deciding = command("answer", one.id, "--outcome", "completed", "--response", "DECISION")
            return [command("attend", *session), deciding, declining]
        case "verdict":
            return [command("answer", one.id, value) for value in ("yes", "no")]
        case "ruling":
            return [command("answer", one.id, "yes"), declining]
        case "answers":
            values = _typed(one.options or []) or [_skeleton(one)]
            ways = [command("answer", one.id, *_as_argument(value)) for value in values]
            return [*ways, declining]
        case _:
            values = _typed(one.options or [])
            values += ["YOUR ANSWER"] if free or not values else []
            return [command("answer", one.id, *_as_argument(value)) for value in values]


def _skeleton(one: Interaction) -> str:
    """A template of answers to several questions, or to one that takes several."""
    asked = objects(as_object(one.config).get("questions"))
    told = {str(each.get("question")): ["A"] if each.get("multiSelect") else "A" for each in asked}
    return dump_json(told).decode()


def _typed(options: Sequence[str]) -> list[str]:
    """The options as they can be typed: by number if they contain hidden characters."""
    return [
        option if one_line(option) == option else str(number)
        for number, option in enumerate(options, 1)
    ]


def _as_argument(value: str) -> list[str]:
    # An answer that looks like an option needs `--` before it.
    return ["--", value] if value.startswith("-") else [value]


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
    return Situation(
        info=info,
        view=await board.view(session_id),
        lease=await board.lease(session_id),
        pause=pause,
        now_ms=board.clock.now_ms(),
        command=place.command,
        watched=place.drives(info.workflow),
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
