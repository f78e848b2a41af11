"""What the model does in the tests of Claude Code."""

import re
import threading
from pathlib import Path
from typing import Any

from tests.real_clients.script import Call, Hold, Say, Script

DATABASES = {
    "question": "Which database?",
    "header": "Database",
    "multiSelect": False,
    "options": [
        {"label": "SQLite", "description": "in a file"},
        {"label": "Postgres", "description": "on a server"},
    ],
}
DAYS = {
    "question": "Which days?",
    "header": "Days",
    "multiSelect": True,
    "options": [
        {"label": "Monday", "description": "the first"},
        {"label": "Tuesday", "description": "the second"},
        {"label": "Wednesday", "description": "the third"},
    ],
}

ECHO: Script = [
    [Say("I shall say hello."), Call("Bash", {"command": "echo hello", "description": "Greet"})],
    [Say("I said hello.")],
]
TOUCH: Script = [
    [Call("Bash", {"command": "touch made", "description": "Make a file"})],
    [Say("It is made.")],
]
WRITE: Script = [
    [Call("Write", {"file_path": "note", "content": "one\n"})],
    [Say("It is written.")],
]
TOUCH_FOR_LONG: Script = [
    [
        Call(
            "Bash",
            {
                "command": "touch made && python3 -c 'import time; time.sleep(30)'",
                "description": "Make a file and wait",
            },
        )
    ],
    [Say("It is made.")],
]
ASK: Script = [
    [Call("AskUserQuestion", {"questions": [DATABASES, DAYS]})],
    [Say("I shall use that.")],
]
ASK_ONE: Script = [
    [Call("AskUserQuestion", {"questions": [DATABASES]})],
    [Say("I shall use that.")],
]
SAY: Script = [[Say("Nothing to do.")]]


def _plan(sent: str) -> dict[str, Any]:
    """The client tells the model where to write its plan."""
    file = re.search(r"(/[\w./-]+/plans/[\w.-]+\.md)", sent)
    assert file is not None
    return {"file_path": file[1], "content": "# The plan\n\n1. Do it.\n"}


PLAN: Script = [
    [Call("Write", _plan)],
    [Call("ExitPlanMode", {})],
    [Say("So much for the plan.")],
]


def sent_away(script: str, *, wait: bool = False) -> Script:
    """A subagent that plays another script."""
    work = {
        "description": "Work",
        "prompt": f"play:{script}",
        "subagent_type": "general-purpose",
        "run_in_background": not wait,
    }
    return [[Call("Agent", work)], [Say("It is on its way.")], [Say("It came back.")]]


def reading(*files: Path) -> Script:
    """Several files at once."""
    return [[Call("Read", {"file_path": str(file)}) for file in files], [Say("Both are read.")]]


def slow(gate: threading.Event) -> Script:
    """Says nothing until the gate opens."""
    return [[Hold(gate), Say("That took a while.")]]
