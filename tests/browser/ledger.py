"""An agent at work on a ledger: its conversation, its changes, and messages to it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.browser.inboxes import inbox_of
from tests.browser.test_changes import script_gh
from tests.browser.transcripts import Transcript, put_on_board
from tests.repositories import TestRepository, new_repository
from tests.servers import Server, serving

LEDGER = '''\
"""What an account has, and what moved there."""


class Ledger:
    def __init__(self) -> None:
        self.accounts: dict[str, int] = {}

    def total(self, account: str) -> int:
        """What an account has, in cents."""
        return self.accounts.get(account, 0)

    def move(self, source: str, target: str, cents: int) -> None:
        self.accounts[source] -= cents
        self.accounts[target] += cents
'''
BEFORE = "        return self.accounts.get(account, 0)\n"
AFTER = """\
        if account not in self.accounts:
            raise UnknownAccount(account)
        return self.accounts[account]
"""
ERRORS = '''\
class UnknownAccount(KeyError):
    """There is no such account."""
'''
CALLERS = "src/report.py:31:    cents = ledger.total(name)\nsrc/close.py:12:    ledger.total(cash)"
FAILED = (
    "FAILED tests/test_report.py::test_empty_month - UnknownAccount: 'travel'\n1 failed, 47 passed"
)
ASKED = "`Ledger.total` must refuse accounts that don't exist. Look at its callers first, please."


@dataclass(frozen=True)
class Work:
    """The agent, and where it works."""

    server: Server
    plate: str
    repository: TestRepository
    transcript: Transcript


def tell(transcript: Transcript, root: Path) -> None:
    """What the agent did so far."""
    transcript.prompt(ASKED)
    transcript.think("An unknown account gives 0 today. Someone may rely on that.")
    transcript.reply("I'll look for callers of `total` before I change it.")
    found = transcript.call("Bash", command="rg -n 'ledger.total' src", description="Find callers")
    transcript.result(found, CALLERS)
    agent = transcript.call(
        "Agent", description="Check what the callers expect", prompt="Do they rely on zero?"
    )
    transcript.result(agent, "report.py relies on zero.", toolUseResult={"agentId": "a7"})
    nested = transcript.subagent("a7")
    nested.prompt("Do they rely on zero?")
    nested.reply("`report.py` relies on zero for months without travel; `close.py` doesn't.")
    edit = transcript.call(
        "Edit", file_path=str(root / "ledger.py"), old_string=BEFORE, new_string=AFTER
    )
    lines = ['         """What an account has, in cents."""', f"-{BEFORE.rstrip()}"]
    lines += [f"+{line}" for line in AFTER.rstrip().split("\n")]
    hunk = {"oldStart": 9, "oldLines": 2, "newStart": 9, "newLines": 4, "lines": lines}
    changed = {"filePath": str(root / "ledger.py"), "structuredPatch": [hunk]}
    transcript.result(edit, "Updated.", toolUseResult=changed)
    failing = transcript.call("Bash", command="make test", description="Run the tests")
    transcript.result(failing, FAILED, is_error=True)
    transcript.reply(
        "One test fails: **`report.py` relies on zero** for months without travel.\n\n"
        "- I could make `report.py` ask with `in` first, or\n"
        "- keep `total` as it is, and add `total_of_known`.\n\n"
        "I'll do the first, unless you'd rather have the second."
    )


def change(repository: TestRepository) -> None:
    """What it changed so far."""
    repository.write("ledger.py", LEDGER.replace(BEFORE, AFTER))
    repository.write("errors.py", ERRORS)
    repository.git("add", "errors.py")
    repository.git("mv", "notes.txt", "docs.txt")
    (repository.root / "chart.png").write_bytes(bytes(range(256)))


@asynccontextmanager
async def agent_at_work(folder: Path) -> AsyncGenerator[Work]:
    """It has changed files, and takes messages at its next step."""
    home, repository = folder / "claude", new_repository(folder)
    repository.write("ledger.py", LEDGER)
    repository.write("notes.txt", "one\ntwo\nthree\n")
    repository.commit()
    repository.git("switch", "-q", "-c", "refuse-unknown-accounts")
    transcript = Transcript(home)
    env = {"CLAUDE_CONFIG_DIR": str(home), "PATH": script_gh(folder / "bin"), "LOGNAME": "dana"}
    async with (
        serving(folder / "x.db", env=env) as server,
        inbox_of(home, transcript) as inbox,
    ):
        told = {"callboard": {"pid": inbox.pid, "proc_start": inbox.started}}
        plate = await put_on_board(server, transcript, cwd=str(repository.root), **told)
        tell(transcript, repository.root)
        async with server.client() as http:
            for _ in range(100):
                read = await http.get(f"/plates/{plate}/changes")
                if read.status_code == 200 and read.json()["base"]["kind"] == "session":
                    break
            change(repository)
            (await http.patch(f"/plates/{plate}", json={"name": "ledger"})).raise_for_status()
        await inbox.open("busy")
        yield Work(server, plate, repository, transcript)
