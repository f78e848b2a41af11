"""Opens a session with an agent: what both can do, signing in if it has to be, and the session."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from acp.connection import Connection
from acp.exceptions import RequestError
from acp.meta import AGENT_METHODS, PROTOCOL_VERSION

from callboard.errors import ConflictError
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, as_text, objects
from callboard.vendors.fields import LONGEST_WORD, word

WITHIN: Final = 60.0
"""Seconds for each answer of an agent that starts. Some download themselves first."""
_SIGN_IN: Final = -32000
_ABSORBING: Final = ("opencode",)
"""Agents that take a prompt in the middle of a turn. Others cancel the turn for it."""
_QUEUEING: Final = "promptQueueing"
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "gemini-api-key": ("GEMINI_API_KEY",),
    "vertex-ai": ("GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT"),
    "codex-api-key": ("CODEX_API_KEY",),
    "openai-api-key": ("OPENAI_API_KEY",),
}
"""Ways to sign in that only need a variable that the agent has."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A session that is open. absorbs: whether the agent takes a prompt in the middle of a turn."""

    session_id: str
    agent: Mapping[str, Json]
    model: str | None
    absorbs: bool
    resumed: bool


class AgentOpening:
    """Opens the session of one agent. within: seconds for each of its answers."""

    def __init__(self, connection: Connection, env: Mapping[str, str], within: float) -> None:
        self._connection = connection
        self._env = env
        self._within = within

    async def open(self, folder: str, session: str | None) -> Opened:
        """Open a session, or resume one; ConflictError says why that isn't possible."""
        told = await self._ask(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                },
                "clientInfo": {"name": "callboard", "version": version("callboard")},
            },
        )
        spoken = told.get("protocolVersion")
        if spoken != PROTOCOL_VERSION:
            raise ConflictError(
                f"The agent speaks version {str(spoken)[:20]} of the protocol, Callboard version "
                f"{PROTOCOL_VERSION}. Update the older of the two."
            )
        abilities = as_object(told.get("agentCapabilities"))
        opened = await self._session(folder, session, abilities, told)
        agent = _agent(as_object(told.get("agentInfo")))
        name = as_text(agent.get("name")).lower()
        queues = f'"{_QUEUEING}": true' in json.dumps(abilities.get("_meta"))
        id = word(opened.get("sessionId")) or session
        if id is None:
            raise ConflictError("The agent opened a session without an id. Update the agent.")
        absorbs = name in _ABSORBING or queues
        return Opened(id, agent, _model(opened), absorbs, session is not None)

    async def _session(
        self, folder: str, session: str | None, abilities: Object, told: Object
    ) -> Object:
        method, asked = self._wanted(folder, session, abilities)
        try:
            return await self._ask(method, asked)
        except RequestError as error:
            if error.code != _SIGN_IN:
                raise
        await self._sign_in(told)
        return await self._ask(method, asked)

    def _wanted(self, folder: str, session: str | None, abilities: Object) -> tuple[str, Object]:
        asked: dict[str, Json] = {"cwd": folder, "mcpServers": []}
        if session is None:
            return "session_new", asked
        asked["sessionId"] = session
        if "resume" in as_object(abilities.get("sessionCapabilities")):
            return "session_resume", asked
        if abilities.get("loadSession") is True:
            return "session_load", asked
        raise ConflictError(
            "This agent can't resume sessions. Start a new one: callboard start acp -- COMMAND"
        )

    async def _sign_in(self, told: Object) -> None:
        """Sign in with a key from the environment; a person has to do everything else."""
        ways = objects(told.get("authMethods"))
        for way in ways:
            id = as_text(way.get("id"))
            named = [as_text(one.get("name")) for one in objects(way.get("vars"))]
            names = _KEYS.get(id, tuple(named))
            if names and all(self._env.get(name) for name in names):
                await self._ask("authenticate", {"methodId": id})
                return
        named = [as_text(one.get("name"))[:LONGEST_WORD] for one in ways]
        raise ConflictError(
            "The agent has to be signed in. Start it in a terminal and sign in there, or set its "
            f"API key. It offers: {', '.join(named) or 'nothing'}."
        )

    async def _ask(self, method: str, params: Object) -> Object:
        try:
            async with asyncio.timeout(self._within):
                request = self._connection.send_request(AGENT_METHODS[method], params)
                return as_object(await request)
        except TimeoutError:
            raise ConflictError(
                f"The agent didn't answer {AGENT_METHODS[method]!r} within {self._within:g} "
                "seconds. Does the command speak ACP?"
            ) from None


def _agent(told: Object) -> dict[str, Json]:
    known = {name: word(told.get(name)) for name in ("name", "title", "version")}
    return {name: one for name, one in known.items() if one is not None}


def _model(opened: Object) -> str | None:
    named = word(as_object(opened.get("models")).get("currentModelId"))
    options = objects(opened.get("configOptions"))
    chosen = (one for one in options if "model" in (one.get("category"), one.get("id")))
    return named or next((word(one.get("currentValue")) for one in chosen), None)
