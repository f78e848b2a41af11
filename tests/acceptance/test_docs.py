"""Every example in the documents runs, and every list in them is complete.

The blocks of a page are run in order, in a folder of their own:

- ```` ```python ````: run here; the blocks of a page share their names, and may use `await`.
- ```` ```python title="trip.py" ````: written to that file instead.
- ```` ```text title="output" ````: what the block before it printed.
- ```` ```console ````: each `$ command` is run, and the lines below it are what it prints. It must
  succeed, unless `$ echo $?` follows and tells how it leaves.

Ids, durations and moments may differ from those in the text. An id that the text shows stands
for the one that was printed in its place, also in later commands. A line `…` stands for any lines.
"""

import ast
import asyncio
import contextlib
import importlib.util
import inspect
import io
import os
import re
import sqlite3
import subprocess
import sys
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pexpect
import pytest
from tests.events_conform import check_payloads

import callboard
from callboard import (
    Approval,
    Callboard,
    Choice,
    Context,
    Escalate,
    Event,
    Phase,
    Retry,
    State,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Workflow,
    agent,
    errors,
)
from callboard.cli import exit as exits
from callboard.cli.main import group
from callboard.engine.inbox import Inbox
from callboard.engine.observers import _METHODS
from callboard.events import names
from callboard.events.authors import Author
from callboard.events.event_name import Entry
from callboard.events.status import Status
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.reports import HookRequest, Report

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        ROOT / "README.md",
        DOCS / "reference" / "errors.md",
        *(DOCS / "tutorial").glob("*.md"),
        *(DOCS / "how-to").glob("*.md"),
    ]
)
EVERY_PAGE = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", *DOCS.rglob("*.md")])

FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')

# What may differ from one run to the next, in the order in which it is looked for.
ID = r"\b(?=[a-z]*\d)[0-9a-hjkmnp-tv-z]{12}\b"
VARYING = {
    ID: r"[0-9a-hjkmnp-tv-z]{12}",
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?": r"\d{4}-\d\d-\d\d[T ][\d:.]+Z?",
    r"\b\d\d:\d\d:\d\d(?:\.\d{3})?": r"\d\d:\d\d:\d\d(?:\.\d{3})?",
    r"\bjust now\b|\b\d+ \w+ ago\b": r"(?:just now|\d+ \w+ ago)",
    r"\b\d+(?:\.\d+)? (?:ms|s)\b": r"(?:\d+ min )?\d+(?:\.\d+)? (?:ms|s)",
    r"\bdurationMs=\d+": r"durationMs=\d+",
    r"\bProcess \d+": r"Process \d+",
}
ANY_OF_THEM = re.compile("|".join(f"({known})" for known in VARYING))


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    title: str | None
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    for match in FENCE.finditer(text):
        title = TITLE.search(match[2])
        line = text.count("\n", 0, match.start(3)) + 1
        found.append(Block(match[1], title[1] if title else None, match[3], line))
    return found


