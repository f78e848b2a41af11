"""A coding agent, its person, a board and chance: what they do in any order, and what is recorded.

The agent is simulated as the real one behaves: a dialog is decided by a key or by the hook that was
held, whichever comes first; then the agent writes its transcript and its registry and sends hooks,
which may arrive late. Servers and the agent may be killed at any moment. Everything of ours is
real: the translator, the folds, the rounds and the answers, on a log in memory.
"""

import json
import os
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from callboard.board.held_hooks import HeldHooks
from callboard.board.plates import Plates
from callboard.board.watchdog import Rounds
from callboard.engine.inbox import Inbox
from callboard.engine.operations import Operations
from callboard.errors import AlreadyAnswered, InteractionClosed, InteractionNotFound
from callboard.events import plates as events
from callboard.events.moments import from_ms, iso
from callboard.events.rows import Query
from callboard.interactions.records import Interaction, interaction
from callboard.log.memory import MemoryLog
from callboard.state.rows import project
from callboard.systems.processes import started_at
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.claude.payloads import translate

SESSION: Final = "s1"
_PATIENCE: Final = (0.25, 0.5, 1.0, 1.0, 2.0, 3.0, 5.0, 10.0, 10.0, 15.0)
"""Seconds between the last looks; after them nothing more is learnt."""
_REJECTED: Final = "The user doesn't want to proceed with this tool use."


@dataclass
class Call:
    """One call of a tool: what was truly decided about it, and where."""

    number: int
    command: str
    is_open: bool = False
    allowed: bool | None = None
    ran: bool = False
    via: str | None = None
    message: str | None = None
    answer: dict[str, Any] | None = None
    """What was accepted on the board."""
    in_flight: dict[str, Any] | None = None
    """What the hook is about to give to the agent."""
    is_held: bool = False
    request: dict[str, Any] = field(default_factory=dict[str, Any])
    runs_until: float | None = None
    is_over: bool = False

    @property
    def hold(self) -> str:
        return f"q{self.number}"

    @property
    def use(self) -> str:
        return f"toolu_{self.number}"


