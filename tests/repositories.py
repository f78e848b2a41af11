"""Real git repositories for tests, made with the git that is installed."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from callboard.worktree.changes import ChangedFile, WorktreeChanges
from callboard.worktree.session_changes import ChangesRequest, SessionChanges
from callboard.worktree.snapshots import SnapshotStore, TreeMark, TurnStart

_AUTHOR = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass(frozen=True)
class TestRepository:
    """A repository, and the snapshots of one session in it."""

    __test__ = False

    root: Path
    store: SnapshotStore

    def git(self, *arguments: str, at: Path | None = None, check: bool = True) -> str:
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=at or self.root, env={**os.environ, **_AUTHOR}, check=check,
            capture_output=True, text=True, errors="replace",
        )  # fmt: skip
        return done.stdout.strip()

    def write(self, path: str, text: str = "text\n") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def commit(self, message: str = "Change it") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def start(
        self, at_ms: int = 1000, *, kind: str = "session", prompt: str | None = None, now: int = 0
    ) -> TreeMark | None:
        """A snapshot as a session or a turn starts."""
        assert kind in ("session", "turn")
        start = TurnStart("s1", str(self.root), at_ms, kind, prompt)
        return self.store.take(start, now or at_ms)

    def changes(self, since: str = "session", folder: Path | None = None) -> WorktreeChanges:
        return self.reading().list(self.request(since, folder), 5000)

    def request(self, since: str = "session", folder: Path | None = None) -> ChangesRequest:
        return ChangesRequest("s1", str(folder or self.root), since)

    def reading(self, time_limit: float = 30.0) -> SessionChanges:
        return SessionChanges(self.store, time_limit)

    def files(self, since: str = "session", folder: Path | None = None) -> dict[str, ChangedFile]:
        return {one.path: one for one in self.changes(since, folder).files}

    def lines(self, path: str, since: str = "session", old_path: str | None = None) -> list[str]:
        """The lines of a file's diff, as git shows them."""
        found = self.reading().file(self.request(since), path, old_path)
        signs = {"same": " ", "added": "+", "removed": "-"}
        return [signs[line.kind] + line.text for hunk in found.hunks for line in hunk.lines]


def new_repository(folder: Path, *, commits: bool = True) -> TestRepository:
    """A repository with one commit, unless it is to be empty."""
    root = folder / "repository"
    root.mkdir(parents=True)
    made = TestRepository(root.resolve(), SnapshotStore(folder / "snapshots"))
    made.git("init", "-q", "-b", "main")
    if commits:
        made.write("README", "one\ntwo\nthree\n")
        made.commit("Start")
    return made


def contents(root: Path) -> dict[str, tuple[int, int, bytes | None]]:
    """Everything in a folder, with modes, times and contents: to show that nothing changed."""
    found: dict[str, tuple[int, int, bytes | None]] = {}
    for path in sorted(root.rglob("*")):
        told = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        modified = 0 if path.is_dir() else told.st_mtime_ns
        found[str(path.relative_to(root))] = (told.st_mode, modified, content)
    return found
