"""Tools with which any agent can ask a person: it asks, gets an id, and fetches the answer.

An answer may take a day, but a client waits only a minute. So every call is bounded, and its id
stays valid across timeouts and restarts of the client and the server. A client gets answers only to
its own questions.
"""

import hmac
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from callboard.board.question_protocols import Questions
from callboard.clock import Clock
from callboard.errors import InteractionNotFound
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object
from callboard.harness.protocol import Failed, Tool
from callboard.interactions.configs import LONGEST_TIMEOUT_MS
from callboard.interactions.outcomes import FORMS
from callboard.interactions.records import Interaction

LONGEST_WAIT: Final = 50
"""Seconds. Clients give up on a call after a minute."""

ABOUT: Final = (
    "Ask the person who runs you. Every question has an id; if there is no answer yet, continue "
    "with what does not depend on it, and fetch the answer later with check_answer and that id."
)

_OWNER: Final = "askedBy"
_LOOK_AGAIN: Final = 0.5


def owner(key: bytes, client: str, folder: Path) -> str:
    """Identifies a client in its questions: stable across restarts, and not secret."""
    words = f"{client}\0{folder}".encode()
    return hmac.digest(key, words, "sha256").hex()[:32]


@dataclass(frozen=True, slots=True)
class PersonTools:
    """The tools of one client. cwd: where it works, for the sessions it requests."""

    questions: Questions
    clock: Clock
    owner: str
    cwd: Path

    def tools(self) -> list[Tool]:
        """All of the tools."""
        return [
            tool("ask_human", _ASK, _ASK_FIELDS, self.ask_human),
            tool("request_approval", _APPROVAL, _PROMPT, self.request_approval),
            tool("request_interactive", _SESSION, _SESSION_FIELDS, self.request_interactive),
            tool("check_answer", _CHECK, {"id": _TEXT}, self.check_answer),
        ]

    async def ask_human(self, given: Object) -> dict[str, Json]:
        """Ask a question with options, or for any text."""
        options = given.get("options")
        type = "choice" if options else "input"
        return await self._ask(given, type, options=options or None)

    async def request_approval(self, given: Object) -> dict[str, Json]:
        """Ask yes or no."""
        return await self._ask(given, "approval")

    async def request_interactive(self, given: Object) -> dict[str, Json]:
        """Request an interactive session with a person."""
        outcome = given.get("outcome", "freeform")
        if outcome not in FORMS:
            raise Failed(f"outcome must be one of {', '.join(FORMS)}.")
        schema = {"type": outcome, "options": given.get("options")}
        schema |= {"jsonSchema": given.get("json_schema")}
        config: dict[str, Json] = {
            "outcomeSchema": {key: value for key, value in schema.items() if value is not None},
            "cwd": str(self.cwd),
        }
        named = {"systemPrompt": "system_prompt", "context": "context", "model": "model"}
        config |= {key: given[name] for key, name in named.items() if given.get(name) is not None}
        if given.get("timeout_seconds") is not None:
            config["timeout"] = _millis(given["timeout_seconds"], "timeout_seconds")
        return await self._ask(given, "interactive_session", config=config)

    async def check_answer(self, given: Object) -> dict[str, Json]:
        """The answer to one of this client's questions, waiting as long as the call says."""
        return _outcome(await self.awaited(await self.own(given.get("id")), given))

    async def own(self, id: Json) -> Interaction:
        """One of this client's questions."""
        if not isinstance(id, str):
            raise Failed("id must be the id of a question that you asked.")
        try:
            found = await self.questions.get(id)
        except InteractionNotFound:
            found = None
        # This doesn't reveal whether another client has such a question.
        if found is None or as_object(found.config).get(_OWNER) != self.owner:
            raise Failed(f"You haven't asked a question with the id {id!r}.")
        return found

    async def ask_for(self, prompt: str, config: Object) -> Interaction:
        """Ask for a yes to what the config describes."""
        config = {**config, _OWNER: self.owner}
        return await self.questions.ask(type="approval", prompt=prompt, config=config)

    async def _ask(
        self,
        given: Object,
        type: str,
        *,
        options: Json = None,
        config: Object | None = None,
    ) -> dict[str, Json]:
        _wait(given)
        asked = await self.questions.ask(
            type=type,
            # The board checks these and reports errors.
            prompt=cast("str", given.get("prompt", "")),
            options=cast("list[str] | None", options),
            config={**(config or {}), _OWNER: self.owner},
            assignees=cast("list[str] | None", given.get("assignees")),
        )
        return _outcome(await self.awaited(asked, given))

    async def awaited(self, asked: Interaction, given: Object) -> Interaction:
        """A question once it is answered, or as it is after the time that a call wants to wait."""
        until = self.clock.monotonic() + _wait(given)
        while asked.status == "pending" and (left := until - self.clock.monotonic()) > 0:
            await self.clock.sleep(min(_LOOK_AGAIN, left))
            asked = await self.questions.get(asked.id)
        return asked


