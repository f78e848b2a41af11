"""A git folder of our own for a person's working tree, for as long as it is used.

It has copies of their index, their objects by reference, and none of their configuration: so it
runs no hooks, filters, monitors or viewers, takes no lock of theirs, and writes only here.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import Final

from callboard.disk.files import open_to_read
from callboard.errors import WorktreeUnreadable
from callboard.worktree.git import Deadline, Git
from callboard.worktree.repository import Repository, excludes_of_user

LARGEST_FILE: Final = 2 * 1_048_576
"""Bytes of a file that is compared or stored."""
_LARGEST_EXCLUDES: Final = 1_048_576
_LARGEST_INDEX: Final = 512 * 1_048_576
_MOST_SHARED: Final = 10
"""Parts of an index that are copied."""
_PART: Final = 1_048_576
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
        try:
            _copy(self.repository.index, self.folder / name, _LARGEST_INDEX)
        except FileNotFoundError:
            pass
        except OSError as error:
            root, reason = self.repository.root, error.strerror or str(error)
            raise WorktreeUnreadable(f"The index of {root} can't be read: {reason}.") from error
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
    sparse = Path(repository.git_dir, "info", "sparse-checkout")
    for source, name in (
        (repository.excludes, "info/exclude"),
        (repository.shallow, "shallow"),
        (str(sparse), "info/sparse-checkout"),
    ):
        with suppress(OSError):
            _copy(source, folder / name, _LARGEST_EXCLUDES)
    for shared in islice(Path(repository.index).parent.glob("sharedindex.*"), _MOST_SHARED):
        with suppress(OSError):
            _copy(str(shared), folder / shared.name, _LARGEST_INDEX)


def _copy(source: str, target: Path, largest: int) -> None:
    """Copy a regular file with its times, because git compares them with those of files.

    Anything else, which may never end, is an OSError.
    """
    opened = open_to_read(source, follow=True)
    with FileIO(opened) as file, target.open("wb") as copied:
        found = os.fstat(opened)
        if found.st_size > largest:
            raise OSError(errno.EFBIG, f"it has more than {largest:,} bytes", source)
        left = found.st_size
        while left > 0 and (part := file.read(min(left, _PART))):
            copied.write(part)
            left -= len(part)
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))


def _quoted(path: str) -> str:
    """A path in a list that is separated by colons, as git reads it."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