class Page:
    """Runs the blocks of a page."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self.folder = folder
        self.ids: dict[str, str] = {}
        self.printed = ""
        self.module = types.ModuleType(f"docs_{path.stem.replace('-', '_')}")

    async def run(self) -> None:
        for block in blocks(self.path):
            if block.language == "python" and block.title:
                (self.folder / block.title).write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                await self.execute(block)
            elif block.language == "console":
                await asyncio.to_thread(self.type_in, block)
            elif block.title == "output":
                self.compare(block.text, self.printed, f"{self.path.name}:{block.line}")

    async def execute(self, block: Block) -> None:
        # Empty lines before it, so that a traceback names the line of the page.
        source = "\n" * (block.line - 1) + block.text
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(source, str(self.path), "exec", flags=flags)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            result = eval(code, self.module.__dict__)
            if inspect.iscoroutine(result):
                await result
        self.printed = out.getvalue()

    def type_in(self, block: Block) -> None:
        left, where, command = 0, "", ""
        for where, command, expected in commands(block, self.path.name):
            if command == "echo $?":
                assert expected.strip() == str(left), f"{where}: it left with {left}"
                left = 0
                continue
            assert left == 0, f"{where}: what came before left with {left}"
            left, printed = self.call(command)
            self.compare(expected, printed, where)
        assert left == 0, f"{where}: {command} left with {left}"

    def call(self, command: str) -> tuple[int, str]:
        for shown, real in self.ids.items():
            command = command.replace(shown, real)
        env = {
            **{name: value for name, value in os.environ.items() if name != "CALLBOARD_DB"},
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "XDG_DATA_HOME": str(self.folder / ".local"),
            "COLUMNS": "100",
            "EXAMPLE_PAUSE": "0",
        }
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=50,
        )
        # A shell says 128 + the signal where Python says minus the signal.
        return (128 - done.returncode if done.returncode < 0 else done.returncode), done.stdout

    def compare(self, expected: str, printed: str, where: str) -> None:
        pattern, shown = as_pattern(tidy(expected), self.ids)
        found = re.fullmatch(pattern, tidy(printed), re.DOTALL)
        assert found, f"{where}\nthe page says:\n{expected}\nbut it prints:\n{printed}"
        self.ids |= {id: found[group] for group, id in shown.items()}


def commands(block: Block, page: str) -> Iterator[tuple[str, str, str]]:
    """Each command of a block, with its place and what it prints."""
    for part in re.split(r"^(?=\$ )", block.text, flags=re.MULTILINE):
        if part.startswith("$ "):
            joined = part[2:].replace("\\\n", "")
            command, _, expected = joined.partition("\n")
            yield f"{page}:{block.line}: {command}", command.strip(), expected


def tidy(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.strip().splitlines())


def as_pattern(expected: str, known: dict[str, str]) -> tuple[str, dict[str, str]]:
    """A regular expression for the text, and which of its groups stands for which new id."""
    shown: dict[str, str] = {}

    def varying(match: re.Match[str]) -> str:
        word, pattern = match[0], list(VARYING.values())[(match.lastindex or 1) - 1]
        if match.lastindex != 1:
            return pattern
        if word in known:
            return re.escape(known[word])
        group = f"id_{word}"
        again = group in shown
        shown[group] = word
        return f"(?P={group})" if again else f"(?P<{group}>{pattern})"

    def one_line(line: str) -> str:
        if line == "…":
            return r"(?:.*\n)?"
        pattern, place = "", 0
        for match in ANY_OF_THEM.finditer(line):
            pattern += re.escape(line[place : match.start()]) + varying(match)
            place = match.end()
        return pattern + re.escape(line[place:]) + r"\n"

    return "".join(map(one_line, expected.splitlines())), shown


@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_example_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    page = Page(path, tmp_path)
    monkeypatch.setitem(sys.modules, page.module.__name__, page.module)
    before = set(sys.modules)
    try:
        asyncio.run(page.run())
    finally:
        # What a page wrote and imported is not what the next one means by that name.
        for name in set(sys.modules) - before:
            if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


def test_most_guides_have_examples():
    bare = [p.name for p in PAGES if p.name != "index.md" and not blocks(p)]
    assert bare == []


# Links


def slug(heading: str) -> str:
    kept = re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower())
    return re.sub(r"\s+", "-", kept.strip())


def anchors(page: Path) -> set[str]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("path", EVERY_PAGE, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", target):
            continue
        file, _, anchor = target.partition("#")
        aim = (path.parent / file).resolve() if file else path
        assert aim.exists(), f"{target}: no such file"
        # Behind a picture it says in which theme it is shown.
        if anchor and aim.suffix == ".md":
            assert anchor in anchors(aim), f"{target}: no such heading"


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert listed == {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}


# The reference


def reference(name: str) -> str:
    return (DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8")


def rows(page: str) -> list[list[str]]:
    """The cells of every row of every table on a page."""
    lines = [line for line in reference(page).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_the_reference_has_the_public_names_and_no_others():
    listed = re.findall(r"^::: callboard\.(\w+)$", reference("api"), re.MULTILINE)
    assert sorted(listed) == sorted(callboard.__all__)


def test_the_reference_has_every_error_with_its_code():
    classes = [c for c in vars(errors).values() if isinstance(c, type)]
    known = {
        (f"`{c.__name__}`", f"`{c.code}`") for c in classes if issubclass(c, errors.CallboardError)
    }
    assert {(row[0], row[1]) for row in rows("errors") if row[0] != "Class"} == known
    assert "`Unwound`" in reference("errors")


def documented_events() -> dict[str, dict[str, bool]]:
    """Each event's payload keys, and whether they may be missing."""
    found: dict[str, dict[str, bool]] = {}
    for row in rows("events"):
        if re.fullmatch(r"`\w+:\w+`", row[0]):
            keys = re.findall(r"`(\w+)(\??)`", row[1])
            found[row[0].strip("`")] = {key: bool(optional) for key, optional in keys}
    return found


