"""The hook that keeps status files up to date: `python -I -S hook.py`, with a payload on stdin.

It prints only context for the model, and always exits with 0, because its errors should not disturb
the agent's session. They are written to `.claude/state/workflow_hooks_error.txt`.
"""

import posix
import sys

_PACKAGE = __file__.rpartition("/")[0].rpartition("/")[0]
_STATE = ".claude/state/workflow.json"


def _alone() -> None:
    """Make `callboard` an empty package, because its `__init__` is slow to import."""
    package = type(sys)("callboard")
    package.__path__ = [_PACKAGE or "."]
    sys.modules["callboard"] = package


def _is_there(root: str) -> bool:
    try:
        posix.stat(f"{root}/{_STATE}")
    except OSError:
        return False
    return True


class _Note:
    """Replaces standard error to record warnings."""

    def __init__(self, root: str, event: object) -> None:
        self._file = f"{root}/.claude/state/workflow_hooks_error.txt"
        self._event = event

    def write(self, text: str) -> None:
        """Record a problem in printable form, replacing the one before."""
        from callboard.disk import project_files
        from callboard.statusfiles.markdown import one_line

        said = one_line(f"{self._event}: {text}").encode("utf-8", "replace") + b"\n"
        project_files.write(self._file, said, lasting=False)


def _run(text: bytes) -> None:
    root = posix.environ.get(b"CLAUDE_PROJECT_DIR", b"").decode("utf-8", "surrogateescape")
    if root and not _is_there(root):
        return  # The usual case, and a fast one.
    import json

    _alone()
    from callboard.events.json_values import as_text, is_object
    from callboard.statusfiles.location import find_place, nearest

    payload: object = json.loads(text)
    if not is_object(payload):
        return
    place = find_place(root) if root else nearest(as_text(payload.get("cwd")))
    if not _is_there(place.root):
        return
    note = _Note(place.root, payload.get("hook_event_name"))
    sys.stderr = note  # pyright: ignore[reportAttributeAccessIssue] - all that a warning needs
    try:
        from callboard.statusfiles.hearing import heard

        printed = heard(payload, place)
    except Exception as error:  # Whatever it is, keep it out of the session.
        note.write(str(error))
        return
    if printed:
        posix.write(1, json.dumps(printed).encode())


if __name__ == "__main__":
    try:
        _run(sys.stdin.buffer.read())
    finally:
        # There is nothing to clean up, and no traceback may be printed.
        posix._exit(0)  # pyright: ignore[reportPrivateUsage] - the only name it has here
