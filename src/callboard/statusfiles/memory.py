"""What hooks remember between calls, apart from the workflow."""

import contextlib
import json
from collections.abc import Generator
from typing import TypedDict, cast

from callboard.errors import StoreError
from callboard.events.json_values import as_object
from callboard.statusfiles import files
from callboard.statusfiles.location import StatusFolder
from callboard.statusfiles.todos import Todo

_WORDS = 20_000
_STOPPED = 20


class SessionList(TypedDict):
    """A session's todo list, and the list that it was last told to use."""

    todos: dict[str, Todo]
    told: list[Todo] | None


class _Kept(TypedDict):
    calls: dict[str, list[str]]
    agents: dict[str, list[str]]
    stopped: dict[str, list[str | None]]
    sessions: dict[str, SessionList]


class HookMemory:
    """Who works on which phase, and each session's todo list.

    calls, agents: a call of the agent tool, or a running agent → its phase and its session.
    stopped: an agent that ended before its phase was known → its last message, and why it failed,
    if it did. sessions: a session → its list.
    """

    def __init__(self, kept: _Kept) -> None:
        self.calls, self.agents = kept["calls"], kept["agents"]
        self.stopped, self.sessions = kept["stopped"], kept["sessions"]

    @property
    def taken(self) -> set[str]:
        """Phases that an agent is working on."""
        return {one[0] for one in (*self.calls.values(), *self.agents.values())}

    def forget(self, session: str, *, agents: bool) -> None:
        """Forget a session's calls when a turn starts, and its agents when the session is new."""
        tables = (self.calls, self.agents) if agents else (self.calls,)
        for table in tables:
            for id in [id for id, one in table.items() if one[1] == session]:
                del table[id]

    def note_stopped(self, agent: str, words: str, why: str | None) -> None:
        """Record the end of an agent whose start hasn't been reported yet. Only the newest are
        kept.
        """
        self.stopped[agent] = [words[:_WORDS], why]
        for old in list(self.stopped)[:-_STOPPED]:
            del self.stopped[old]

    def session(self, id: str) -> SessionList:
        """A session's todo list."""
        return self.sessions.setdefault(id, {"todos": {}, "told": None})


@contextlib.contextmanager
def remembering(place: StatusFolder, workflow_id: str) -> Generator[HookMemory]:
    """Load what is remembered about this workflow, and save it when the block ends."""
    file = f"{place.root}/.claude/state/workflow_hooks.json"
    with files.locked(file):
        kept = _read(file, workflow_id)
        before = json.dumps(kept)
        yield HookMemory(kept)
        if json.dumps(kept) != before:
            text = json.dumps({"workflow_id": workflow_id, **kept}, ensure_ascii=False)
            files.write(file, text + "\n", lasting=False)


def _read(file: str, workflow_id: str) -> _Kept:
    """Read the file; nothing if it is broken or belongs to another workflow."""
    try:
        kept = json.loads(files.data_of(file) or b"null")
    except (StoreError, ValueError, RecursionError):
        kept = None
    found = as_object(kept)
    ours = found.get("workflow_id") == workflow_id
    tables = {name: as_object(found.get(name) if ours else None) for name in _Kept.__annotations__}
    return cast("_Kept", tables)  # Only this module writes the file.