def test_the_reference_has_every_event():
    known = {name for name in vars(names).values() if isinstance(name, str) and ":" in name}
    known = {name for name in known if re.fullmatch(r"\w+:\w+", name)}
    named = set(re.findall(r"`(\w+:\w+)`", reference("events")))
    assert named == known


@agent
async def eager(state: State, ctx: Context) -> str:
    """Does nearly everything that an agent can do."""
    if ctx.attempt == 1:
        raise ValueError("the first attempt fails")
    for said in (Text("a"), Thinking("b"), ToolCall("1", "look", {}), ToolResult("1", "seen")):
        await ctx.emit(said)
    await ctx.emit("progress", {"percent": 50})
    await ctx.once("effect", lambda: 1)
    await ctx.ask("Inside?", timeout=3600, on_timeout=Escalate(to="Ada"), key="inside")
    return await ctx.choose("Which?", ["a", "b"])


busy = Workflow(
    "busy",
    state=State,
    start=lambda state, given: setattr(state, "approved", given),
    phases=[
        Phase("work", agent=eager, for_each=lambda s: [1], retry=Retry(backoff=0), next="skipped"),
        Phase("skipped", guard=lambda state: False, next="late"),
        Phase("late", human=Approval("?", timeout=1, on_timeout="reject"), next="remind"),
        Phase("remind", human=Choice("?", ["a"], other=True, timeout=1), next="more"),
        Phase("more", human=Approval("?", timeout=1, on_timeout=Escalate("Bo")), next="end"),
        Phase("end", until=lambda state, output: True, human=Approval("!"), terminal=True),
    ],
)


async def busy_events() -> list[Event]:
    """Nearly every kind of event that a session can have."""
    clock = FakeClock(autojump=True)
    async with Callboard.open(None, [busy], clock=clock) as board:
        source = {"file": "busy.py", "name": "busy"}
        session = (await board.run(busy, input=True, source=source)).session_id
        aside = await board.people.ask(
            type="interactive_session", prompt="?", session_id=session, by="Ada"
        )
        await board.people.assign(aside.id, "Ada", by="Ada")
        await board.people.complete(aside.id, "completed", by="Ada", via="http")
        await board.rename(session, "A busy one", by="Ada")
        status, seen = "waiting", set[str]()
        while status == "waiting":
            for question in await board.inbox(session):
                if question.id in seen:  # only when its deadline has passed
                    await board.answer(question.id, "a" if question.options else "yes", by="Ada")
                seen.add(question.id)
            clock.skip(2)
            await board.pause(session, by="Ada", reason="lunch")
            await board.resume(session, by="Ada")
            status = (await board.drive(session)).status
        edits = [{"op": "replace", "path": "/approved", "value": None}]
        forked = await board.fork(session, phase="late", edits=edits, by="Ada")
        await board.people.ask(
            type="interactive_session",
            prompt="Later?",
            session_id=forked.session_id,
            config={"blockOrchestration": False},
        )
        await board.cancel(forked.session_id, by="Ada", reason="enough")
        events = await board.events(session) + await board.events(forked.session_id)
        for stream in [f"title:{session}", *await outcomes(board.people)]:
            events += await board.log.read(stream)
        return events + await overruled(board)


