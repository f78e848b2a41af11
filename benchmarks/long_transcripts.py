"""Long transcripts for benchmarks: what the real clients wrote, again and again, with new ids.

`tests/payloads` has a session of each client, recorded from the real program.
"""

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from common import ROOT

RECORDED = ROOT / "tests" / "payloads"
PROJECT = "/home/sam/shop"
LINES = ("claude", "codex", "gemini")
"""Clients with a file for each session. opencode has a database."""
SESSIONS = {
    "claude": "50c7c792-bc48-42da-a420-be7aa21d36e4",
    "codex": "019f0000-0000-7000-8000-000000000001",
    "gemini": "0b0c6a5e-1111-4222-8333-444455556666",
    "opencode": "ses_e0e614891ffei3v12C04HLs78O",
}
_IDS = re.compile(
    r'"(?:id|uuid|call_id|tool_use_id|toolUseID|item_id|turn_id|parentUuid)":\s*"([^"]{6,})"'
)


@contextmanager
def homes(folder: Path) -> Iterator[dict[str, Path]]:
    """Folders of the clients' own, for this process and the servers that it starts.

    Gives each client's transcript; nothing is there yet.
    """
    given = {
        "HOME": folder,
        "CLAUDE_CONFIG_DIR": folder / "claude",
        "CODEX_HOME": folder / "codex",
        "XDG_DATA_HOME": folder / "data",
    }
    before = {name: os.environ.get(name) for name in given}
    os.environ.update({name: str(value) for name, value in given.items()})
    day = folder / "codex/sessions/2026/11/19"
    chats = folder / ".gemini/tmp/shop/chats"
    found = {
        "claude": folder / f"claude/projects/-home-sam-shop/{SESSIONS['claude']}.jsonl",
        "codex": day / f"rollout-2026-11-19T09-00-00-{SESSIONS['codex']}.jsonl",
        "gemini": chats / f"session-2026-11-19T09-00-{SESSIONS['gemini'][:8]}.jsonl",
        "opencode": folder / "data/opencode/opencode.db",
    }
    for path in found.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield found
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def fill(agent: str, path: Path, items: int) -> int:
    """Write a conversation with so many messages; returns its bytes."""
    if agent == "opencode":
        _fill_database(path, items)
    else:
        times = -(-items // _items_in(agent))
        with path.open("w", encoding="utf-8") as file:
            file.writelines(_block(agent, number) for number in range(times))
    return path.stat().st_size


def fill_to(path: Path, size: int) -> None:
    """Write a transcript of Claude Code of about so many bytes."""
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < size:
            file.writelines(_block("claude", number + more) for more in range(100))
            number += 100


def say(path: Path, text: str, number: int) -> None:
    """Add a reply to a transcript of Claude Code, as the client does: in one write."""
    content = [{"type": "text", "text": text}]
    message = {"id": f"msg_{number}", "role": "assistant", "model": "m", "content": content}
    record: dict[str, Any] = {"type": "assistant", "uuid": f"said-{number}", "message": message}
    record |= {"sessionId": SESSIONS["claude"], "timestamp": "2026-11-19T09:00:00.000Z"}
    line = json.dumps(record) + "\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(line)


def _block(agent: str, number: int) -> str:
    """The recorded session, with ids that no other block has."""
    text = (RECORDED / agent / "conversation.jsonl").read_text(encoding="utf-8")
    ids = sorted({one for one in _IDS.findall(text) if one != SESSIONS[agent]}, key=len)
    for one in reversed(ids):
        text = text.replace(f'"{one}"', f'"{one}-{number}"')
    return text


def _items_in(agent: str) -> int:
    """How many messages the recorded session shows."""
    from callboard.vendors.conversation import ConversationPlace, Window
    from callboard.vendors.conversations import conversation_reader

    path = RECORDED / agent / "conversation.jsonl"
    reader = conversation_reader(agent, ConversationPlace("s", str(path), PROJECT))
    return sum(item.kind != "usage" for item in reader.page(Window(most=200)).items)


def _fill_database(path: Path, items: int) -> None:
    session = SESSIONS["opencode"]
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.executescript((RECORDED / "opencode/conversation.sql").read_text("utf-8"))
        [messages] = database.execute(
            "SELECT count(*) FROM part WHERE session_id = ? AND json_extract(data, '$.type')"
            " IN ('text', 'reasoning', 'tool')",
            [session],
        ).fetchone()
        for table, key in (("message", ""), ("part", "message_id")):
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            values = [_moved(column, key) for column in columns]
            database.execute(
                "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < ?) "
                f"INSERT INTO {table} SELECT {', '.join(values)} FROM {table}, n "
                "WHERE session_id = ?",
                [-(-items // messages), session],
            )
        database.commit()


def _moved(column: str, key: str) -> str:
    if column in ("id", key):
        return f"{column} || '-' || printf('%06d', k)"
    return f"{column} + k * 3600000" if column.startswith("time_") else column
