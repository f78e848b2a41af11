"""The four clients in terminals, so that one test can write to each of them.

Each plays the same scripts: `greet` and `again` say something, `run` uses a tool until there is a
file `open`, `ask` uses one that has to be permitted, and `think` waits for the gate.
"""

import json
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil
from tests.real_clients.board import Board, Wire
from tests.real_clients.claude import PROCEED, Claude
from tests.real_clients.codex import TRUST, Codex
from tests.real_clients.contents import Contents
from tests.real_clients.gemini import Gemini
from tests.real_clients.home import Home
from tests.real_clients.messages import Messages
from tests.real_clients.model import Dialect, Model
from tests.real_clients.opencode import Opencode
from tests.real_clients.patience import until
from tests.real_clients.responses import Responses
from tests.real_clients.script import Call, Hold, Say, Script
from tests.real_clients.terminal import Terminal

WAITS = "touch started; until [ -e open ]; do sleep 0.1; done"
TOUCHES = "touch made"


@dataclass(frozen=True)
class Traits:
    """What differs between the clients.

    tool: the name of their shell, and what else a call of it needs; asking: the same, where it has
    to be permitted. dialog: what the terminal shows then. allowed: the dialog doesn't come.
    """

    agent: str
    dialect: Dialect
    tool: str
    command: str
    more: Mapping[str, str]
    dialog: str
    asking: Mapping[str, str] = field(default_factory=dict[str, str])

    def scripts(self, gate: threading.Event) -> dict[str, Script]:
        return {
            "greet": [[Say("Hello.")]],
            "again": [[Say("Hello again.")]],
            "run": [[self._call(WAITS)], [Say("It ran.")]],
            "ask": [[self._call(TOUCHES, self.asking)], [Say("So be it.")]],
            "think": [[Hold(gate), Say("That took a while.")]],
        }

    def _call(self, text: str, more: Mapping[str, str] | None = None) -> Call:
        return Call(self.tool, {self.command: text, **self.more, **(more or {})})


SHELL = {"description": "Work"}
CLAUDE = Traits("claude", Messages(), "Bash", "command", SHELL, PROCEED)
CODEX = Traits(
    "codex",
    Responses(),
    "exec_command",
    "cmd",
    {},
    "Would you like to run",
    {"sandbox_permissions": "require_escalated", "justification": "Make a file"},
)
GEMINI = Traits("gemini", Contents(), "run_shell_command", "command", SHELL, "Allow execution")
OPENCODE = Traits("opencode", Messages(), "bash", "command", SHELL, "Permission required")


class Client(Protocol):
    """One of the four, with its hooks installed."""

    @property
    def env(self) -> dict[str, str]: ...

    def terminal_for(self, prompt: str, *, asks: bool) -> Terminal:
        """A terminal with a new session. asks: whether a tool has to be permitted."""
        ...

    async def has_begun(self, terminal: Terminal) -> None:
        """Answer what it asks everybody once."""
        ...

    async def kill(self, terminal: Terminal, plate: Wire) -> None:
        """End all that runs a session, as a crash would."""
        ...


@dataclass
class Agent:
    """A client, its model, and the board that it is on."""

    traits: Traits
    home: Home
    model: Model
    board: Board
    client: Client
    gate: threading.Event

    @asynccontextmanager
    async def working(self, prompt: str, *, asks: bool = False) -> AsyncGenerator["Working"]:
        """A session that was given a prompt, and its plate."""
        with self.client.terminal_for(prompt, asks=asks) as terminal:
            await self.client.has_begun(terminal)
            try:
                yield Working(self, terminal)
            finally:
                # Gemini CLI sometimes outlives its terminal.
                with suppress(psutil.NoSuchProcess):
                    _kill(terminal.pid)

    @property
    def conversation(self) -> list[str]:
        """What the model was sent, without what clients ask for a title: that is without tools."""
        return [one for one in self.model.heard if json.loads(one or "{}").get("tools")]

    def times_given(self, text: str) -> int:
        """How often the model was given a text.

        A client sends the whole conversation each time: what is twice in it was given twice.
        """
        return max((sent.count(text) for sent in self.conversation), default=0)

    async def was_asked(self, text: str) -> None:
        """Wait until the model was given a text."""
        await until(lambda: self.times_given(text) > 0, f"a request with {text!r}")

    @property
    def project(self) -> Path:
        return self.home.project


