"""Progress of sessions, read from their status files."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from callboard.engine.sessions import SessionInfo
from callboard.statusfiles.history import progress
from callboard.statusfiles.location import find_place
from callboard.statusfiles.publishing import published_in
from callboard.statusfiles.shelf import all_workflows
from callboard.statusfiles.story import POSITION


async def with_progress(sessions: Sequence[SessionInfo]) -> list[SessionInfo]:
    """The sessions, each with its progress if it has status files."""
    roots = {root for info in sessions if (root := published_in(info.source))}
    if not roots:
        return list(sessions)
    known = await asyncio.to_thread(lambda: {root: _progress_in(root) for root in roots})
    return [_with_progress(info, known) for info in sessions]


def _with_progress(info: SessionInfo, known: Mapping[Path, Mapping[str, str]]) -> SessionInfo:
    root = published_in(info.source)
    found = known[root].get(info.session_id) if root else None
    return replace(info, progress=found) if found else info


def _progress_in(root: Path) -> dict[str, str]:
    """The progress of each session with files in a project, read in one pass."""
    found: dict[str, tuple[int, str]] = {}
    try:
        written = [shelved.workflow for shelved in all_workflows(find_place(root))]
    except OSError:
        return {}  # The process that writes there reports the problem.
    for workflow in filter(None, written):
        position, session = workflow.get(POSITION), workflow.get("session_id")
        if not (isinstance(session, str) and isinstance(position, int)):
            continue  # Doesn't belong to a session, or was written by hand.
        if position >= found.get(session, (0, ""))[0]:
            done, total = progress(workflow)
            found[session] = (position, f"{done}/{total}")
    return {session: told for session, (_, told) in found.items()}
