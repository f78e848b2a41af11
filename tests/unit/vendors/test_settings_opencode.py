"""opencode's plugin in a real JavaScript runtime: it tells everything, and is never noticed."""

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from callboard.courier.delivery import MOST_BYTES
from callboard.vendors.opencode.payloads import translate
from callboard.vendors.opencode.settings import OpencodeSettings
from callboard.vendors.settings.installing import InstallPlan, install

NODE = shutil.which("node")

DRIVER = """
import { readdir } from "node:fs/promises"
const { CallboardPlugin } = await import(process.argv[2])
const replies = []
const client = { _client: { post: async (request) => replies.push(request) } }
const plugin = await CallboardPlugin({ client, directory: process.cwd() })
const calls = JSON.parse(process.argv[3])
for (const [name, ...given] of calls) {
  if (name === "replies") {
    while (replies.length < given[0]) await new Promise((done) => setTimeout(done, 5))
    continue
  }
  const answer = await plugin[name](...given)
  if (answer !== undefined) throw new Error("a hook must answer nothing")
}
console.log(JSON.stringify(replies))
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = tmp_path / "it's a folder" / "x.db.hooks"
    (folder / "spool").mkdir(parents=True)
    return folder


def played(tmp_path: Path, folder: Path, *calls: list[Any], answers: bool = True) -> list[Any]:
    """Install the plugin, and call it as opencode would; gives what it sent to opencode."""
    assert NODE is not None, "the tests need Node, as CONTRIBUTING.md says"
    path = tmp_path / "plugin" / "callboard.js"
    install(OpencodeSettings(), path, InstallPlan(folder, folder.parent / "x.db", answers=answers))
    module = path.with_suffix(".mjs")
    shutil.copy(path, module)
    (tmp_path / "driver.mjs").write_text(DRIVER, encoding="utf-8")
    (tmp_path / ".git").mkdir(exist_ok=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/topic/x\n", encoding="utf-8")
    done = subprocess.run(
        [NODE, str(tmp_path / "driver.mjs"), module.as_uri(), json.dumps(calls)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def told(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / "spool").glob("*.json"), key=lambda one: one.stat().st_mtime_ns)
    assert all(one.stat().st_mode & 0o777 == 0o600 for one in files)
    assert all(one.name.startswith("opencode.") for one in files)
    return [json.loads(one.read_bytes()) for one in files]


def event(type: str, **properties: Any) -> list[Any]:
    return ["event", {"event": {"type": type, "properties": {"sessionID": "ses_1", **properties}}}]


def test_events_reach_the_spool_in_order(tmp_path, folder):
    call = {"tool": "bash", "sessionID": "ses_1", "callID": "c"}
    args = {"command": "ls"}
    played(
        tmp_path,
        folder,
        event("session.created", info={"id": "ses_1", "title": "New session - 1"}),
        ["chat.message", {"sessionID": "ses_1"}, {"parts": [{"type": "text", "text": "hello"}]}],
        event("session.status", status={"type": "busy"}),
        event("session.status", status={"type": "busy"}),
        event("message.part.updated", part={}),
        event("session.updated", info={"id": "ses_1", "title": "New session - 1"}),
        event("session.updated", info={"id": "ses_1", "title": "Greet the world"}),
        event("session.updated", info={"id": "ses_1", "title": "Greet the world"}),
        ["tool.execute.before", call, {"args": args}],
        ["tool.execute.after", {**call, "args": args}, {"output": "x"}],
        event("session.idle"),
    )
    payloads = told(folder)
    assert [one["type"] for one in payloads] == [
        "session.created",
        "chat.message",
        "session.status",
        "session.updated",
        "tool.execute.before",
        "tool.execute.after",
        "session.idle",
    ]
    assert payloads[1]["properties"]["prompt"] == "hello"
    assert payloads[4]["properties"] == {**call, "args": args}
    named = translate(payloads[3])
    assert named is not None
    assert named.name == "Greet the world"
    for one in payloads:
        assert one["directory"] == str(tmp_path)
        assert one["callboard"]["pid"] > 0
        assert one["callboard"]["git_branch"] == "topic/x"
        report = translate(one)
        assert report is not None
        assert (report.session_id, report.project_path) == ("ses_1", str(tmp_path))


def test_what_only_the_plugin_can_know_is_told(tmp_path, folder):
    child = {"id": "ses_2", "parentID": "ses_1", "title": "Child session - 1"}
    aborted = {"name": "MessageAbortedError", "data": {}}
    failed = {"name": "APIError", "data": {"message": "overloaded"}}
    played(
        tmp_path,
        folder,
        event("session.status", status={"type": "busy"}),
        event("session.created", sessionID="ses_2", info=child),
        event("session.idle", sessionID="ses_2"),
        event("session.error", error=aborted),
        event("session.idle"),
        event("session.status", status={"type": "busy"}),
        event("session.error", error=failed),
        event("session.status", status={"type": "idle"}),
        event("session.idle"),
        event("session.status", status={"type": "busy"}),
        event("session.idle"),
    )
    payloads = told(folder)
    assert [one["type"] for one in payloads][:3] == [
        "session.resumed",
        "session.status",
        "session.created",
    ]
    assert payloads[3]["parent"] == "ses_1"
    ends = [report.signals[0].name for one in payloads if (report := translate(one)) is not None]
    assert ends.count("stop") == 2
    idle = [one for one in payloads if "parent" not in one and "idle" in json.dumps(one)]
    assert [(one.get("interrupted"), one.get("error")) for one in idle] == [
        (True, None),
        (None, "APIError: overloaded"),
        (None, None),
    ]


def test_what_makes_no_sense_is_not_noticed(tmp_path, folder):
    played(
        tmp_path,
        folder,
        ["event", {"event": None}],
        ["event", {}],
        ["event", None],
        event("session.idle", sessionID=7),
        ["chat.message", None, None],
        ["tool.execute.before", {"sessionID": "ses_1"}, None],
    )
    assert [one["type"] for one in told(folder)] == ["session.resumed", "tool.execute.before"]


def test_a_spool_that_is_full_or_cannot_be_made_is_not_noticed(tmp_path, folder):
    (folder / "spool" / ".full").touch()
    played(tmp_path, folder, event("session.idle"))
    assert told(folder) == []
    shutil.rmtree(folder / "spool")
    (folder / "spool").write_text("a file", encoding="utf-8")
    played(tmp_path, folder, event("session.idle"))
    assert (folder / "spool").read_text(encoding="utf-8") == "a file"


@pytest.mark.parametrize(("size", "is_full"), [(MOST_BYTES // 2, False), (MOST_BYTES, True)])
def test_a_spool_that_grows_too_large_is_marked(tmp_path, folder, size, is_full):
    with (folder / "spool" / "opencode.1.1.0.json").open("wb") as large:
        large.truncate(size)
    played(tmp_path, folder, event("session.created"), event("session.idle"))
    assert (folder / "spool" / ".full").exists() == is_full
    # What came before the mark is kept, and nothing is after it.
    assert len(list((folder / "spool").glob("*.json"))) == (2 if is_full else 3)


# ---------------------------------------------------------------------- answers


class _Board(BaseHTTPRequestHandler):
    asked: list[dict[str, Any]]
    refuse: int

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append({"body": body, "token": self.headers["authorization"]})
        if len(self.asked) <= self.refuse:
            self.send_response(503)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        id = body["properties"]["id"]
        says = {"reject": True} if id == "que_declined" else {"answers": [["Red"]]}
        decision = (
            {"requestID": id, **says}
            if body["type"] == "question.asked"
            else {"requestID": id, "reply": "once"}
        )
        said = json.dumps(decision).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture
def board(folder) -> Iterator[type[_Board]]:
    kind = type("Board", (_Board,), {"asked": [], "refuse": 0})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        (folder / "connection").write_text(f"127.0.0.1:{server.server_port}\ncb_t\n", "utf-8")
        yield kind
        server.shutdown()
        thread.join()


def test_the_board_answers_permissions_and_questions(tmp_path, folder, board):
    sent = played(
        tmp_path,
        folder,
        event("permission.asked", id="per_1", permission="bash", patterns=["ls"]),
        ["replies", 1],
        event("question.asked", id="que_1", questions=[]),
        ["replies", 2],
        event("question.asked", id="que_declined", questions=[]),
        ["replies", 3],
    )
    assert [(one["url"], one["path"], one["body"]) for one in sent] == [
        ("/permission/{requestID}/reply", {"requestID": "per_1"}, {"reply": "once"}),
        ("/question/{requestID}/reply", {"requestID": "que_1"}, {"answers": [["Red"]]}),
        ("/question/{requestID}/reject", {"requestID": "que_declined"}, {}),
    ]
    assert [one["token"] for one in board.asked] == ["Bearer cb_t"] * 3
    holds = [one["body"]["callboard"]["hold"] for one in board.asked]
    assert len(set(holds)) == 3
    # What is asked goes to the server alone, or it would be heard twice.
    assert [one["type"] for one in told(folder)] == ["session.resumed"]


def test_a_question_outlives_a_server_that_is_away(tmp_path, folder, board):
    board.refuse = 2
    sent = played(tmp_path, folder, event("permission.asked", id="per_1"), ["replies", 1])
    assert len(sent) == 1
    assert len({one["body"]["callboard"]["hold"] for one in board.asked}) == 1
    assert len(board.asked) == 3
    assert [one["type"] for one in told(folder)] == ["session.resumed"]


def test_where_no_server_ever_was_the_spool_is_told(tmp_path, folder):
    played(tmp_path, folder, event("permission.asked", id="per_1"))
    assert [one["type"] for one in told(folder)] == ["session.resumed", "permission.asked"]


@pytest.mark.long
def test_while_no_server_is_found_the_spool_is_told_once(tmp_path, folder, board):
    board.refuse = 7  # For more than three seconds.
    sent = played(tmp_path, folder, event("permission.asked", id="per_1"), ["replies", 1])
    assert len(sent) == 1
    assert [one["type"] for one in told(folder)] == ["session.resumed", "permission.asked"]
    # The same, with its hold: the board recognizes the request.
    asked = board.asked[-1]["body"]
    assert asked["callboard"]["hold"]
    assert asked == told(folder)[1]


@pytest.mark.parametrize("host", ["localhost", "[::ffff:127.0.0.1]"])
def test_every_address_that_servers_write_is_understood(tmp_path, folder, board, host):
    path = folder / "connection"
    path.write_text(path.read_text("utf-8").replace("127.0.0.1", host), "utf-8")
    played(tmp_path, folder, event("permission.asked", id="per_1"), ["replies", 1])
    assert len(board.asked) == 1


def test_without_answers_nothing_is_asked(tmp_path, folder, board):
    played(tmp_path, folder, event("permission.asked", id="per_1"), answers=False)
    assert board.asked == []
    assert [one["type"] for one in told(folder)] == ["session.resumed", "permission.asked"]
