"""Conversations in opencode's database, as the real client writes it."""

import json
import os
import sqlite3
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.unit.vendors.recordings import PAYLOADS

from callboard.errors import TranscriptUnreadable, ValidationError
from callboard.vendors.conversation import (
    LONGEST_ITEM_TEXT,
    ConversationItem,
    ConversationPage,
    ConversationPlace,
    ConversationReader,
    FileEdit,
    Window,
)
from callboard.vendors.conversations import conversation_reader

MIB = 1024 * 1024
SESSION = "ses_e0e614891ffei3v12C04HLs78O"
NESTED = "ses_e0e61203bffeY3czRXKnfO4KQg"


class Database:
    """What the client would write."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection

    def run(self, query: str, *values: Any, commits: bool = True) -> None:
        self._connection.execute(query, values)
        if commits:
            self._connection.commit()

    def add(self, query: str, rows: list[Any]) -> None:
        self._connection.executemany(query, rows)
        self._connection.commit()

    def message(self, id: str, at: int, **data: Any) -> None:
        values = id, "s", at, at, json.dumps(data)
        self.run("INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)", *values)

    def part(self, id: str, message: str, at: int, **data: Any) -> None:
        values = id, message, "s", at, at, json.dumps(data)
        self.run("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)", *values)

    def asked(self, number: int) -> None:
        self.message(f"m{number:05}", number, role="user")
        self.part(f"p{number:05}", f"m{number:05}", number, type="text", text=f"text {number}")

    def reader(self, session: str = "s", subagent: str | None = None) -> ConversationReader:
        place = ConversationPlace(session, str(self.path), "/home/me/project", subagent)
        return conversation_reader("opencode", place)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        sql = (PAYLOADS / "opencode" / "conversation.sql").read_text(encoding="utf-8")
        connection.executescript(sql)
        connection.execute("CREATE TEMP TABLE one AS SELECT * FROM session LIMIT 1")
        connection.execute("UPDATE one SET id = 's', parent_id = NULL")
        connection.execute("INSERT INTO session SELECT * FROM one")
        connection.commit()
        yield Database(path, connection)


def shown(page: ConversationPage) -> list[str]:
    return [item.text for item in page.items]


def said(items: list[ConversationItem]) -> list[tuple[str, str, str]]:
    return [(one.kind, one.author, one.text) for one in items if one.tool is None]


def test_a_recorded_conversation(database: Database):
    items = database.reader(SESSION).page(Window()).items
    assert said(items) == [
        ("prompt", "person", "play:go"),
        ("reply", "model", "I shall."),
        ("reply", "model", "Done."),
    ]
    runs = [item.tool for item in items if item.tool is not None]
    assert [(run.name, run.status) for run in runs] == [
        ("bash", "done"),
        ("bash", "failed"),
        ("read", "done"),
        ("edit", "done"),
        ("write", "done"),
        ("read", "done"),
        ("task", "done"),
    ]
    assert (runs[0].command, runs[0].result) == ("echo hello", "hello\n")
    assert [edit for run in runs for edit in run.edits] == [
        FileEdit("/home/me/project/a.txt", "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"),
        FileEdit("/home/me/project/b.txt", "@@ -0,0 +1,2 @@\n+x\n+y\n"),
    ]
    assert [image.media_type for item in items for image in item.images] == ["image/png"]
    usages = [item.usage for item in items if item.usage is not None]
    assert len({usage.call for usage in usages}) == len(usages) == 5
    assert {usage.cost for usage in usages} == {0.000105}


def test_a_subagent(database: Database):
    [task] = [
        item.tool
        for item in database.reader(SESSION).page(Window()).items
        if item.tool is not None and item.tool.name == "task"
    ]
    assert task.subagent == NESTED
    nested = database.reader(SESSION, NESTED).page(Window()).items
    assert said(nested) == [("prompt", "person", "play:sub"), ("reply", "model", "Sub done.")]


def test_another_session_is_no_subagent(database: Database):
    for session, subagent in ((NESTED, SESSION), ("s", NESTED), (SESSION, "nosuch")):
        with pytest.raises(TranscriptUnreadable, match="no session"):
            database.reader(session, subagent).page(Window())


def test_pages_in_both_directions(database: Database):
    for number in range(10):
        database.asked(number)
    reader = database.reader()
    end = reader.page(Window(most=3))
    assert shown(end) == ["text 7", "text 8", "text 9"]
    middle = reader.page(Window(before=end.before, most=4))
    assert shown(middle) == ["text 3", "text 4", "text 5", "text 6"]
    first = reader.page(Window(before=middle.before, most=100))
    assert (shown(first), first.before) == (["text 0", "text 1", "text 2"], None)
    assert shown(reader.page(Window(after=middle.after))) == ["text 7", "text 8", "text 9"]
    assert shown(reader.page(Window(after=end.after))) == []


def test_what_changes_is_read_again(database: Database):
    database.asked(1)
    database.message("m2", 2, role="assistant")
    state = {"status": "running", "input": {"command": "ls"}}
    database.part("p2", "m2", 3, type="tool", tool="bash", state=state)
    page = database.reader().page(Window())
    assert page.items[-1].tool is not None
    assert page.items[-1].tool.status == "running"
    done = {**state, "status": "completed", "output": "a"}
    database.part("p2", "m2", 9, type="tool", tool="bash", state=done)
    page = database.reader().page(Window(after=page.after))
    [item] = page.items
    assert item.tool is not None
    assert (item.tool.status, item.tool.result) == ("done", "a")
    assert database.reader().page(Window(after=page.after)).items == []


def test_a_change_in_the_same_millisecond_is_seen(database: Database):
    database.asked(1)
    page = database.reader().page(Window())
    database.part("p00001", "m00001", 1, type="text", text="longer than before")
    assert shown(database.reader().page(Window(after=page.after))) == ["longer than before"]


def test_a_message_that_comes_into_an_empty_session(database: Database):
    page = database.reader().page(Window())
    assert (page.items, page.before) == ([], None)
    database.asked(1)
    assert shown(database.reader().page(Window(after=page.after))) == ["text 1"]


def test_a_message_that_was_removed(database: Database):
    for number in range(3):
        database.asked(number)
    page = database.reader().page(Window())
    database.run("DELETE FROM message WHERE id = 'm00002'")
    again = database.reader().page(Window(after=page.after))
    assert (shown(again), again.restarted) == (["text 0", "text 1"], True)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ("The user rejected permission to use this specific tool call.", "denied"),
        ("The user has specified a rule which prevents you from using it", "denied"),
        ("Tool execution aborted", "failed"),
    ],
)
def test_calls_that_did_not_work(database: Database, error: str, status: str):
    database.message("m1", 1, role="assistant")
    state = {"status": "error", "input": {}, "error": error}
    database.part("p1", "m1", 1, type="tool", tool="bash", state=state)
    [item] = database.reader().page(Window()).items
    assert item.tool is not None
    assert (item.tool.status, item.tool.result) == (status, error)


def test_interruptions_compactions_and_what_the_client_adds(database: Database):
    aborted = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
    database.message("m1", 1, role="assistant", error=aborted)
    database.message("m2", 2, role="user")
    database.part("p2", "m2", 2, type="compaction", auto=True)
    database.message("m3", 3, role="assistant", summary=True)
    database.part("p3", "m3", 3, type="text", text="The summary.")
    database.message("m4", 4, role="user")
    database.part("p4", "m4", 4, type="text", text="Continue.", synthetic=True)
    assert said(database.reader().page(Window()).items) == [
        ("notice", "client", "Interrupted"),
        ("compaction", "client", "Context compacted"),
        ("compaction", "client", "The summary."),
    ]


def test_a_long_value_is_cut_and_can_be_read_whole(database: Database):
    text = "é" * 3_000_000
    database.message("m1", 1, role="user")
    database.part("p1", "m1", 1, type="text", text=text)
    page = database.reader().page(Window())
    [item] = page.items
    assert (item.cut, len(item.text)) == (True, LONGEST_ITEM_TEXT)
    full = database.reader().full("p1", page.after)
    assert full is not None
    assert full.text == text
    assert database.reader().full("nosuch", page.after) is None


def test_search(database: Database):
    for number in range(10):
        database.asked(number)
    found = database.reader().search("TEXT", Window(most=4))
    assert [one.excerpt for one in found.found] == ["text 9", "text 8", "text 7", "text 6"]
    more = database.reader().search("text", Window(before=found.before, most=100))
    assert len(more.found) == 6
    assert more.before is None
    [one] = database.reader().search("text 4", Window()).found
    page = database.reader().page(Window(before=one.at_cursor, most=2))
    assert shown(page) == ["text 3", "text 4"]


@pytest.mark.parametrize("cursor", ["", "x", "1:2:3", "a:b:c:d"])
def test_a_cursor_that_is_none(database: Database, cursor: str):
    with pytest.raises(ValidationError, match="cursor"):
        database.reader().page(Window(before=cursor))


@pytest.mark.parametrize("cursor", ["5:5:x:nosuch", f"{1 << 70}:0::x", f"-{1 << 70}:0::x"])
def test_a_cursor_from_elsewhere(database: Database, cursor: str):
    database.asked(1)
    page = database.reader().page(Window(after=cursor))
    assert (shown(page), page.restarted) == (["text 1"], True)


@pytest.mark.parametrize("data", [None, "", "[]", "no JSON", b"\xff", 5, '{"type": 5}', "\x00"])
def test_values_of_a_newer_version(database: Database, data: Any):
    database.asked(1)
    database.message("m2", 2, role="user")
    database.run("CREATE TABLE of_newer AS SELECT * FROM part")
    database.run("DROP TABLE part")
    database.run("ALTER TABLE of_newer RENAME TO part")
    database.run("INSERT INTO part VALUES ('p2', 'm2', 's', 'x', NULL, ?)", data)
    assert shown(database.reader().page(Window())) == ["text 1"]


def test_a_database_of_another_version(database: Database):
    database.run("DROP TABLE part")
    database.message("m1", 1, role="user")
    with pytest.raises(TranscriptUnreadable, match="another form"):
        database.reader().page(Window())


@pytest.mark.parametrize(
    "content", [b"", b"no database" * 100, b"SQLite format 3\x00" + b"\xff" * 4096]
)
def test_files_that_are_no_database(tmp_path: Path, content: bytes):
    path = tmp_path / "opencode.db"
    path.write_bytes(content)
    with pytest.raises(TranscriptUnreadable):
        conversation_reader("opencode", ConversationPlace("s", str(path), "/")).page(Window())


def test_a_link_and_a_missing_file_are_refused(database: Database, tmp_path: Path):
    link = tmp_path / "link.db"
    link.symlink_to(database.path)
    for path in (link, tmp_path / "nosuch.db"):
        with pytest.raises(TranscriptUnreadable):
            conversation_reader("opencode", ConversationPlace("s", str(path), "/")).page(Window())


def test_reading_creates_and_changes_nothing(tmp_path: Path):
    path = tmp_path / "o p#e?n%.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        sql = (PAYLOADS / "opencode" / "conversation.sql").read_text(encoding="utf-8")
        connection.executescript(sql)
    before = path.read_bytes()
    reader = conversation_reader("opencode", ConversationPlace(SESSION, str(path), "/"))
    assert reader.page(Window()).items
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before


def test_where_the_client_keeps_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    reader = conversation_reader("opencode", ConversationPlace("s", None, "/"))
    path = str(tmp_path / "opencode" / "opencode.db")
    assert reader.watched() == [path, f"{path}-wal"]


def many(database: Database, messages: int, parts: int, **data: Any) -> None:
    """So many messages, each with so many parts."""
    text = json.dumps(data)
    database.add(
        "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
        [(f"m{n:06}", "s", n, n, '{"role": "assistant"}') for n in range(messages)],
    )
    database.add(
        "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
        [
            (f"p{n:06}-{part:04}", f"m{n:06}", "s", n, n, text)
            for n in range(messages)
            for part in range(parts)
        ],
    )


def test_messages_with_nothing_to_show_are_read_in_parts(database: Database):
    many(database, 500, 100, type="step-start")
    page = database.reader().page(Window())
    assert page.items == []
    assert page.before is not None
    assert database.reader().page(Window(before=page.before)).before not in (None, page.before)
    assert database.reader().search("text", Window()).before is not None


@pytest.mark.parametrize("kind", ["text", "values"])
def test_a_message_of_very_many_parts_costs_little(database: Database, kind: str):
    tree = [[[[] for _ in range(25)] for _ in range(25)] for _ in range(25)]
    state = {"status": "completed", "input": tree}
    long = {"type": "text", "text": "x" * 500_000}
    many(database, 1, 60, **long if kind == "text" else {"type": "tool", "state": state})
    reader = database.reader()
    tracemalloc.start()
    page = reader.page(Window())
    reader.search("nowhere", Window())
    reader.full(page.items[-1].id, page.after)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 64 * MIB
    assert len(page.items) == 60
    assert all(item.cut for item in page.items)


def test_all_of_a_part_can_be_read_after_many_others(database: Database):
    many(database, 1, 100, type="text", text="x" * 200_000)
    page = database.reader().page(Window())
    last = database.reader().full(page.items[-1].id, page.after)
    assert last is not None
    assert (len(last.text), last.cut) == (200_000, False)


def test_too_many_changes_start_again(database: Database):
    many(database, 50, 1, type="text", text="x")
    before = database.reader().page(Window())
    long = json.dumps({"type": "text", "text": "x" * 1_000_000})
    database.run("UPDATE part SET data = ?, time_updated = 1000", long)
    page = database.reader().page(Window(after=before.after))
    assert page.restarted
    assert not database.reader().page(Window(after=page.after)).restarted


def test_a_database_that_never_ends(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("callboard.vendors.opencode.database._LONGEST", 0.2)
    database.run("DROP TABLE message")
    endless = "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT k FROM n"
    database.run(
        "CREATE VIEW message AS SELECT k AS id, 's' AS session_id, k AS time_created, k AS "
        f"time_updated, '' AS data FROM ({endless}) WHERE k < 0"
    )
    with pytest.raises(TranscriptUnreadable, match="can't be read"):
        database.reader().page(Window())


def test_a_locked_database(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("callboard.vendors.opencode.database._PATIENCE", 0.1)
    database.asked(1)
    database.run("PRAGMA journal_mode=DELETE")
    database.run("BEGIN EXCLUSIVE", commits=False)
    # Without a log beside it, it is read as it is on the disk, without any lock.
    assert shown(database.reader().page(Window())) == ["text 1"]


def test_a_database_that_is_damaged(database: Database):
    for number in range(200):
        database.asked(number)
    database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(database.path.read_bytes())
    for start in range(4096, len(content), 8192):
        content[start : start + 4096] = os.urandom(4096)
    database.path.write_bytes(content)
    with pytest.raises(TranscriptUnreadable, match="malformed"):
        database.reader().page(Window())
