"""Whatever command line a command prints as the next thing to do, works."""

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.acceptance.cli_process import CallboardCommand
from tests.in_process import run_here

pytestmark = pytest.mark.timeout(300)

OTHER = """
from callboard import Approval, Phase, Workflow

other = Workflow("other", state=dict, phases=[Phase("ask", human=Approval("Go?"), terminal=True)])
"""
_WORD = r"(?:'[^']*'|[^\s`()'|;]+)"
_HINT = re.compile(rf"callboard [a-z]+(?: {_WORD})*")
_MENTION = re.compile(r"`callboard [a-z]+`|^Usage: .*$", re.MULTILINE)
PLACEHOLDERS = {"FILE": "other.py", "NAME": "ask", "[--edit": "", "TASK": "Build it"}
MOST = 100
"""How many hints there can be before following them leads nowhere."""
CODES = {"run": {0, 3}, "resume": {0, 3}, "retry": {0, 3}, "fork": {0, 3}}
"""The exit codes that are right; 3 says that a person is needed. For all others, 0."""
UNTRIED = {
    "service": "it would change the services of this machine",
    "attend": "it would start a coding agent",
    "delegate": "so would it",
}


def hints(text: str) -> list[str]:
    """The command lines in what a command printed."""
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    found = _HINT.findall(_MENTION.sub("", text))
    return [re.sub(r"[.,;:]+$", "", one) for one in found]


@dataclass
class Walk:
    """Calls commands, collects the hints that they print, and follows each of them once."""

    call: CallboardCommand
    place: tuple[str, ...] = ()
    """Where the commands are sent: nothing, or --db or --server."""
    seen: set[str] = field(default_factory=set)
    followed: list[str] = field(default_factory=list)

    def take(self, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        """Call a command; returns all that it printed."""
        code, out, err = self._called([*words, *self.place])
        assert code in codes, (words, out, err)
        self.seen |= set(hints(out + "\n" + err))
        return out + err

    def _called(self, words: list[str]) -> tuple[int, str, str]:
        if words[0] in ("open", "demo"):  # They start processes of their own.
            process = self.call.start(*words)
            out, err = process.communicate(timeout=60)
            return process.returncode, out, err
        done = run_here(words, self.call.folder, self.call.env)
        for name in ("flows", "other", "callboard_file_flows", "callboard_file_other"):
            sys.modules.pop(name, None)
        return done

    def follow(self) -> None:
        """Run every hint, and those that they print."""
        while left := sorted(self.seen - set(self.followed)):
            for hint in left:
                self.followed.append(hint)
                self._run(hint)
        assert len(self.followed) < MOST, self.followed

    def _run(self, hint: str) -> None:
        words = [PLACEHOLDERS.get(one, one) for one in shlex.split(hint)[1:]]
        if words[0] in UNTRIED:
            return None
        if words[0] == "serve":
            return self._start([*words, "--port", "0"], "Callboard is at")
        if words[0] == "worker":
            return self._start(words, "Worker")
        if words[0] == "board":
            return self._board(words)
        code, out, err = self._called(words)
        # What was open when it was printed may have been answered by the hint before.
        if code == 2 and re.search(r"already|has (ended|completed|been cancelled)|is closed", err):
            return None
        assert code in CODES.get(words[0], {0}), (hint, code, out, err)
        self.seen |= {one for one in hints(out + "\n" + err) if words[0] != "fork"}
        return None

    def _start(self, words: list[str], says: str) -> None:
        """Start something that runs until it is stopped."""
        process = self.call.start(*words)
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=120)
        assert says in first, (words, first, rest)
        assert process.returncode == 0

    def _board(self, words: list[str]) -> None:
        child = self.call.terminal(*words)
        child.expect("needs? you|No agents yet|running|idle|done|starting")
        child.send("q")
        child.expect(r"\Z|$")
        child.close(force=True)


