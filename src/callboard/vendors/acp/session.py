"""The session with an agent, as the client of the protocol: prompts, questions, and its end.

We offer the agent neither files nor terminals: it has its own tools, and what they do is asked
about where the agent asks. Its questions go to people, and nothing is ever allowed without one.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from acp.connection import Connection
from acp.exceptions import RequestError
from acp.meta import AGENT_METHODS, CLIENT_METHODS

from callboard.clock import SystemClock
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, as_text, objects
from callboard.vendors.acp.opening import Opened
from callboard.vendors.acp.pipe import AgentPipe
from callboard.vendors.acp.reporting import BoardReports
from callboard.vendors.acp.tools import tool_named
from callboard.vendors.acp.turn_usage import TurnUsage
from callboard.vendors.acp.updates import PART, UpdateParts, bounded, call_id
from callboard.vendors.prompt_box import as_words

Told = Literal["handed", "delivered", "seen", "refused"]
_OF_MODEL: Final = frozenset(
    {"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}
)
_OVER: Final = frozenset({"completed", "failed"})
_ABOUT: Final = ("toolCallId", "title", "kind")
_LAST_WORDS: Final = 4_000
_MOST_MESSAGES: Final = 1_000
_MOST_NAMES: Final = 500


@dataclass(slots=True)
class SentMessage:
    """A message that the agent was given, and what shows that it has it."""

    status: Told
    at_ms: int


@dataclass(frozen=True, slots=True)
class _Question:
    """A question of the agent's that is open. call: what its reports say of the call."""

    over: asyncio.Event
    call: Mapping[str, Json]
    call_id: str


