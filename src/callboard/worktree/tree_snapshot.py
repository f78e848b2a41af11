"""Stores a working tree as a tree of git's objects, in a folder of ours."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.worktree.candidates import Candidate, candidates
from callboard.worktree.git import Deadline, Git
from callboard.worktree.records import NO_FILE, index_entries, path_list
from callboard.worktree.repository import CheckedOut, Repository, checked_out
from callboard.worktree.workbench import Workbench, workbench

MOST_STORED: Final = 5000
"""Files of one snapshot that the repository doesn't have."""
MOST_BYTES: Final = 64 * 1_048_576
"""Bytes of one snapshot that the repository doesn't have."""
_MOST_STUBS: Final = 200


@dataclass(frozen=True, slots=True)
class TreeSnapshot:
    """A stored working tree. partial: files without their content."""

    tree: str
    checked_out: CheckedOut
    partial: int


def take_snapshot(
    repository: Repository, store: Path, stored: Path, left: Deadline
) -> TreeSnapshot:
    """Store the working tree as it is now. stored: where its objects go.

    What the repository has already is not stored again. Ignored files are left out.
    """
    at = checked_out(repository, left)
    with workbench(repository, store, left, stored=stored, writes=True) as bench:
        git = bench.copied_index("index")
        chosen = _choose(git, repository.root)
        # Without looking at them: one may be behind a link by now.
        gone = index_entries((NO_FILE, "0" * 40, path) for path in chosen.gone)
        git.output("update-index", "-z", "--index-info", given=gone)
        paths = path_list(chosen.paths)
        git.output("update-index", "-z", "--add", "--remove", "--replace", "--stdin", given=paths)
        _store_stubs(bench, git, chosen.stubs)
        tree = git.output("write-tree", "--missing-ok").decode().strip()
    return TreeSnapshot(tree, at, chosen.left_out)


@dataclass(frozen=True, slots=True)
class _Chosen:
    paths: Sequence[bytes]
    gone: Sequence[bytes]
    stubs: Sequence[Candidate]
    left_out: int


def _choose(git: Git, root: str) -> _Chosen:
    paths: list[bytes] = []
    gone: list[bytes] = []
    stubs: list[Candidate] = []
    left_out, size = 0, 0
    for one in candidates(git, root):
        if one.submodule and one.status == "added":
            continue
        if one.status == "deleted":
            gone.append(one.path)
            continue
        needed = one.size or 0
        fits = len(paths) < MOST_STORED and size + needed <= MOST_BYTES
        if fits and (one.compares or one.submodule):
            paths.append(one.path)
            size += needed
            continue
        left_out += 1
        if one.stub is not None and len(stubs) < _MOST_STUBS:
            stubs.append(one)
    return _Chosen(paths, gone, stubs, left_out)


def _store_stubs(bench: Workbench, git: Git, stubs: Sequence[Candidate]) -> None:
    if not stubs:
        return
    files = [bench.folder / f"stub-{number}" for number in range(len(stubs))]
    for file, one in zip(files, stubs, strict=True):
        file.write_text(one.stub or "")
    names = "".join(f"{file}\n" for file in files).encode()
    made = git.output("hash-object", "-w", "--no-filters", "--stdin-paths", given=names)
    pairs = zip(made.decode().split(), stubs, strict=True)
    entries = index_entries(("100644", blob, one.path) for blob, one in pairs)
    git.output("update-index", "-z", "--index-info", given=entries)
