"""Where coding agents keep their transcripts: a server may not have any other file read."""

from pathlib import Path


def own_transcript(agent: str, path: str) -> str | None:
    """The path of a transcript, if it is where the client keeps them.

    A server says where it is, and must not find out anything about other files.
    """
    home = _home(agent)
    if home is None or not path:
        return None
    try:
        return path if Path(path).resolve().is_relative_to(home.resolve()) else None
    except (OSError, ValueError, RuntimeError):
        return None


def _home(agent: str) -> Path | None:
    # A relay has few of these agents, and each module takes memory.
    match agent:
        case "claude":
            from callboard.vendors.claude import home as claude

            return claude.home()
        case "codex":
            from callboard.vendors.codex import settings as codex

            return codex.home()
        case "gemini":
            from callboard.vendors.gemini import settings as gemini

            return gemini.home()
        case _:
            return None
