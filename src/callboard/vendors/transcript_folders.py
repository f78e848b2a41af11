"""Where coding agents keep their transcripts: no other file is read as one.

A hook or a server says where a transcript is, and must not find out anything about other files.
"""

from collections.abc import Sequence
from pathlib import Path


def own_transcript(agent: str, path: str) -> str | None:
    """The path of a transcript, if it is where the client keeps them."""
    return path if path and is_own_transcript(agent, path) else None


def is_own_transcript(agent: str, path: str) -> bool:
    """Whether a path leads to where the client keeps its transcripts, after following links."""
    try:
        found = Path(path).resolve()
        return any(found.is_relative_to(one.resolve()) for one in _folders(agent))
    except (OSError, ValueError, RuntimeError):
        return False


def _folders(agent: str) -> Sequence[Path]:
    """The client's folders for transcripts. Next to them, it keeps other things, such as keys."""
    # A relay has few of these agents, and each module takes memory.
    match agent:
        case "claude":
            from callboard.vendors.claude import home as claude

            return (claude.home() / "projects",)
        case "codex":
            from callboard.vendors.codex import settings as codex

            return codex.home() / "sessions", codex.home() / "archived_sessions"
        case "gemini":
            from callboard.vendors.gemini import settings as gemini

            return (gemini.home() / "tmp",)
        case "opencode":
            from callboard.vendors.opencode import database as opencode

            return (Path(opencode.database_path()).parent,)
        case _:
            return ()
