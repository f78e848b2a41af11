"""The transcripts of Codex's subagents: files of their own, like those of sessions."""

from callboard.errors import TranscriptUnreadable
from callboard.events.json_values import Object, as_object
from callboard.vendors.line_conversation import MOST_READ
from callboard.vendors.partial_json import load_record, load_start
from callboard.vendors.transcript_lines import TranscriptLines


def own_start(path: str, session_id: str, id: str) -> int:
    """Where what a subagent did starts: it may start with a copy of the session's conversation.

    TranscriptUnreadable if it isn't a subagent of this session.
    """
    with TranscriptLines(path) as lines:
        first = next(lines.after(0), None)
        if first is None:
            return 0
        meta = load_record(first.data) if first.is_whole else load_start(first.data)
        told = as_object(meta.get("payload"))
        if not _is_of(told, session_id):
            raise TranscriptUnreadable(f"Codex session {session_id!r} has no subagent {id!r}.")
        if "forked_from_id" not in told:
            return 0
        own, end = id.encode(), first.end
        # Nothing that is copied can name the subagent, which didn't exist yet.
        for line in lines.after(first.end):
            if own in line.data or line.end > MOST_READ:
                return line.start
            end = line.end
        return end


def _is_of(told: Object, session_id: str) -> bool:
    """Whether a transcript is of a subagent of a session, or of another of its subagents."""
    parent = told.get("parent_thread_id")
    if parent is None:
        spawned = as_object(as_object(told.get("source")).get("subagent"))
        parent = as_object(spawned.get("thread_spawn")).get("parent_thread_id")
    # Versions that don't name the session name only the agent that started it.
    return parent is not None and told.get("session_id", parent) == session_id
