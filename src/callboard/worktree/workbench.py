"""A git folder of our own for a person's working tree, for as long as it is used.

It has copies of their index, their objects by reference, and none of their configuration: so it
runs no hooks, filters, monitors or viewers, takes no lock of theirs, and writes only here.
"""

import os
import shutil
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.worktree.git import Deadline, Git
from callboard.worktree.repository import Repository, excludes_of_user

LARGEST_FILE: Final = 2 * 1_048_576
"""Bytes of a file that is compared or stored."""
_LARGEST_EXCLUDES: Final = 1_048_576
_OPTIONS: Final = (
    "core.bare=false",
    f"core.bigFileThreshold={LARGEST_FILE + 1}",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "diff.renameLimit=1000",
    "gc.auto=0",
    "index.sparse=false",
)


@dataclass(frozen=True, slots=True)
class Workbench:
    """git with our own settings. folder: our git folder, which is gone afterwards."""

    folder: Path
    git: Git
    repository: Repository

    def on_index(self, name: str) -> Git:
        """git with another index of ours, which need not exist."""
        environment = {**self.git.environment, "GIT_INDEX_FILE": str(self.folder / name)}
        return Git(self.git.folder, self.git.deadline, self.git.options, environment)

    def copied_index(self, name: str) -> Git:
        """git with a copy of the person's index; an empty one if there is none."""
        # With its times: git compares them with those of files.
        with suppress(FileNotFoundError):
            shutil.copy2(self.repository.index, self.folder / name)
        return self.on_index(name)


@contextmanager
def workbench(
    repository: Repository,
    store: Path,
    deadline: Deadline,
    *,
    stored: Path | None = None,
    writes: bool = False,
    head: str | None = None,
) -> Generator[Workbench]:
    """Set one up in a folder of ours. stored: objects that were stored before.

    writes: whether new objects stay, in `stored`. head: the commit that is checked out.
    """
    folder = Path(tempfile.mkdtemp(prefix="work-", dir=store))  # Mode 0700.
    try:
        alternates = [repository.objects]
        objects = folder / "objects"
        if stored is not None and writes:
            objects = stored
        elif stored is not None:
            alternates.append(str(stored))
        _lay_out(folder, repository, head)
        environment = {
            "GIT_DIR": str(folder),
            "GIT_WORK_TREE": repository.root,
            "GIT_INDEX_FILE": str(folder / "index"),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": ":".join(map(_quoted, alternates)),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder),
        }
        options = _options(repository, excludes_of_user(repository, deadline))
        yield Workbench(folder, Git(repository.root, deadline, options, environment), repository)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _options(repository: Repository, excludes: str | None) -> Sequence[str]:
    settings = [*_OPTIONS, *(f"{name}={value}" for name, value in repository.settings)]
    settings.append(f"core.excludesFile={excludes or os.devnull}")
    return [part for one in settings for part in ("-c", one)]


def _lay_out(folder: Path, repository: Repository, head: str | None) -> None:
    for name in ("objects", "refs", "info"):
        (folder / name).mkdir(mode=0o700)
    (folder / "HEAD").write_text(f"{head or 'ref: refs/heads/none'}\n")
    version = "[core]\n\trepositoryformatversion = 1\n"
    kind = "[extensions]\n\tobjectFormat = sha256\n" if repository.sha256 else ""
    (folder / "config").write_text(version + kind)
    _copy(repository.excludes, folder / "info" / "exclude")
    _copy(repository.shallow, folder / "shallow")
    _copy(str(Path(repository.git_dir, "info", "sparse-checkout")), folder / "info/sparse-checkout")
    for shared in Path(repository.index).parent.glob("sharedindex.*"):
        _copy(str(shared), folder / shared.name)


def _copy(source: str, target: Path) -> None:
    with suppress(OSError):
        if os.stat(source).st_size <= _LARGEST_EXCLUDES or target.name.startswith("shared"):  # noqa: PTH116
            shutil.copy2(source, target)


def _quoted(path: str) -> str:
    """A path in a list that is separated by colons, as git reads it."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
