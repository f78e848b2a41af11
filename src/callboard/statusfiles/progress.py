"""How far sessions are, as their status files tell."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from callboard.engine.sessions import SessionInfo
from callboard.errors import StoreError
from callboard.statusfiles.publishing import published_in
from callboard.statusfiles.publishing_place import PublishingPlace
from callboard.statusfiles.turns import progress


async def with_progress(sessions: Sequence[SessionInfo]) -> list[SessionInfo]:
    """The sessions, each with its progress if it has status files."""
    if all(published_in(info.source) is None for info in sessions):
        return list(sessions)
    return await asyncio.to_thread(lambda: [_with_progress(info) for info in sessions])


def _with_progress(info: SessionInfo) -> SessionInfo:
    root = published_in(info.source)
    if root is None:
        return info
    try:
        workflow = PublishingPlace(root, info.session_id).told()
    except StoreError:
        return info  # Whoever writes it says what is wrong with it.
    if workflow is None:
        return info
    done, total = progress(workflow)
    return replace(info, progress=f"{done}/{total}")
