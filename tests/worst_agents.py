"""Agents on a board whose transcripts and repositories are as bad as they can be."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.repositories import new_repository
from tests.transcripts import place_of

from callboard.worktree.snapshots import SnapshotStore, TurnStart

PROJECT = "/home/ann/shop"
MB = 1_048_576
HUGE = 500 * MB


@dataclass(frozen=True)
class WorstAgents:
    """Sessions with their folders, by what is bad about them, and what a server of them needs."""

    sessions: Mapping[str, tuple[str, str]]
    env: Mapping[str, str]

    async def register(self, http: httpx.AsyncClient) -> dict[str, str]:
        """Put them on a server's board; returns their plates."""
        plates = dict[str, str]()
        for name, (session, folder) in self.sessions.items():
            told = {"agent": "claude", "session_id": session, "project_path": folder}
            made = (await http.post("/plates/register", json=told)).raise_for_status()
            plates[name] = made.json()["plateId"]
        return plates


def _call(number: int, given: object) -> str:
    block = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": given}
    message = {"id": f"m{number}", "content": [block]}
    record = {"type": "assistant", "uuid": f"u{number}", "message": message}
    return json.dumps(record, ensure_ascii=False) + "\n"


def _tree(depth: int, width: int) -> list[Any]:
    return [_tree(depth - 1, width) for _ in range(width)] if depth else []


def _lines() -> Mapping[str, Sequence[str]]:
    """What the transcripts contain."""
    patch = [{"oldStart": 1, "newStart": 1, "lines": ["+\N{GRINNING FACE}"] * 100}] * 100
    result = {"type": "tool_result", "tool_use_id": "c", "content": "\\" * MB}
    edited: dict[str, Any] = {"type": "user", "uuid": "e", "message": {"content": [result]}}
    edited["toolUseResult"] = {"filePath": "a", "structuredPatch": patch}
    return {
        "escapes": [_call(n, {"command": '\\"' * 10_000}) for n in range(300)],
        "wide": [_call(n, {"command": "\N{GRINNING FACE}" * 20_000}) for n in range(300)],
        "values": [_call(n, _tree(3, 25)) for n in range(100)],
        "members": [_call(n, {f"k{i}": {"a": 1} for i in range(20_000)}) for n in range(10)],
        "edits": [json.dumps(edited) + "\n"] * 20,
        "a long line": [_call(1, {"command": "x\\" * (25 * MB)}), _call(2, 1)],
        "a long line of values": ['{"type":"user","message":{"content":[' + "[]," * (4 * MB)],
        "short lines": ["\n" * MB, "{}\n" * MB],
        "garbage": ['{"type": "assistant", ' + "[" * 100_000 + "\n"] * 100,
    }


def worst_agents(folder: Path, *, changed: int) -> WorstAgents:
    """Make them. changed: how many files one of them has changed."""
    home, data = folder / "claude", folder / "data"
    sessions = {"changes": ("worst-changes", _changed(folder, data, changed))}
    for name, lines in _lines().items():
        file = place_of(home, PROJECT, f"worst-{len(sessions)}")
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8") as to:
            to.writelines(lines)
        sessions[name] = (file.stem, PROJECT)
    huge = place_of(home, PROJECT, "worst-huge")
    with huge.open("wb") as to:
        to.truncate(HUGE)  # A hole: one long line of nothing.
        to.seek(0, 2)
        to.write(("\n" + _call(1, "x") * 10_000).encode())
    sessions["huge"] = ("worst-huge", PROJECT)
    return WorstAgents(sessions, {"CLAUDE_CONFIG_DIR": str(home), "XDG_DATA_HOME": str(data)})


def _changed(folder: Path, data: Path, count: int) -> str:
    """A repository of a session that has changed very many files since its start."""
    repository = new_repository(folder / "changed")
    files = [f"d{n // 1000}/{'very-' * 20}long-\N{GRINNING FACE}{n}" for n in range(count)]
    for file in files:
        repository.write(file, "1\n")
    repository.write("large", "x\\\n" * (MB // 4))
    repository.commit()
    store = SnapshotStore(data / "callboard" / "worktrees")
    store.folder.parent.mkdir(parents=True)
    store.take(TurnStart("worst-changes", str(repository.root), 1000, "session"), 1000)
    for file in files:
        repository.write(file, "2\n")
    repository.write("large", 'y"\n' * (MB // 4))
    return str(repository.root)
