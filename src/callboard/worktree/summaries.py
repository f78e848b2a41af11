"""What changed, in words that the command line and the board share. Pure."""

from typing import Final

from callboard.display.amounts import counted
from callboard.display.lines import one_line
from callboard.worktree.changes import ChangedFile, ComparedTo, PullRequest, WorktreeChanges

_BASES: Final = {
    "session": "the start of the session",
    "turn": "the start of a turn",
    "commit": "the last commit",
}
_NOTICEABLE_MS: Final = 1000


def branch_line(found: WorktreeChanges) -> str:
    """Which branch is checked out, and how it compares with its upstream."""
    told = "No branch is checked out" if found.detached else f"On {one_line(found.branch or '-')}"
    if found.upstream is not None:
        upstream = one_line(found.upstream)
        told += f", {found.ahead} ahead of {upstream} and {found.behind} behind"
    return f"{told}."


def unfinished(found: WorktreeChanges) -> str | None:
    """What was started with git and not finished, as a sentence."""
    if found.state is None:
        return None
    return f"A {found.state.replace('_', '-')} is not finished."


def compared(base: ComparedTo, when: str | None) -> str:
    """What the files are compared with. when: how long ago that was."""
    at = "" if when is None else f", {when}"
    late = f", recorded {base.late / 1000:.1f} s later" if base.late >= _NOTICEABLE_MS else ""
    partial = f", without {counted(base.partial, 'large file')}" if base.partial else ""
    return f"Compared with {_BASES[base.kind]}{at}{late}{partial}."


def notes_on(file: ChangedFile) -> list[str]:
    """What to know about a file besides its status and its lines."""
    told = {
        "staged": file.staged and not file.unstaged,
        "partly staged": file.staged and file.unstaged,
        "committed": not file.staged and not file.unstaged,
        "binary": file.binary and not file.lfs,
        "submodule": file.submodule,
        "Git LFS": file.lfs,
        "too large to compare": file.too_large,
    }
    return [word for word, is_so in told.items() if is_so]


def why_no_lines(file: ChangedFile) -> str:
    """Why a file's diff has no lines."""
    if file.too_large:
        return "The file is too large, or can't be read."
    if file.lfs:
        return "Git LFS has its content."
    return "The file is binary." if file.binary else "Its lines are the same."


def pull_request_line(told: PullRequest) -> str:
    """A pull request's number, state and title."""
    return f"Pull request #{told.number} ({told.state}): {one_line(told.title)} {told.url}"


def checks_line(told: PullRequest) -> str:
    """How a pull request's checks stand: those that failed by their names."""
    failed = [one_line(one.name) for one in told.checks if one.state == "failed"]
    pending = sum(one.state == "pending" for one in told.checks)
    if failed:
        return f"failed: {', '.join(failed)}"
    if pending:
        return f"{counted(pending, 'check')} running"
    return "checks passed" if told.checks else "no checks"