@pytest.fixture
def call(tmp_path: Path) -> Iterator[CallboardCommand]:
    command = CallboardCommand(tmp_path)
    (tmp_path / "other.py").write_text(OTHER, encoding="utf-8")
    (tmp_path / ".claude").mkdir()  # Who has it uses the agent.
    del command.env["CALLBOARD_DB"]
    command.env |= {"BROWSER": "true %s", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    yield command
    for child in command.children:
        child.close(force=True)


def session_in(text: str) -> str:
    found = re.search(r"session (\w{12})", text)
    assert found is not None, text
    return found[1]


def tour(walk: Walk) -> None:
    """Use what most people use, right and wrong, and follow what it says."""
    walk.take("sessions")
    walk.take("plates")
    asked = session_in(walk.take("run", "flows.py:trip", "--input", "Rome", codes=(3,)))
    failed = session_in(walk.take("run", "flows.py:broken", codes=(1,)))
    Path(walk.call.env["MENDED"]).touch()
    for words in (["inbox"], ["sessions"], ["show", asked], ["why", asked], ["why", failed]):
        walk.take(*words)
    for words in (["show", "nothing"], ["answer", "nothing", "yes"], ["answer", asked, "hm"]):
        walk.take(*words, codes=(2,))
    walk.take("pause", asked)
    walk.take("why", asked)
    walk.take("resume", asked, codes=(3,))
    walk.take("fork", asked, "--phase", "plan", "--no-run")
    ended = session_in(walk.take("run", "flows.py:both", "--auto-approve"))
    walk.take("resume", ended, codes=(2,))
    walk.take("retry", ended, codes=(2,))
    walk.take("board", codes=(2,))
    walk.take("stats")
    for words in (
        ["assign", "nothing", "ada"],
        ["rename", "nothing", "Ada"],
        ["export", "nothing"],
    ):
        walk.take(*words, codes=(2,))
    if "--server" not in walk.place:
        maintain(walk)
    walk.follow()
    walk.take("cancel", asked, codes=(0, 2))
    walk.take("why", asked)
    walk.follow()


def maintain(walk: Walk) -> None:
    """Use what works on databases alone."""
    walk.take("token", "list")
    walk.take("token", "create", codes=(2,))
    walk.take("token", "create", "--name", "ci", "--scope", "read")
    walk.take("token", "revoke", codes=(2,))
    walk.take("token", "revoke", "nothing", codes=(2,))
    walk.take("doctor", codes=(0, 1))
    walk.take("hooks", "status", codes=(0, 1))
    walk.take("delegate", codes=(2,))


@pytest.mark.parametrize("place", [(), ("--db", "x.db")], ids=["default", "named"])
def test_hints_without_a_server(call: CallboardCommand, place: tuple[str, ...]):
    walk = Walk(call, place)
    walk.take("run", "other.py", codes=(3,))
    tour(walk)
    walk.take("open", codes=(1,))
    walk.follow()
    assert any(one.startswith("callboard serve") for one in walk.followed)
    assert any(one.startswith("callboard retry") for one in walk.followed)


@dataclass
class Started:
    """A process that prints hints and stays."""

    process: "subprocess.Popen[str]"
    said: str
    url: str


def started(call: CallboardCommand, *words: str, last: str) -> Started:
    """Start something that stays; returns when it has printed a line with that text."""
    process = call.start(*words)
    assert process.stdout is not None
    said = ""
    while last not in said:
        line = process.stdout.readline()
        assert line, (said, process.communicate())
        said += line
    url = re.search(r"http://127\.0\.0\.1:\d+", said)
    assert url is not None
    return Started(process, said, url[0])


def ended(started: Started) -> None:
    started.process.send_signal(signal.SIGTERM)
    started.process.communicate(timeout=120)


@pytest.mark.parametrize("how", ["--db", "--server", "presence"])
def test_hints_with_a_server(call: CallboardCommand, how: str):
    call("run", "flows.py:trip", "--input", "Oslo", "--db", "x.db", code=3)
    server = started(
        call, "serve", "flows.py", "other.py", "--db", "x.db", "--port", "0", last="Ctrl-C"
    )
    places = {"--db": ("--db", "x.db"), "--server": ("--server", server.url)}
    walk = Walk(call, places.get(how, ()))
    try:
        walk.seen |= set(hints(server.said))
        assert any(one.startswith("callboard open") for one in walk.seen)
        tour(walk)
        walk.take("open")
        walk.follow()
    finally:
        ended(server)


def test_hints_of_the_demo(call: CallboardCommand):
    demo = started(call, "demo", "board", "--speed", "20", last="Questions wait")
    walk = Walk(call)
    try:
        walk.seen |= set(hints(demo.said))
        assert {one.split()[1] for one in walk.seen} >= {"board", "plates", "open"}
        walk.follow()
    finally:
        ended(demo)