async def overruled(board: Callboard) -> list[Event]:
    """What is recorded about a coding agent that was denied, and then did it all the same."""
    tool = {"toolName": "Bash", "toolInput": {"command": "ls"}, "asks": "Run: ls"}
    request = HookRequest("permission", "Run: ls", {"toolName": "Bash"})
    asking = (Entry("permission_request", tool),)
    heard = await board.plates.hear(Report("claude", "s1", asking, request=request, hold="q1"))
    await board.operations.answer("q1", approved=False, by=Author("Ada", "Bo"), via="http")
    for signal in (
        Entry("permission_settled", {"request": "q1", "outcome": "denied"}),
        Entry("tool_call", tool),
    ):
        await board.plates.hear(Report("claude", "s1", (signal,)))
    told = await board.log.read(heard.plate.plate_id)
    # How a coding agent asks is described beside the table.
    asked = [event for event in told if event.name.startswith("input:")]
    return [event for event in asked if event.name != names.REQUESTED]


async def outcomes(people: Inbox) -> list[str]:
    """Questions that stand alone, ended in every way there is; returns their streams."""
    asked: list[str] = []
    for outcome in ("completed", "approved", "cancelled", "timeout", "failed"):
        config = {"captureTranscript": True}
        one = await people.ask(type="interactive_session", prompt="?", config=config, by="Ada")
        await people.claim(one.id, by="Bo")
        await people.release(one.id, by="Bo")
        await people.complete(
            one.id, outcome, transcript="…", duration_ms=1, error="?", by="Bo", via="http"
        )
        asked.append(one.id)
    for outcome in ("approved", "cancelled", "timeout", "failed"):
        both: dict[str, Any] = {"requiredParticipants": ["Ada", "Bo"], "captureTranscript": True}
        one = await people.ask(type="interactive_session", prompt="?", config=both)
        told: dict[str, Any] = {"transcript": "…", "duration_ms": 1, "via": "http"}
        await people.complete(one.id, "approved", by="Ada", **told)
        await people.complete(one.id, outcome, by="Bo", **told)
        asked.append(one.id)
    confirmed = await people.ask(type="confirmation", prompt="?")
    await people.complete(confirmed.id, "approved", by="Bo", via="http")
    return [*asked, confirmed.id]


async def test_events_conform_to_the_types_of_their_payloads():
    checked = check_payloads(await busy_events())
    assert {names.PHASE_FAILED, names.REQUESTED, names.CORRECTED, names.TOOL_RESULT} <= checked


async def test_payloads_are_as_documented():
    documented = documented_events()
    events = await busy_events()
    for event in events:
        keys = documented[event.name]
        assert set(event.payload) <= set(keys), event.name
        missing = [key for key in keys if not keys[key] and key not in event.payload]
        assert missing == [], event.name
    rare = {"agent:interrupted", "session:held", "state:checkpoint", "workflow:failed"}
    assert set(documented) - {event.name for event in events} <= rare


def test_the_reference_has_every_status_and_exit_code():
    first = [row[0].strip("`") for row in rows("statuses")]
    codes = [value for value in vars(exits).values() if isinstance(value, int)]
    assert {*typing.get_args(Status), *map(str, codes)} <= set(first)


def test_the_guide_names_every_method_of_an_observer():
    guide = (DOCS / "how-to" / "observe.md").read_text(encoding="utf-8")
    methods = {method for method, _ in _METHODS.values()} | {"on_event"}
    assert methods <= set(re.findall(r"`(on_\w+)`", guide))