def _outcome(asked: Interaction) -> dict[str, Json]:
    told: dict[str, Json] = {"id": asked.id, "status": asked.status, "response": asked.response}
    if asked.status == "pending":
        told["message"] = "No answer yet. Fetch it later: check_answer with this id."
    return told


def _wait(given: Object) -> float:
    wait = _number(given.get("wait_seconds", 0), "wait_seconds")
    return min(max(wait, 0), LONGEST_WAIT)


def _number(value: Json, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise Failed(f"{name} must be a number.")
    return value


def _millis(value: Json, name: str) -> int:
    seconds = _number(value, name)
    if not 0 < seconds <= LONGEST_TIMEOUT_MS / 1000:
        raise Failed(f"{name} must be more than 0, and at most a year.")
    return max(1, round(seconds * 1000))


# ---------------------------------------------------------------------- what the model reads

_ASK: Final = "Ask the person a question: with options to choose from, or for an answer in words."
_APPROVAL: Final = "Ask the person for a yes or no, before you do something that needs one."
_SESSION: Final = (
    "Ask the person to look into something together with an agent of their own, and to decide. "
    "For decisions that need more than a yes or no. It takes minutes to hours."
)
_CHECK: Final = "Fetch the answer to a question that you asked, by its id."

_TEXT: Final = {"type": "string", "minLength": 1}
_OPTIONS: Final = {"type": "array", "items": _TEXT, "minItems": 1}
_WAIT: Final = {
    "type": "number",
    "minimum": 0,
    "maximum": LONGEST_WAIT,
    "description": f"Seconds to wait for the answer, at most {LONGEST_WAIT}. Default: 0.",
}
_PROMPT: Final = {
    "prompt": {**_TEXT, "description": "The full question."},
    "assignees": {
        **_OPTIONS,
        "description": "The only people, and groups as group:NAME, who may answer.",
    },
}
_ASK_FIELDS: Final = {
    **_PROMPT,
    "options": {**_OPTIONS, "description": "The options to choose from."},
}
_SESSION_FIELDS: Final = {
    **_PROMPT,
    "outcome": {"type": "string", "enum": list(FORMS), "description": "Default: freeform."},
    "options": {**_OPTIONS, "description": "For a selection."},
    "json_schema": {"type": "object", "description": "For a structured outcome."},
    "context": {"type": "object", "description": "What the session should know."},
    "system_prompt": _TEXT,
    "model": _TEXT,
    "timeout_seconds": {"type": "number", "exclusiveMinimum": 0},
}


def tool(
    name: str,
    about: str,
    fields: Object,
    call: Callable[[Object], Awaitable[dict[str, Json]]],
    required: Sequence[str] = (),
) -> Tool:
    """A tool that waits for an answer. fields: its other parameters; by default, the first is
    required.
    """
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {**fields, "wait_seconds": _WAIT},
        "required": list(required or list(fields)[:1]),
        "additionalProperties": False,
    }
    return Tool(name, about, schema, lambda made: call(made.arguments))
