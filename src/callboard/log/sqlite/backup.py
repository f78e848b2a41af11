"""Copy a database that is in use, and return free space to the disk."""

import shutil
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

from callboard.disk.files import put_in_place
from callboard.errors import StoreCorrupt, StoreError, ValidationError
from callboard.ids import short_id
from callboard.log.sqlite.errors import translate
from callboard.log.sqlite.file import PAGE_SIZE, connect, create_private

Progress = Callable[[int, int], None]
"""Called with the pages done and the total."""

_PAGES = 512
"""The number of pages to copy at once: 4 MB, then others get a chance at the file."""


def check_target(source: Path, target: Path, *, overwrite: bool) -> None:
    """Refuse to write a copy over the database itself, or over an existing file."""
    if target.exists() and target.samefile(source):
        raise ValidationError(
            f"{target} is the database itself. Choose another path for its copy.", field="path"
        )
    if target.is_dir():
        raise ValidationError(f"{target} is a folder. Name the file too.", field="path")
    if target.exists() and not overwrite:
        raise ValidationError(
            f"{target} already exists and was not changed. Choose another path, or overwrite "
            "it: --force (in Python overwrite=True).",
            field="path",
        )


def back_up(source: sqlite3.Connection, target: Path, progress: Progress) -> None:
    """Copy a database as it is at one moment, even if others write to it meanwhile.

    The copy is checked, and gets its name only when it is complete.
    """
    with _unfinished(target) as part:
        try:
            with closing(connect(part)) as copy:
                _copy(source, copy, progress)
                _check(copy, target)
        except sqlite3.Error as error:
            raise translate(error, target) from error
        _name(part, target)


def _copy(source: sqlite3.Connection, copy: sqlite3.Connection, progress: Progress) -> None:
    def told(status: int, remaining: int, total: int) -> None:
        progress(total - remaining, total)

    # Without a transaction, every commit by others would restart the copy.
    source.execute("BEGIN")
    try:
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.backup(copy, pages=_PAGES, progress=told)
    finally:
        source.execute("ROLLBACK")


def _check(copy: sqlite3.Connection, target: Path) -> None:
    # A single file, so that moving it doesn't require knowing about a write-ahead log.
    copy.execute("PRAGMA journal_mode = DELETE")
    (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise StoreCorrupt(
            f"The copy {target} would be damaged ({found}), so it was not kept: the database is "
            "damaged too. Restore an older backup, or try: callboard doctor",
            path=str(target),
        )


@contextmanager
def _unfinished(target: Path) -> Generator[Path]:
    part = target.with_name(f".{target.name}.{short_id()}.part")
    create_private(part)
    try:
        yield part
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            part.with_name(part.name + suffix).unlink(missing_ok=True)


def _name(part: Path, target: Path) -> None:
    try:
        put_in_place(part, target)
    except OSError as error:
        raise StoreError(f"Cannot create {target}: {error.strerror}.", path=str(target)) from error


def free_share(database: sqlite3.Connection) -> float:
    """The share of the file that is free."""
    (free,) = database.execute("PRAGMA freelist_count").fetchone()
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    return free / pages if pages else 0.0


def has_room(path: Path) -> bool:
    """Whether the disk has room for what is written while shrinking a file."""
    return shutil.disk_usage(path.parent).free > 2 * path.stat().st_size


def shrink(database: sqlite3.Connection) -> int:
    """Rewrite the file without its free pages; returns by how many bytes it shrank.

    Ends the open transaction first.
    """
    database.execute("COMMIT")
    before = _size(database)
    database.execute("VACUUM")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return before - _size(database)


def _size(database: sqlite3.Connection) -> int:
    # Not the file's size, which is smaller while pages are only in the write-ahead log.
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    return pages * PAGE_SIZE
