"""Every command of the engine, on a database and on a server: the same words, the same codes."""

import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.acceptance.cli_process import CallboardCommand, Done

TOKEN = "cb_a-token-for-tests"
EDIT = '{"op":"replace","path":"/city","value":"Oslo"}'


class Served(CallboardCommand):
    """Calls `callboard` on a real server, which runs the same workflows on a database there."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.env |= {"CALLBOARD_TOKEN": TOKEN}
        self.server = self.start("serve", "flows.py", "--port", "0", "--json", "--db", "there.db")
        assert self.server.stdout is not None
        line = self.server.stdout.readline()
        assert line, self.server.communicate()
        self.url: str = orjson.loads(line)["url"]
        self.env |= {"CALLBOARD_SERVER": self.url}

    def stop(self) -> int:
        self.server.send_signal(signal.SIGTERM)
        self.server.communicate(timeout=120)
        return self.server.returncode


@pytest.fixture
def local(tmp_path: Path) -> CallboardCommand:
    folder = tmp_path / "here"
    folder.mkdir()
    return CallboardCommand(folder)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    folder = tmp_path / "there"
    folder.mkdir()
    command = Served(folder)
    yield command
    if command.server.poll() is None:
        assert command.stop() == 0


@dataclass
class Place:
    """Where the steps are taken, with the ids that its output has named so far."""

    command: CallboardCommand
    ids: dict[str, str] = field(default_factory=dict[str, str])

    def take(self, step: str, code: int) -> Done:
        words = [word.format(**self.ids) for word in step.split()]
        return self.command.here(*words, code=code)

    def read(self, done: Done) -> str:
        """Its output without what differs from one run to the next; new ids are named."""
        text = re.sub(r"(--db t\.db|--server http://[0-9.:]+)", "PLACE", done.out + "|" + done.err)
        text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", text)
        text = re.sub(r"durationMs=\d+", "SPAN", text)
        text = re.sub(r"just now|\d+ (s|min) ago", "AGO", text)
        text = text.replace(str(self.command.folder), "FOLDER")
        text = re.sub(r"the planner prints\n", "", text)
        text = re.sub(r"\d\d:\d\d:\d\d(\.\d+)?", "TIME", text)
        text = re.sub(r"\b\d+(\.\d)? (ms|s)\b *", "SPAN", text)
        # A server records the name that it checked, and beside it the one that was given.
        text = re.sub(r"admin \(as \"(\w+)\"\)", r"\1", text)
        text = re.sub(r"  by \w+(  via \w+)?\n", "\n", text)
        return self._driven(self._named(text))

    def _driven(self, text: str) -> str:
        """Who drives differs, and so does what there is to do about it."""
        text = text.replace(" The server continues as soon as it is answered.", "")
        return re.sub(
            r"  Then resume \(or answer right there, in a terminal\)\n    callboard resume .*\n",
            "",
            text,
        )

    def _named(self, text: str) -> str:
        for id in re.findall(r"\b[0-9a-hjkmnp-tv-z]{12}\b", text):
            if id not in self.ids.values():
                self.ids[f"id{len(self.ids)}"] = id
        for name, id in self.ids.items():
            text = text.replace(id, name)
        return text


STEPS: list[tuple[str, int]] = [
    ("run flows.py:trip --input Rome", 3),
    ("sessions", 0),
    ("sessions --status failed", 0),
    ("inbox", 0),
    ("inbox --session {id0}", 0),
    ("why {id0}", 0),
    ("show {id0}", 0),
    ("resume {id0}", 3),
    ("answer {id1} perhaps", 2),
    ("answer {id1} yes --resume --by bob", 3),
    ("answer {id1} no", 2),
    ("why {id0}", 0),
    ("events {id0} --after 2 --limit 3", 0),
    ("state {id0}", 0),
    ("state {id0} --at 0", 0),
    ("state {id0} --at 999", 2),
    ("diff {id0} 0 5", 0),
    ("diff {id0} 5 5", 0),
    ("pause {id0} --reason lunch --by ann", 0),
    ("pause {id0}", 0),
    ("why {id0}", 0),
    ("resume {id0}", 3),
    ("answer {id0} 2 --resume", 0),
    ("why {id0}", 0),
    ("show {id0}", 0),
    ("resume {id0}", 2),
    ("answer {id0} yes", 2),
    ("events {id0} --follow --after 2 --limit 4", 0),
    (f"fork {{id0}} --phase book --edit {EDIT.replace('{', '{{').replace('}', '}}')}", 3),
    ("show {id3}", 0),
    ("cancel {id3} --reason enough", 0),
    ("cancel {id3}", 0),
    ("why {id3}", 0),
    ("show {id0}", 0),
    ("fork {id0} --phase nowhere", 2),
    ("fork {id0} --at 999", 2),
    ("retry {id0}", 2),
    ("run flows.py:trip --input Rome --auto-approve", 0),
    ("run flows.py:broken", 1),
    ("sessions --status failed", 0),
    ("show nobody", 2),
    ("why nobody", 2),
    ("events nobody", 2),
    ("state nobody", 2),
    ("pause nobody", 2),
    ("cancel nobody", 2),
    ("answer nobody yes", 2),
    ("resume nobody", 2),
    ("run nowhere.py:trip", 2),
    ("run flows.py:nowhere", 2),
    ("sessions --status odd", 2),
]


def test_every_command_says_the_same_on_a_server(local: CallboardCommand, served: Served):
    here, there = Place(local), Place(served)
    for step, code in STEPS:
        expected = here.read(here.take(step, code))
        assert there.read(there.take(step, code)) == expected, step


def scrubbed(value: Any) -> Any:
    """JSON without what differs from one run to the next."""
    if isinstance(value, list):
        return [scrubbed(one) for one in value]
    if not isinstance(value, dict):
        return type(value) if isinstance(value, float) else value
    varies = {"id", "causedBy", "sessionId", "timestamp", "createdAt", "updatedAt", "resolvedAt"}
    varies |= {"durationMs", "source", "via", "by", "answeredBy", "intentId", "parent", "forks"}
    varies |= {"enteredAt", "exitedAt", "waitedMs", "workedMs", "parentSessionId", "why", "text"}
    return {key: scrubbed(one) for key, one in value.items() if key not in varies}


def test_programs_get_the_same_json(local: CallboardCommand, served: Served):
    runs = [
        command.here("run", "flows.py:trip", "--input", "Rome", "--auto-approve", "--json")
        for command in (local, served)
    ]
    assert scrubbed(runs[0].json) == scrubbed(runs[1].json)
    sessions = [run.json[0]["sessionId"] for run in runs]
    for words in (
        ["sessions"],
        ["show", "ID"],
        ["events", "ID"],
        ["events", "ID", "-f"],
        ["state", "ID"],
        ["diff", "ID", "0", "5"],
        ["inbox"],
        ["pause", "ID"],
        ["cancel", "ID"],
        ["why", "ID"],
    ):
        done = [
            command.here(*(session if word == "ID" else word for word in words), "--json")
            for command, session in zip((local, served), sessions, strict=True)
        ]
        assert scrubbed(done[0].json) == scrubbed(done[1].json), words
        assert done[0].err == done[1].err == ""
    refused = [command.here("show", "nobody", "--json", code=2) for command in (local, served)]
    codes = [orjson.loads(one.err)["error"]["code"] for one in refused]
    assert codes == ["SESSION_NOT_FOUND"] * 2


def test_a_server_goes_on_by_itself_and_is_watched_from_where_it_stood(served: Served):
    asked = served("run", "trip", "--input", "Rome", code=3)
    session = asked.out.split("session ", 1)[1].split()[0]
    told = served("answer", session, "yes").out
    assert told.startswith("✓ answered: yes\n")
    assert f"{session} --server {served.url}" in told
    watched = served("resume", session, code=3).out
    assert "Which room?" in watched

    forked = served.here("fork", session, "--phase", "plan", "--no-run").out
    child = forked.split("Session ", 1)[1].split(",")[0]
    assert f"callboard resume {child} --server {served.url}" in forked
    assert "Go to Rome?" in served.here("resume", child, code=3).out


def test_a_failed_session_is_tried_again_on_the_server(served: Served):
    failed = served.run("broken", code=1)
    Path(served.env["MENDED"]).touch()
    again = served.here("retry", failed)
    assert f"forked from {failed}" in again.out
    assert "✓ completed" in again.out


def test_a_person_at_a_terminal_answers_a_server(served: Served):
    child = served.terminal("run", "trip", "--input", "Rome")
    child.expect("Go to Rome")
    child.expect(r"\(y/N\)")
    child.send("y")
    child.expect("Which room")
    child.send("\x1b[B\r")
    child.expect("✓ completed")
    child.expect("city: .*Rome")
    child.wait()
    assert child.exitstatus == 0
    (listed,) = served.here("sessions", "--json").json
    events = served.here("events", listed["sessionId"], "--json").json
    answers = [one["payload"]["value"] for one in events if one["name"] == "input:received"]
    assert answers == ["yes", "Double"]


def test_ctrl_c_stops_watching_and_nothing_else(served: Served):
    watching = served.start("run", "nap", "--json", NAP="60")
    assert watching.stdout is not None
    session = orjson.loads(watching.stdout.readline())["sessionId"]
    watching.send_signal(signal.SIGINT)
    _, said = watching.communicate(timeout=120)
    assert watching.returncode == 130
    assert f"Session {session} is still running" in said
    (standing,) = served.here("why", session, "--json").json
    assert standing["kind"] == "driven"
    assert "The server is driving it." in standing["text"]
    served.here("cancel", session)


def test_a_place_is_a_database_or_a_server(served: Served, local: CallboardCommand):
    both = "Give --db or --server, not both"
    assert both in served.here("sessions", "--db", "t.db", "--server", served.url, code=2).err
    assert both in served.here("--server", served.url, "sessions", "--db", "t.db", code=2).err
    assert both in served.here("--db", "t.db", "--server", served.url, "why", "x", code=2).err
    # What is typed outranks the environment, whichever of the two it names.
    session = served.run("trip", "--input", "Rome", code=3)
    assert session in served.here("sessions").out
    assert "no database" in served.here("sessions", "--db", "none.db", code=2).err
    local.env |= {"CALLBOARD_TOKEN": TOKEN}
    assert session in local.here("sessions", "--server", served.url).out
    assert session in local.here("--server", f"{served.url}/", "sessions").out
    wrong = local.here("sessions", "--server", "nonsense", code=2)
    assert "not a server address" in wrong.err
    unknown = served.here("run", "flight", code=2)
    assert f"{served.url} has no workflow 'flight' (it has: trip, both," in unknown.err
    file = served.here("resume", session, "--file", "flows.py", code=2)
    assert "Remove --file" in file.err


def test_a_session_beside_a_server_that_lacks_its_workflow_is_for_others_to_drive(served: Served):
    (served.folder / "other.py").write_text(
        """from callboard import Approval, Phase, Workflow