# In a sentence, after a prompt, or on a line of its own in a block without one.
NAMED = re.compile(r"`callboard ([^`\n]+)`|^(?:\$ )?(?:\w+=\S+ )?callboard (.+)$", re.MULTILINE)


@pytest.mark.parametrize("path", EVERY_PAGE, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_and_options_that_are_named_exist(path: Path):
    context = click.Context(group)
    text = path.read_text(encoding="utf-8")
    for line in NAMED.findall(text):
        words = re.sub(r"""'[^']*'|"[^"]*"|\s#.*""", "", line[0] or line[1]).split()
        words = words[: words.index("--")] if "--" in words else words
        name = next((word for word in words if word in group.list_commands(context)), None)
        if name is None:
            assert words[0] in ("COMMAND", "--help"), line
            continue
        command = group.get_command(context, name)
        assert command is not None
        inner = command.commands if isinstance(command, click.Group) else {}
        after = next(iter(words[words.index(name) + 1 :]), "")
        if inner and after.isalpha() and after.islower():
            assert after in inner, line
        meant = [command, group, *inner.values()]
        known = {flag for one in meant for o in one.get_params(context) for flag in o.opts}
        assert {word for word in words if word.startswith("--")} <= known, line


def test_the_readme_shows_a_real_run(tmp_path: Path):
    shown = next(b for b in blocks(ROOT / "README.md") if (b.title or "").startswith("callboard"))
    env = {**os.environ, "EXAMPLE_PAUSE": "0", "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm"}
    arguments = [
        "-m",
        "callboard",
        *(shown.title or "").split()[1:],
        "--db",
        str(tmp_path / "x.db"),
    ]
    child = pexpect.spawn(
        sys.executable, arguments, cwd=str(ROOT), env=env, encoding="utf-8", dimensions=(60, 96)
    )
    child.logfile_read = io.StringIO()
    for key in "ny":
        child.expect(r"\(y/N\)", timeout=30)
        child.send(key)
    child.expect(pexpect.EOF, timeout=30)
    child.close()
    assert child.exitstatus == 0
    # What was drawn and drawn over again; the lines of the page stand in it in their order.
    drawn = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", child.logfile_read.getvalue())
    pattern = ".*".join(
        as_pattern(tidy(line.strip()), {})[0].removesuffix(r"\n")
        for line in shown.text.splitlines()
    )
    assert re.search(pattern, drawn, re.DOTALL), drawn


def test_the_reference_has_every_table_and_column():
    database = sqlite3.connect(":memory:")
    folder = ROOT / "src" / "callboard" / "log" / "sqlite" / "migrations"
    for migration in sorted(folder.glob("*.sql")):
        database.executescript(migration.read_text(encoding="utf-8"))
    named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    tables = [name for (name,) in database.execute(named)]
    assert tables
    for table in tables:
        paragraph = re.search(
            rf"^\*\*`{table}`\*\*(.*?)\n\n",
            reference("database") + "\n\n",
            re.MULTILINE | re.DOTALL,
        )
        assert paragraph, f"{table} is missing"
        columns = [row[1] for row in database.execute(f"PRAGMA table_xinfo({table})")]
        assert set(columns) <= set(re.findall(r"`(\w+)`", paragraph[1])), table
    database.close()


def test_generated_references_are_current():
    file = DOCS / "generate.py"
    spec = importlib.util.spec_from_file_location("docs_generate", file)
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert reference("cli") == generate.cli_reference(), "run: .venv/bin/python docs/generate.py"
    for module, written in (("wire", generate.wire_types()), ("payloads", generate.event_types())):
        file = generate.REACT / f"{module}.ts"
        assert file.read_text(encoding="utf-8") == written, "run: .venv/bin/python docs/generate.py"
    assert reference("events") == generate.events_reference(reference("events")), (
        "run: .venv/bin/python docs/generate.py"
    )
