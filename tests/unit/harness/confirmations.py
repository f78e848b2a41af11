"""What is left behind when a person confirms a decision in the client's dialog."""

import json
import subprocess
from pathlib import Path
from typing import Any

from callboard.harness import confirmation_hook
from callboard.harness.folders import Attempt
from callboard.vendors.claude import launching
from callboard.vendors.settings.commands import scripted


def run_hook(folder: Path, event: str, arguments: Any, **payload: Any) -> str:
    """Run the real hook as the client does, in a shell; gives what it printed."""
    told = {"session_id": "s", "prompt_id": "p", "tool_name": launching.TOOL, **payload}
    told |= {"hook_event_name": event, "tool_input": arguments}
    command = scripted(Path(confirmation_hook.__file__), str(folder))
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=json.dumps(told).encode(),
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode()


def observe(attempt: Attempt, decision: Any, *, session: str = "s", call: str = "t1") -> None:
    """What our hooks leave of a call that the client asked about."""
    arguments = {"decision": decision}
    payload = {"session_id": session, "prompt_id": "p", "tool_input": arguments}
    proposed = {"hook_event_name": "PreToolUse", "tool_use_id": call}
    for event in (proposed, {"hook_event_name": "PermissionRequest"}):
        told = confirmation_hook.observation_in(payload | event)
        assert told is not None
        confirmation_hook.append(str(attempt.folder), told)


def allowed(
    session: str, decision: Any, *, call: str = "t1", source: str = "user_temporary"
) -> None:
    """What the client's transcript says of a call that was allowed."""
    use = {"type": "tool_use", "id": call, "name": launching.TOOL, "input": {"decision": decision}}
    back = {"type": "tool_result", "tool_use_id": call, "content": "kept"}
    decided = {"decision": "accept", "source": source}
    records = [
        {"type": "assistant", "message": {"content": [use]}},
        {"type": "user", "message": {"content": [back]}, "permissionDecision": decided},
    ]
    path = launching.home() / "projects" / "here" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in records)


def confirm(attempt: Attempt, session: str, decision: Any) -> None:
    """All of it, for a decision that the person confirmed in the dialog, and the tool kept."""
    observe(attempt, decision, session=session)
    allowed(session, decision)
    attempt.keep_decision(decision, "t1")