other = Workflow("other", state=dict, phases=[Phase("ask", human=Approval("Go?"), terminal=True)])
""",
        encoding="utf-8",
    )
    at = ("--db", "there.db")
    known = served.run("flows.py:trip", "--input", "Rome", *at, code=3)
    unknown = served.run("other.py", *at, code=3)

    assert "The server continues as soon as it is answered." in served.here("why", known, *at).out
    why = served.here("why", unknown, *at).out
    assert "The server" not in why
    assert "Then resume" in why
    (asked,) = served.here("inbox", "--session", unknown, "--json", *at).json
    assert "Resume the session: " in served.here("answer", asked["id"], "yes", *at).out
    assert served.here("resume", unknown, *at).code == 0


@pytest.mark.parametrize(
    "words", [["rebuild"], ["prune", "--older-than", "30d", "--yes"], ["backup"], ["doctor"]]
)
def test_what_needs_the_database_itself_says_so(local: CallboardCommand, words: list[str]):
    for typed in ([*words, "--server", "http://h"], ["--server", "http://h", *words]):
        refused = local.here(*typed, code=2)
        assert "error: " in refused.err
    assert "works on a database of this machine" in refused.err
    local.env |= {"CALLBOARD_SERVER": "http://127.0.0.1:9"}
    local.here("run", "flows.py:trip", "--input", "Rome", "--db", "t.db", code=3)
    local.here(*words)  # What the environment says of a server does not concern it.


def test_nobody_there_and_nobody_let_in(local: CallboardCommand, served: Served):
    assert served.stop() == 0
    gone = served.here("sessions", code=1)
    assert gone.err == (
        f"error: No server is running at {served.url}. Start one: callboard serve FILE\n"
    )


def test_a_wrong_token_is_told(served: Served):
    served.env |= {"CALLBOARD_TOKEN": "cb_wrong"}
    assert "does not accept this token" in served.here("sessions", code=2).err
    del served.env["CALLBOARD_TOKEN"]
    assert "requires a token" in served.here("sessions", code=2).err


def test_the_token_beside_the_database_is_found_without_being_told(tmp_path: Path):
    command = CallboardCommand(tmp_path)
    process = command.start("serve", "flows.py", "--port", "0", "--json")
    assert process.stdout is not None
    url = orjson.loads(process.stdout.readline())["url"]
    try:
        assert "No sessions yet" in command.here("sessions", "--server", url).out
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.communicate(timeout=120)
    assert process.returncode == 0
