"""`callboard attend` with the real Claude Code, as a person runs it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.real_clients.board import Board, Wire
from tests.real_clients.claude import Claude, ClaudeTerminal
from tests.real_clients.home import CALLBOARD
from tests.real_clients.patience import until_told
from tests.real_clients.script import Call, Say, Script
from tests.servers import TOKEN

TOOL = "mcp__callboard-decision__submit_decision"
DIALOG = "Do you want to proceed?"
APPROVAL = {"type": "approval"}
DECISIONS: dict[str, tuple[dict[str, Any], Any]] = {
    "approval": (APPROVAL, "rejected"),
    "selection": ({"type": "selection", "options": ["staging", "production"]}, "staging"),
    "freeform": ({"type": "freeform"}, "Use the second index."),
    "structured": (
        {
            "type": "structured",
            "jsonSchema": {
                "type": "object",
                "properties": {"approved": {"type": "boolean"}, "notes": {"type": "string"}},
                "required": ["approved", "notes"],
            },
        },
        {"approved": False, "notes": "two keys clash"},
    ),
}
PATIENT = 120.0


def deciding(*decisions: Any, then: str = "It is kept.") -> Script:
    """The model submits one decision after the other."""
    return [[Call(TOOL, {"decision": one})] for one in decisions] + [[Say(then)]]


@dataclass
class Attendance:
    """A harness on the board's database, or on its server."""

    claude: Claude
    board: Board
    by_server: bool = False
    env: dict[str, str] = field(default_factory=dict)

    async def ask(self, prompt: str, **config: Any) -> str:
        """Ask for a session, as a caller does; gives its id."""
        config.setdefault("cwd", str(self.claude.home.project))
        body = {"type": "interactive_session", "prompt": prompt, "config": config}
        async with self.board.server.client() as client:
            answer = await client.post("/interactions", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def terminal(self, *options: str, asks: bool = False) -> ClaudeTerminal:
        """Where it runs; asks: whether the person chooses and confirms."""
        env = self.claude.env | self.env
        if self.by_server:
            env |= {"CALLBOARD_SERVER": self.board.server.url, "CALLBOARD_TOKEN": TOKEN}
        quick = [] if asks else ["--yes"]
        command = [CALLBOARD, "attend", "--once", "--by=ann", *quick, *options]
        return ClaudeTerminal(command, self.claude.home.project, env)

    async def question(self, id: str) -> Wire:
        return await self.board.question(id)

    async def permission(self) -> Wire:
        """Wait for what the agent asks on the board."""

        async def look() -> Wire | None:
            path = "/interactions?status=pending&type=permission"
            found = (await self.board.get(path))["interactions"]
            return found[0] if found else None

        return await until_told(look, lambda: "a permission on the board")

    def kept(self) -> list[Path]:
        """What harnesses have left beside the database."""
        folder = self.claude.home.database
        return list(folder.with_name(f"attend-{folder.name}").glob("*/*"))


async def agree(terminal: ClaudeTerminal) -> None:
    """Say yes in the dialog of a decision. Until it is there, two programs have to start."""
    await terminal.shows(DIALOG, within=PATIENT)
    await terminal.leaves(DIALOG, "1")


async def leave(terminal: ClaudeTerminal) -> None:
    """Leave the agent, and wait for the harness to end."""
    await exit_agent(terminal)
    await terminal.ends()


async def exit_agent(terminal: ClaudeTerminal) -> None:
    """Leave the agent. A key that was pressed once more for a dialog may be in the prompt."""
    terminal.press("C-u")
    await terminal.type("/exit")


async def refuse(terminal: ClaudeTerminal, key: str) -> None:
    """Say no in the dialog of a decision, and wait until the agent takes a prompt again."""
    await terminal.shows(DIALOG, within=PATIENT)
    await terminal.leaves(DIALOG, key)
    await terminal.shows("❯")


async def told_once(terminal: ClaudeTerminal, hint: str) -> None:
    """Press Ctrl-C until its hint was seen: it stands there for a moment only."""
    for _ in range(10):
        terminal.press("C-c")
        try:
            await terminal.shows(hint, within=3)
        except AssertionError:
            continue  # It was gone before we looked; a second press must not follow at once.
        return
    await terminal.shows(hint)