class AgentSession:
    """One session. `handle` takes what the agent says."""

    def __init__(self, pipe: AgentPipe, reports: BoardReports) -> None:
        self._pipe = pipe
        self._reports = reports
        self._clock = SystemClock()
        self.connection = Connection(self.handle, pipe)
        self._opened: Opened | None = None
        self._parts = UpdateParts()
        self._names: dict[str, str] = {}
        self._usage = TurnUsage()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._questions: dict[str, _Question] = {}
        self._afterwards: list[str] = []
        self._said = ""
        self._failure: str | None = None
        self._reason = ""
        self.messages: dict[str, SentMessage] = {}

    def begin(self, opened: Opened) -> None:
        """The session is open: updates are of it from now on."""
        self._opened = opened
        self._reports.session = opened.session_id
        self._reports.add("session", agent=opened.agent, model=opened.model, resumed=opened.resumed)

    @property
    def takes_prompts(self) -> bool:
        """Whether a prompt now would be taken, and wouldn't end the turn that is running."""
        return self._opened is not None and (not self._running or self._opened.absorbs)

    # ------------------------------------------------------------------ what people want

    def say(self, id: str, text: str) -> bool:
        """Send a prompt, at most once; returns whether the agent is given it."""
        if id in self.messages:
            return True
        if not self.takes_prompts:
            return False
        self.messages[id] = SentMessage("handed", self._clock.now_ms())
        if len(self.messages) > _MOST_MESSAGES:
            del self.messages[next(iter(self.messages))]
        self._running[id] = asyncio.create_task(self._prompt(id, text))
        return True

    async def interrupt(self) -> bool:
        """Cancel the turn; returns whether one was running."""
        if self._opened is None or not self._running:
            return False
        self._afterwards.clear()
        told = {"sessionId": self._opened.session_id}
        await self.connection.send_notification(AGENT_METHODS["session_cancel"], told)
        self.close_questions()
        return True

    def close_questions(self) -> None:
        """The agent doesn't wait for answers anymore."""
        for question in self._questions.values():
            question.over.set()

    # ------------------------------------------------------------------ turns

    async def _prompt(self, id: str, text: str) -> None:
        assert self._opened is not None
        within = len(self._running) > 1
        if not within:
            self._said, self._failure, self._reason = "", None, ""
        self._reports.add("prompt", text=text[:PART], within=within)
        for at in range(PART, len(text), PART):
            self._reports.add("more", text=text[at : at + PART])
        blocks = [{"type": "text", "text": text}]
        told = {"sessionId": self._opened.session_id, "prompt": blocks}
        try:
            found = as_object(
                await self.connection.send_request(AGENT_METHODS["session_prompt"], told)
            )
        except RequestError as error:
            self._failure = said_by(error)
            self._show(id, "delivered")
        except ConnectionError:
            pass  # The end of the agent is reported on its own.
        else:
            self._reason = as_text(found.get("stopReason"))
            self._show(id, "delivered" if self._reason == "cancelled" else "seen")
            self._usage.add_result(found)
        finally:
            self._running.pop(id, None)
            if not self._running:
                self._end_turn()

    def _end_turn(self) -> None:
        self.close_questions()
        self._parts.end_turn()
        self._names.clear()
        self._reports.add(
            "turn",
            stopReason=self._reason,
            error=self._failure,
            message=self._said[-_LAST_WORDS:] or None,
            usage=self._usage.taken(),
        )
        if self._afterwards:
            text = "\n".join(self._afterwards)
            self._afterwards.clear()
            self.say(os.urandom(8).hex(), as_words(text))

    def _show(self, id: str, status: Told) -> None:
        known = self.messages.get(id)
        if known is not None and known.status != "seen":
            self.messages[id] = SentMessage(status, self._clock.now_ms())

    # ------------------------------------------------------------------ what the agent says

    async def handle(self, method: str, params: Json, is_notification: bool) -> Json:
        """What the agent says or asks. Updates are reported in the order in which they came."""
        told = as_object(params)
        if method == CLIENT_METHODS["session_update"]:
            self._update(as_object(told.get("update")), as_text(told.get("sessionId")))
            return None
        if method == CLIENT_METHODS["session_request_permission"]:
            return await self._ask(told)
        if is_notification:
            return None
        raise RequestError.method_not_found(method)

    def _update(self, update: Object, session_id: str) -> None:
        if self._opened is None or session_id != self._opened.session_id:
            return  # What it had said before it was resumed, which is in the log already.
        kind = as_text(update.get("sessionUpdate"))
        if kind == "usage_update":
            self._usage.add_update(update)
        if kind in _OF_MODEL:
            # In a turn with several prompts, it isn't known which of them this is about.
            for id in self._running if len(self._running) == 1 else ():
                self._show(id, "seen")
        if kind == "agent_message_chunk":
            said = as_text(as_object(update.get("content")).get("text"))
            self._said = (self._said + said)[-2 * _LAST_WORDS :]
        elif kind in _OF_MODEL:
            self._said = ""
        self._report(update)

    def _report(self, update: Object) -> None:
        call = self._named(update)
        for part in self._parts.of(update):
            self._reports.add("update", update=part, **call)
        if update.get("status") in _OVER:
            for question in self._questions.values():
                if question.call_id == call_id(update):
                    question.over.set()

    def _named(self, update: Object) -> dict[str, Json]:
        """Which call of which tool it is about: the same whenever it is reported."""
        id = call_id(update)
        if not id:
            return {}
        name = self._names.setdefault(id, tool_named(update))
        if len(self._names) > _MOST_NAMES:
            del self._names[next(iter(self._names))]
        return {"tool_name": name, "tool_input": {"call": id}}

    # ------------------------------------------------------------------ questions

    async def _ask(self, params: Object) -> Json:
        call = as_object(params.get("toolCall"))
        self._report({"status": "pending", **call, "sessionUpdate": "tool_call_update"})
        await self._reports.flush()
        hold, question = (
            os.urandom(12).hex(),
            _Question(asyncio.Event(), self._named(call), call_id(call)),
        )
        self._questions[hold] = question
        payload = {
            "type": "permission",
            "options": objects(params.get("options")),
            **question.call,
            "toolCall": _essentials_first(call),
        }
        answer = await self._reports.answer(hold, payload, question.over)
        del self._questions[hold]
        return self._reply(hold, question, answer)

    def _reply(self, hold: str, question: _Question, answer: Object) -> Json:
        """The answer for the agent. What became of it is reported once the agent has it."""
        outcome = as_text(answer.get("outcome"))
        option = answer.get("optionId")
        if question.over.is_set() or outcome not in ("allowed", "denied"):
            self._reports.add("answered", request=hold, outcome="lost", **question.call)
            return {"outcome": {"outcome": "cancelled"}}
        if note := as_text(answer.get("message")):
            # The protocol has no place for it, so it is the next prompt.
            self._afterwards.append(note)
        chosen = {"outcome": "cancelled"} if option is None else {"outcome": "selected"}
        result = {"outcome": chosen if option is None else {**chosen, "optionId": option}}
        self._pipe.after(
            result,
            lambda: self._reports.add("answered", request=hold, outcome=outcome, **question.call),
        )
        return result


def _essentials_first(call: Object) -> dict[str, Json]:
    """A call in an order in which its end can be cut off, if it is too large for a report."""
    about = {name: bounded(call[name], PART) for name in _ABOUT if name in call}
    given = {name: call[name] for name in ("rawInput",) if name in call}
    return {**about, **given, **{name: one for name, one in call.items() if name not in about}}


def said_by(error: RequestError) -> str:
    """What an agent's error says, as a sentence."""
    details = as_object(error.data)
    more = as_text(details.get("details")) or as_text(details.get("message"))
    return f"{error}: {more}" if more and more not in str(error) else str(error)
