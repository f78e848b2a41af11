"""A person's repository: where its parts are, what is checked out, and what is not finished.

Only commands that neither read the index nor run other programs are used in it. Everything else
runs in a `Workbench`, with no configuration but ours.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.errors import WorktreeUnreadable
from callboard.worktree.changes import Operation
from callboard.worktree.git import Deadline, Git

_OPERATIONS: Final[Sequence[tuple[str, Operation]]] = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "apply"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry_pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)
_HARMLESS: Final = re.compile(
    r"core\.(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode|protecthfs|trustctime"
    r"|checkstat|sparsecheckout|sparsecheckoutcone)"
)
"""Settings that say how files are compared. Their values name no program and no file."""
_VALUE: Final = re.compile(r"[A-Za-z0-9]{0,20}")
_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OPTIONS: Final = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository of a working tree.

    root: of the working tree. git_dir: its own, where `HEAD` is. index, objects, excludes, shallow:
    files and folders that may not exist. sha256: whether that is how it names objects.
    settings: those of the person that say how files are compared.
    """

    root: str
    git_dir: str
    index: str
    objects: str
    excludes: str
    shallow: str
    sha256: bool
    settings: Sequence[tuple[str, str]]

    def operation(self) -> Operation | None:
        """What was started here and not finished."""
        for name, operation in _OPERATIONS:
            if Path(self.git_dir, name).exists():
                return operation
        return None


@dataclass(frozen=True, slots=True)
class CheckedOut:
    """What is checked out. commit: None in an empty repository. upstream_commit: its last known."""

    branch: str | None
    commit: str | None
    upstream: str | None = None
    upstream_commit: str | None = None

    @property
    def detached(self) -> bool:
        """Whether a commit is checked out rather than a branch."""
        return self.branch is None


def find_repository(folder: str, deadline: Deadline) -> Repository:
    """The repository that a folder is in; WorktreeUnreadable if git doesn't read one there."""
    root = _root_of(folder)
    git = _git_in(root, deadline)
    paths = ("index", "objects", "info/exclude", "shallow")
    asked = [part for path in paths for part in ("--git-path", path)]
    told = git.output("rev-parse", "--git-dir", *asked)
    parts = told.removesuffix(b"\n").split(b"\n")
    if len(parts) != len(paths) + 1:
        raise WorktreeUnreadable(f"The folder {root!r} has a line break in its name.")
    git_dir, index, objects, excludes, shallow = (
        os.path.join(root, os.fsdecode(one))  # noqa: PTH118 - paths that git printed
        for one in parts
    )
    sha256 = git.line("rev-parse", "--show-object-format") == "sha256"
    settings = tuple(_settings(git))
    return Repository(root, git_dir, index, objects, excludes, shallow, sha256, settings)


def checked_out(repository: Repository, deadline: Deadline) -> CheckedOut:
    """What is checked out there."""
    git = _git_in(repository.root, deadline)
    branch = git.line("symbolic-ref", "-q", "--short", "HEAD")
    commit = _commit(git, "HEAD")
    if branch is None or commit is None:
        return CheckedOut(branch, commit)
    upstream_commit = _commit(git, "@{upstream}")
    if upstream_commit is None:
        return CheckedOut(branch, commit)
    upstream = git.line("rev-parse", "--abbrev-ref", "@{upstream}")
    return CheckedOut(branch, commit, upstream, upstream_commit)


def is_hash(text: str) -> bool:
    """Whether it is the whole name of an object."""
    return _HASH.fullmatch(text) is not None


def excludes_of_user(repository: Repository, deadline: Deadline) -> str | None:
    """The file with what the person never wants to see in any repository."""
    told = _git_in(repository.root, deadline).line(
        "config", "--type=path", "--get", "core.excludesFile"
    )
    if told is not None:
        return told
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111
    file = Path(home, "git", "ignore")
    return str(file) if file.is_file() else None


def _git_in(root: str, deadline: Deadline) -> Git:
    # It looks at this folder only: what is above is another repository.
    above = {"GIT_CEILING_DIRECTORIES": os.path.dirname(root)}  # noqa: PTH120
    return Git(root, deadline, _OPTIONS, above)


def _root_of(folder: str) -> str:
    """The folder with `.git` that this one is in.

    Not where the configuration says, which could be any folder of the machine.
    """
    if not folder.startswith("/") and os.name == "posix":
        raise WorktreeUnreadable(
            "The board doesn't know the session's folder yet. Try again after its next prompt."
        )
    try:
        found = Path(folder).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise WorktreeUnreadable(f"The folder {folder} doesn't exist anymore.") from error
    for one in (found, *found.parents):
        try:
            if os.path.lexists(one / ".git"):
                return str(one)
        except OSError:
            break
    raise WorktreeUnreadable(f"{folder} is not in a git repository.")


def _settings(git: Git) -> list[tuple[str, str]]:
    try:
        printed = git.output("config", "-z", "--get-regexp", r"^core\.")
    except WorktreeUnreadable:
        return []
    found: dict[str, str] = {}
    for record in printed.split(b"\0"):
        name, _, value = record.decode("utf-8", "replace").partition("\n")
        if _HARMLESS.fullmatch(name) and _VALUE.fullmatch(value):
            found[name] = value or "true"
    return list(found.items())


def _commit(git: Git, name: str) -> str | None:
    found = git.line("rev-parse", "-q", "--verify", name)
    return found if found is not None and is_hash(found) else None
