"""What hooks have to remember from one call to the next, beside the workflow."""

import contextlib
import json
from collections.abc import Generator
from typing import Any, cast

from callboard.errors import StoreError
from callboard.statusfiles import files
from callboard.statusfiles.location import Place

Table = dict[str, Any]

_WORDS = 20_000
_STOPPED = 20
_TABLES = ("calls", "agents", "stopped", "sessions")


class Memory:
    """Who works on which phase, and what each session's list of things to do says.

    calls, agents: a call of the agent tool, an agent at work → its phase and its session. stopped:
    an agent that ended before we knew its phase → its last words, and why it failed if it did.
    sessions: a session → its list.
    """

    def __init__(self, kept: Table) -> None:
        self.calls: Table = kept["calls"]
        self.agents: Table = kept["agents"]
        self.stopped: Table = kept["stopped"]
        self.sessions: Table = kept["sessions"]

    @property
    def taken(self) -> set[str]:
        """Phases on which somebody works."""
        return {one[0] for one in (*self.calls.values(), *self.agents.values())}

    def forget(self, session: str, *, agents: bool) -> None:
        """A turn began: none of the session's calls is under way, nor an agent if it is new."""
        tables = (self.calls, self.agents) if agents else (self.calls,)
        for table in tables:
            for id in [id for id, one in table.items() if one[1] == session]:
                del table[id]

    def note_stopped(self, agent: str, words: str, why: str | None) -> None:
        """An agent ended of which we may hear only now that it began; the oldest give way."""
        self.stopped[agent] = [words[:_WORDS], why]
        for old in list(self.stopped)[:-_STOPPED]:
            del self.stopped[old]

    def session(self, id: str) -> Table:
        """What is known of one session's list."""
        return self.sessions.setdefault(id, {"todos": {}, "told": None})

    def as_table(self) -> Table:
        """All of it, to be kept."""
        return {name: getattr(self, name) for name in _TABLES}


@contextlib.contextmanager
def remembering(place: Place, workflow_id: str) -> Generator[Memory]:
    """What is remembered of this workflow; kept when the block ends, for nobody but us."""
    file = f"{place.root}/.claude/state/workflow_hooks.json"
    with files.locked(file):
        before = _read(file, workflow_id)
        memory = Memory(json.loads(json.dumps(before)))
        yield memory
        after = memory.as_table()
        if after != before:
            text = json.dumps({"workflow_id": workflow_id, **after}, ensure_ascii=False)
            files.write(file, text + "\n", lasting=False)


def _read(file: str, workflow_id: str) -> Table:
    """What is broken, or of another workflow, is forgotten."""
    try:
        kept = json.loads(files.data_of(file) or b"null")
    except (StoreError, ValueError, RecursionError):
        kept = None
    if not isinstance(kept, dict) or cast("Table", kept).get("workflow_id") != workflow_id:
        return {name: {} for name in _TABLES}
    found = cast("Table", kept)
    return {name: found[name] if isinstance(found.get(name), dict) else {} for name in _TABLES}