@dataclass
class Working:
    """A session in a terminal."""

    agent: Agent
    terminal: Terminal

    async def is_idle(self) -> Wire:
        await self.terminal.shows("Hello.")
        return await self.agent.board.plate(status="idle", lastEvent="stop")

    async def uses_a_tool(self) -> Wire:
        await until((self.agent.project / "started").exists, "the tool at work")
        return await self.agent.board.plate(status="running", lastEvent="tool_start")

    async def thinks(self) -> Wire:
        await until(lambda: self.agent.model.was_told("play:think"), "the model at work")
        return await self.agent.board.plate(status="running")

    async def asks(self) -> Wire:
        await self.terminal.shows(self.agent.traits.dialog)
        return await self.agent.board.plate(status="awaiting_approval")

    def finish_tool(self) -> None:
        (self.agent.project / "open").touch()

    async def kill(self, plate: Wire) -> None:
        await self.agent.client.kill(self.terminal, plate)
        await self.agent.board.plate(plateId=plate["plateId"], status="closed")


def _kill(pid: int) -> None:
    process = psutil.Process(pid)
    for one in (*process.children(recursive=True), process):
        with suppress(psutil.NoSuchProcess):  # The shell's `sleep` has just ended.
            one.kill()


@dataclass(frozen=True)
class InClaude:
    claude: Claude

    @property
    def env(self) -> dict[str, str]:
        return self.claude.env

    def terminal_for(self, prompt: str, *, asks: bool) -> Terminal:
        options = () if asks else ("--allowedTools", "Bash")
        return self.claude.terminal(*options, "--", prompt)

    async def has_begun(self, terminal: Terminal) -> None:
        """It asks nothing."""

    async def kill(self, terminal: Terminal, plate: Wire) -> None:
        _kill(plate["pid"])


@dataclass
class InCodex:
    """Its app server has the session, so that dies too."""

    codex: Codex
    servers: AsyncExitStack

    @property
    def env(self) -> dict[str, str]:
        return self.codex.env

    async def start_server(self) -> None:
        await self.servers.enter_async_context(self.codex.app_server())

    def terminal_for(self, prompt: str, *, asks: bool) -> Terminal:
        return self.codex.terminal(self.codex.home.project, prompt)

    async def has_begun(self, terminal: Terminal) -> None:
        await terminal.leaves(TRUST, "2", "Enter")

    async def kill(self, terminal: Terminal, plate: Wire) -> None:
        await self.servers.aclose()
        _kill(terminal.pid)
        await self.start_server()


@dataclass(frozen=True)
class InGemini:
    gemini: Gemini

    @property
    def env(self) -> dict[str, str]:
        return self.gemini.home.env | self.gemini.env

    def terminal_for(self, prompt: str, *, asks: bool) -> Terminal:
        return self.gemini.terminal(f"--prompt-interactive={prompt}", asks=asks)

    async def has_begun(self, terminal: Terminal) -> None:
        """It asks nothing."""

    async def kill(self, terminal: Terminal, plate: Wire) -> None:
        _kill(plate["pid"])


@dataclass(frozen=True)
class InOpencode:
    opencode: Opencode

    @property
    def env(self) -> dict[str, str]:
        return self.opencode.env

    def terminal_for(self, prompt: str, *, asks: bool) -> Terminal:
        return self.opencode.terminal("--prompt", prompt, asks=asks)

    async def has_begun(self, terminal: Terminal) -> None:
        """It asks nothing."""

    async def kill(self, terminal: Terminal, plate: Wire) -> None:
        _kill(plate["pid"])


BY_NAME = {one.agent: one for one in (CLAUDE, CODEX, GEMINI, OPENCODE)}


@asynccontextmanager
async def agent_on(board: Board, home: Home, name: str) -> AsyncGenerator[Agent]:
    """A client that is on the board. What it waits for ends with the test."""
    traits, gate = BY_NAME[name], threading.Event()
    with Model(traits.dialect, traits.scripts(gate)) as model:
        async with AsyncExitStack() as servers:
            client = _made(name, home, model, servers)
            await home.install_hooks(name)
            if isinstance(client, InCodex):
                await client.start_server()
            try:
                yield Agent(traits, home, model, board, client, gate)
            finally:
                gate.set()
                (home.project / "open").touch()


def _made(name: str, home: Home, model: Model, servers: AsyncExitStack) -> Client:
    match name:
        case "claude":
            claude = Claude(home, model)
            claude.prepare()
            return InClaude(claude)
        case "codex":
            codex = Codex(home, model)
            codex.prepare()
            return InCodex(codex, servers)
        case "gemini":
            gemini = Gemini(home, model)
            gemini.prepare()
            return InGemini(gemini)
        case _:
            opencode = Opencode(home, model)
            opencode.prepare()
            return InOpencode(opencode)
