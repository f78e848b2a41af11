"""Transcripts as Claude Code writes them, for whatever test wants a conversation."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SESSION = "0b0c6a5e-1111-4222-8333-444455556666"
_PATCH = {
    "filePath": "app.py",
    "oldString": "a = 1",
    "newString": "a = 2",
    "structuredPatch": [
        {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2,
         "lines": ["-a = 1", "+a = 2", " b = 3"]}
    ],
}  # fmt: skip


@dataclass
class ClaudeTranscript:
    """A transcript that grows. Its records have the ids `m1`, `m2`, …"""

    file: Path
    session: str = SESSION
    count: int = 0
    last: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.touch()

    def write(self, *records: dict[str, Any]) -> None:
        """Append records, as one write."""
        self.last = []
        with self.file.open("a", encoding="utf-8") as to:
            to.write("".join(self._line(record) for record in records))

    def _line(self, record: dict[str, Any]) -> str:
        self.count += 1
        self.last.append(f"m{self.count}")
        at = f"2026-03-01T09:{self.count // 60 % 60:02}:{self.count % 60:02}.000Z"
        told = {"uuid": f"m{self.count}", "sessionId": self.session, "timestamp": at, **record}
        return json.dumps(told) + "\n"

    def prompt(self, text: str) -> None:
        self.write({"type": "user", "message": {"role": "user", "content": text}})

    def reply(self, text: str) -> None:
        self.write(said({"type": "text", "text": text}))

    def call(self, use: str, name: str, **given: Any) -> None:
        self.write(said({"type": "tool_use", "id": use, "name": name, "input": given}))

    def result(self, use: str, text: str, *, failed: bool = False, **more: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": use, "content": text, "is_error": failed}
        self.write({"type": "user", "message": {"role": "user", "content": [block]}, **more})

    def command(self, use: str, command: str, output: str, *, failed: bool = False) -> None:
        self.call(use, "Bash", command=command, description="Run it")
        printed = {"stdout": output, "stderr": "", "interrupted": False}
        self.result(use, output, failed=failed, toolUseResult=printed)

    def edit(self, use: str) -> None:
        self.call(use, "Edit", file_path="app.py", old_string="a = 1", new_string="a = 2")
        self.result(use, "The file app.py has been updated.", toolUseResult=_PATCH)


def said(*content: dict[str, Any]) -> dict[str, Any]:
    """What the model said, in one record."""
    message = {"role": "assistant", "model": "claude-sonnet-4-5", "content": list(content)}
    return {"type": "assistant", "message": message}


def place_of(home: Path, folder: str, session: str = SESSION) -> Path:
    """Where the client keeps a session's transcript."""
    name = "".join(one if one.isascii() and one.isalnum() else "-" for one in folder)
    return home / "projects" / name / f"{session}.jsonl"