@dataclass
class World:
    """One story, told by a seed."""

    seed: int
    folder: Path
    calls: list[Call] = field(default_factory=list[Call])
    hooks: deque[dict[str, Any]] = field(default_factory=deque[dict[str, Any]])
    told: list[str] = field(default_factory=list[str])
    is_killed: bool = False

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.clock = FakeClock()
        self.log = MemoryLog(project, self.clock)
        self.operations = Operations(self.log, self.clock)
        self.transcript = self.folder / "transcript.jsonl"
        self.transcript.write_text("", encoding="utf-8")
        self.pid, self.proc_start = os.getpid(), started_at(os.getpid())
        self._start_server()
        self._register("idle")

    # ------------------------------------------------------------------ the story

    async def play(self) -> None:
        """One to three calls, and whatever else happens."""
        await self._hear(self._hook("SessionStart", source="startup"))
        await self._hear(self._hook("UserPromptSubmit", prompt="go"))
        same = self.chance.random() < 0.5
        for number in range(self.chance.randint(1, 3)):
            command = "touch made" if same else f"touch made-{number}"
            if self.calls and self.calls[-1].allowed is None:
                # Esc ends the turn: somebody has to write the next prompt.
                self.hooks.append(self._hook("UserPromptSubmit", prompt="again"))
            self.calls.append(Call(number, command))
            await self._play(self.calls[-1])
            if self.is_killed:
                break
        await self._end()

    async def play_twins(self) -> None:
        """The same call twice at once: nothing but its outcome tells whose request is whose.

        The board answers both, or one of them, and then the terminal the other. Of two that the
        terminal decides, nobody else can say which is which.
        """
        await self._hear(self._hook("SessionStart", source="startup"))
        await self._hear(self._hook("UserPromptSubmit", prompt="go"))
        self.calls = [Call(0, "touch made"), Call(1, "touch made")]
        for call in self.calls:
            self._begin(call)
            self.clock.skip(self.chance.choice((0.0, 0.001)))
        for call in self.chance.sample(self.calls, 2):
            self.clock.skip(self.chance.choice((0.0, 0.001)))
            self._open(call)
        for call in self.chance.sample(self.calls, 2):
            await self._hear(call.request)
        by_terminal = self.chance.choice((*self.calls, None))
        for _ in range(60):
            await self._step_of_twins(self.chance.choice(self.calls), by_terminal)
        for call in self.calls:
            if call.in_flight is not None:
                self._hook_prints(call)
            if call.is_open:
                self._decide(call, True, "terminal")
        await self._end()

    async def _step_of_twins(self, call: Call, by_terminal: Call | None) -> None:
        can: list[Callable[[Call], Any]] = [self._round, self._serve_hold, self._finish]
        if call is by_terminal:
            others_are_over = all(one is call or one.via for one in self.calls)
            can += [self._press_yes, self._press_no] if call.is_open and others_are_over else []
        elif call.in_flight is not None:
            can.append(self._hook_prints)
        else:
            can.append(self._answer)
        if self.hooks:
            can.append(self._deliver_hook)
        act = self.chance.choice(can)
        self.told.append(f"{act.__name__} {call.number}")
        done = act(call)
        if done is not None:
            await done
        self.clock.skip(self.chance.choice((0.001, 0.02, 0.1, 0.3)))

    async def _play(self, call: Call) -> None:
        self._ask(call)
        for _ in range(60):
            if call.is_over or self.is_killed:
                break
            await self._step(call)
        # The person comes back at the end, so that every call has one.
        if call.is_open and not self.is_killed:
            self._decide(call, True, "terminal")
        if not self.is_killed:
            self._finish(call)
        for _ in range(self.chance.randint(0, 8)):
            await self._step(call)

    async def _step(self, call: Call) -> None:
        act = self.chance.choice(self._possible(call))
        self.told.append(act.__name__)
        done = act(call)
        if done is not None:
            await done
        self.clock.skip(self.chance.choice((0.001, 0.02, 0.1, 0.3, 1.0, 2.0)))

    def _possible(self, call: Call) -> list[Callable[[Call], Any]]:
        can: list[Callable[[Call], Any]] = [self._round, self._round, self._answer]
        if self.hooks and self.server_is_up:
            can += [self._deliver_hook] * 3
        if call.is_open and not self.is_killed:
            can += [self._press_yes, self._press_escape, self._press_no]
        if self.server_is_up:
            can += [self._serve_hold] * 3
        if call.in_flight is not None and not self.is_killed:
            can += [self._hook_prints] * 3
        if call.runs_until is not None and not self.is_killed:
            can.append(self._finish)
        if self.chance.random() < 0.15:
            can += [self._kill_server if self.server_is_up else self._start]
        if self.chance.random() < 0.02 and not self.is_killed:
            can.append(self._kill_agent)
        return can

    async def _end(self) -> None:
        if not self.server_is_up:
            self._start_server()
        for call in self.calls:
            await self._serve_hold(call)
            if call.in_flight is not None and not self.is_killed:
                self._hook_prints(call)
            if not self.is_killed:
                self._finish(call)
        if not self.is_killed:
            self._register("idle")
            self.hooks.append(self._hook("Stop", last_assistant_message="done"))
        while self.hooks:
            await self._deliver_hook(self.calls[-1])
        for seconds in _PATIENCE:
            self.clock.skip(seconds)
            await self.rounds.once()

    # ------------------------------------------------------------------ the agent

    def _ask(self, call: Call) -> None:
        self._begin(call)
        self.clock.skip(0.05)
        self._open(call)

    def _begin(self, call: Call) -> None:
        tool = {"type": "tool_use", "id": call.use, "name": "Bash", "input": self._input(call)}
        self._write({"type": "assistant", "message": {"content": [tool]}})
        self.hooks.append(self._hook("PreToolUse", call, tool_use_id=call.use))

    def _open(self, call: Call) -> None:
        call.is_open = call.is_held = True
        self._register("waiting")
        call.request = self._hook("PermissionRequest", call)
        call.request["callboard"]["hold"] = call.hold

    def _decide(
        self, call: Call, allowed: bool | None, via: str, message: str | None = None
    ) -> None:
        call.is_open, call.allowed, call.via, call.message = False, allowed, via, message
        if allowed:
            call.ran = True
            call.runs_until = self.clock.monotonic() + self.chance.choice((0.0, 0.5, 5.0))
            self._register("busy")
            return
        call.is_over = True
        by_hook = {
            "toolDenialKind": "permission-rule",
            "permissionDecision": {"decision": "reject", "source": "hook"},
        }
        by_person = {"toolDenialKind": "user-rejected"}
        said = f"{_REJECTED} the user said:\n{message}" if message else _REJECTED
        if via == "hook":
            self._result(call, message or "", **by_hook)
        else:
            self._result(call, said, **by_person)
        self._register("busy" if message or via == "hook" else "idle")
        if via == "terminal":
            call.is_held = False

    def _finish(self, call: Call) -> None:
        if call.runs_until is None or call.is_over:
            return
        if self.clock.monotonic() < call.runs_until:
            self.clock.skip(call.runs_until - self.clock.monotonic())
        call.is_over = True
        source = "hook" if call.via == "hook" else "user_temporary"
        self._result(call, "", permissionDecision={"decision": "accept", "source": source})
        self.hooks.append(self._hook("PostToolUse", call, tool_use_id=call.use))

    def _press_yes(self, call: Call) -> None:
        self._decide(call, True, "terminal")

    def _press_escape(self, call: Call) -> None:
        self._decide(call, None, "terminal")

    def _press_no(self, call: Call) -> None:
        self._decide(call, False, "terminal", f"said in the terminal about {call.number}")

    def _hook_prints(self, call: Call) -> None:
        """The hook hands the agent what it got. A dialog that is gone takes nothing."""
        decision, call.in_flight = call.in_flight, None
        call.is_held = False
        if call.is_open and decision is not None:
            self._decide(call, decision["approved"], "hook", decision.get("message"))

    def _kill_agent(self, call: Call) -> None:
        self.is_killed = True
        call.is_open = call.is_held = False
        call.in_flight = None

    # ------------------------------------------------------------------ the board

    async def _answer(self, call: Call) -> None:
        approved = self.chance.random() < 0.5
        value = {"approved": approved} | ({} if approved else {"message": f"no {call.number}"})
        try:
            await self.operations.answer(call.hold, value, by="ada", via="http")
        except (AlreadyAnswered, InteractionClosed, InteractionNotFound):
            return
        assert call.answer is None, "two answers were accepted"
        call.answer = value

    async def _serve_hold(self, call: Call) -> None:
        """The server and the hook that it holds: ask, hand over, or notice that it is gone."""
        rows = await self.log.rows(Query("human_interactions", {"id": call.hold}))
        if not rows:
            if call.is_held and call.is_open:
                await self._hear(call.request)
            return
        asked = interaction(rows[0], self.clock.now_ms())
        if not call.is_held:
            if self.chance.random() < 0.3:
                await self.plates.let_go(call.hold)
            return
        if asked.for_agent is not None and call.in_flight is None:
            await self.plates.hand_over(call.hold, asked.for_agent)
            call.in_flight = dict(asked.for_agent)
        elif asked.status != "pending":
            call.is_held = False

    async def _round(self, call: Call) -> None:
        if self.server_is_up:
            await self.rounds.once()

    async def _deliver_hook(self, call: Call) -> None:
        await self._hear(self.hooks.popleft())

    def _kill_server(self, call: Call) -> None:
        self.server_is_up = False
        for one in self.calls:
            # What was on its way may have arrived, or not.
            if self.chance.random() < 0.5:
                one.in_flight = None

    def _start(self, call: Call) -> None:
        self._start_server()

    def _start_server(self) -> None:
        self.server_is_up = True
        self.plates = Plates(self.log, self.clock)
        holding = HeldHooks(self.log, Inbox(self.log, self.clock))
        self.rounds = Rounds(self.plates, holding, self.clock, self._notice_death)

    async def _notice_death(self) -> bool:
        """What a round finds out about processes; here, the agent's is played by the test's own."""
        if self.is_killed:
            for plate in await self.plates.living():
                await self.plates.tell(plate.plate_id, lambda now: events.PROCESS_EXIT({}))
        return True

    # ------------------------------------------------------------------ files and payloads

    async def _hear(self, payload: dict[str, Any]) -> None:
        report = translate(payload)
        assert report is not None
        await self.plates.hear(report)

    def _hook(self, name: str, call: Call | None = None, **more: Any) -> dict[str, Any]:
        tool = {} if call is None else {"tool_name": "Bash", "tool_input": self._input(call)}
        return {
            "session_id": SESSION,
            "hook_event_name": name,
            "cwd": "/project",
            "transcript_path": str(self.transcript),
            "callboard": {
                "pid": self.pid,
                "proc_start": self.proc_start,
                "sent_at": self.clock.now_ms(),
            },
            **tool,
            **more,
        }

    def _input(self, call: Call) -> dict[str, str]:
        return {"command": call.command}

    def _result(self, call: Call, content: str, **decided: Any) -> None:
        result = {"type": "tool_result", "tool_use_id": call.use, "content": content}
        self._write({"type": "user", "message": {"content": [result]}, **decided})

    def _write(self, record: dict[str, Any]) -> None:
        record["timestamp"] = iso(from_ms(self.clock.now_ms()))
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def _register(self, status: str) -> None:
        now = self.clock.now_ms()
        told = {
            "pid": self.pid,
            "sessionId": SESSION,
            "procStart": self.proc_start,
            "status": status,
            "updatedAt": now,
            "statusUpdatedAt": now,
        }
        sessions = self.folder / "sessions"
        sessions.mkdir(exist_ok=True)
        (sessions / f"{self.pid}.json").write_text(json.dumps(told), encoding="utf-8")

    # ------------------------------------------------------------------ what is recorded

    async def record(self, call: Call) -> Interaction | None:
        """The question of a call; None when the board never heard of it."""
        rows = await self.log.rows(Query("human_interactions", {"id": call.hold}))
        return interaction(rows[0], self.clock.now_ms()) if rows else None
