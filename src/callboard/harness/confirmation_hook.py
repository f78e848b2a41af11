"""A hook for `submit_decision`: `python -I -S confirmation_hook.py FOLDER`, payload on stdin.

On PreToolUse it tells the client to ask the person, and on PermissionRequest it records that the
client does. Both add a line to a file in the session's folder. Its exit code is always 0, because
the client treats other codes as a decision or shows them as errors.
"""

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from typing import Final

FILE: Final = "dialogs.jsonl"
"""The observations, one per line, in order."""

_EVENTS: Final = {"PreToolUse": "proposed", "PermissionRequest": "asked"}
_ASK: Final = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "ask",
        "permissionDecisionReason": "Callboard records this as your decision.",
    }
}


def fingerprint(arguments: object) -> str:
    """A hash of a call's exact arguments, regardless of field order."""
    text = json.dumps(arguments, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def append(folder: str, observation: Mapping[str, object]) -> None:
    """Add a line in a single write, so that concurrent hooks don't mix theirs."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(os.path.join(folder, FILE), flags, 0o600)  # noqa: PTH118 - pathlib loads slowly
    try:
        os.write(file, json.dumps(observation).encode() + b"\n")
        os.fsync(file)  # Enough on macOS, too: the session doesn't outlive a power cut.
    finally:
        os.close(file)


def observation_in(payload: Mapping[str, object]) -> dict[str, object] | None:
    """The observation in a hook's payload; None for events of others."""
    event = _EVENTS.get(str(payload.get("hook_event_name")))
    if event is None:
        return None
    return {
        "event": event,
        "session": payload.get("session_id"),
        "prompt": payload.get("prompt_id"),
        "call": payload.get("tool_use_id"),
        "arguments": fingerprint(payload.get("tool_input")),
    }


def main(folder: str) -> None:
    """Record one event, and answer the client."""
    payload = json.load(sys.stdin.buffer)
    try:
        observation = observation_in(payload)
        if observation is not None:
            append(folder, observation)
    finally:  # A full disk must not keep the client from asking.
        if payload.get("hook_event_name") == "PreToolUse":
            os.write(1, json.dumps(_ASK).encode())


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    finally:
        os._exit(0)
