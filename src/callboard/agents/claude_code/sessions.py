"""Which of the client's own sessions a run is: the same one at every attempt."""

import json
import uuid
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

_NAMESPACE: Final = uuid.UUID("5a0c9d4e-6c0f-5d1e-9a55-3b1d5f6f7a21")
_SPOKEN: Final = ('"type":"user"', '"type":"assistant"')


class ClientSession(NamedTuple):
    """A session of the client."""

    id: str
    exists: bool

    @property
    def arguments(self) -> tuple[str, str]:
        """How the client is told to begin it, or to go on with it."""
        return ("--resume" if self.exists else "--session-id", self.id)


def run_id(key: str) -> str:
    """A run's id, in the form that the client wants for a session."""
    return str(uuid.uuid5(_NAMESPACE, key))


def session_of(key: str, cwd: Path, env: Mapping[str, str]) -> ClientSession:
    """The session in which a run's conversation is, or is to be.

    A transcript in which nobody has spoken yet, or only in another folder, can neither be gone on
    with nor begun again: then it is the next session that counts.
    """
    for number in count():
        id = run_id(f"{key}#{number}" if number else key)
        transcript = _transcript(id, env)
        if transcript is None:
            return ClientSession(id, exists=False)
        if _has_conversation(transcript, cwd):
            return ClientSession(id, exists=True)
    raise AssertionError("unreachable")


def _transcript(id: str, env: Mapping[str, str]) -> Path | None:
    home = Path(env.get("HOME") or Path.home())
    folder = Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    return next(folder.glob(f"projects/*/{id}.jsonl"), None)


def _has_conversation(transcript: Path, cwd: Path) -> bool:
    here = f'"cwd":{json.dumps(str(cwd.resolve()), ensure_ascii=False)}'
    with transcript.open(encoding="utf-8", errors="replace") as lines:
        return any(here in line and any(spoken in line for spoken in _SPOKEN) for line in lines)
