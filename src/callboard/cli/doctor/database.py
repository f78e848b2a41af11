"""The checks of `callboard doctor` on the database and its files. Nothing is changed."""

import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from callboard.app import Callboard
from callboard.cli.doctor.findings import Finding, amount
from callboard.cli.format import duration
from callboard.cli.targets import Database
from callboard.clock import Clock, SystemClock
from callboard.disk.locks import is_held
from callboard.display.amounts import counted
from callboard.errors import CallboardError, StoreError
from callboard.log.location import without_password
from callboard.log.sqlite.errors import translate
from callboard.log.sqlite.file import connect, recognise
from callboard.log.sqlite.migrate import known_migrations
from callboard.log.sqlite.setup import live_folder

_OTHERS = 0o077
_LARGE_WAL = 256_000_000
_PATIENCE = 5.0
_SECRETS = (".token", ".tokens.imported", ".audit.jsonl", ".audit.jsonl.1")
_BESIDE = ("", "-wal", "-shm")
_FIRST_EVENT_EVER = 1_700_000_000_000
_TOLERANCE_MS = 5_000
_NOTICEABLE_MS = 1_000


def database(path: Path, clock: Clock) -> Iterator[Finding]:
    """All findings about a database; if it can't be opened, only that."""
    if not path.exists():
        yield _absent(path)
        yield _clock_alone(clock)
        return
    yield from _modes("files", [path.with_name(path.name + end) for end in _BESIDE])
    try:
        with closing(connect(path, patience=_PATIENCE)) as opened:
            opened.execute("PRAGMA query_only = ON")
            yield from _inside(opened, path, clock)
    except sqlite3.Error as error:
        yield Finding("database", "fail", translate(error, path).message)
    except StoreError as error:
        yield Finding("database", "fail", error.message)
    yield _live(live_folder(path))
    yield from _modes("secrets", [path.with_name(path.name + end) for end in _SECRETS])


def postgres(target: Database) -> Iterator[Finding]:
    """Whether a database in PostgreSQL can be used, and agrees with this machine about the time."""

    async def look(board: Callboard) -> tuple[int, int]:
        clock, count = board.clock, await board.log.last_sequence()
        return count, clock.offset_ms if isinstance(clock, SystemClock) else 0

    try:
        count, offset = target.look(look)
    except CallboardError as error:
        yield Finding("database", "fail", error.message)
        return
    yield Finding("database", "ok", f"{without_password(target.address or '')}, {count} events")
    yield _server_clock(offset)


def _server_clock(offset_ms: int) -> Finding:
    if abs(offset_ms) <= _NOTICEABLE_MS:
        return Finding("clock", "ok", "agrees with the database server's")
    differs = "behind" if offset_ms > 0 else "ahead of"
    said = f"{duration(abs(offset_ms) / 1000)} {differs} the database server's, which is used"
    return Finding("clock", "warn", said, "Synchronize both machines' clocks (NTP).")


def _absent(path: Path) -> Finding:
    users = sum(_is_held(lock) for lock in live_folder(path.resolve()).glob("*-*.lock"))
    if not users:
        return Finding("database", "ok", f"{path} does not exist yet; the first session creates it")
    said = f"{path} was deleted or moved while it was open {_times(users)}; they can't write now"
    todo = "Put it back and they resume. Otherwise stop them and restore a backup."
    return Finding("database", "fail", said, todo)


def _inside(opened: sqlite3.Connection, path: Path, clock: Clock) -> Iterator[Finding]:
    recognise(opened, path)
    (tables,) = opened.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        yield Finding("database", "ok", f"{path} is empty; the first session fills it")
        yield _clock_alone(clock)
        return
    yield _version(opened, path)
    yield _integrity(opened, path)
    yield _write_ahead(path)
    yield _clock(opened, clock)


def _version(opened: sqlite3.Connection, path: Path) -> Finding:
    (found,) = opened.execute("SELECT max(version) FROM migrations").fetchone()
    known = max(step.version for step in known_migrations())
    said = f"{path}, {amount(path.stat().st_size)}, schema {found}"
    if found > known:
        todo = "Install the newer Callboard that wrote it, or choose another path."
        return Finding("database", "fail", f"{said}; this Callboard supports {known}", todo)
    if found < known:
        todo = "Nothing to do: the next command upgrades it and keeps a copy next to it."
        return Finding("database", "warn", f"{said}; this Callboard has {known}", todo)
    return Finding("database", "ok", said)


def _integrity(opened: sqlite3.Connection, path: Path) -> Finding:
    (found,) = opened.execute("PRAGMA quick_check(1)").fetchone()
    if found == "ok":
        return Finding("integrity", "ok", "no errors found")
    todo = f"Keep a copy, restore a backup, or try: sqlite3 {shlex.quote(str(path))} .recover"
    return Finding("integrity", "fail", str(found).splitlines()[-1], todo)


def _write_ahead(path: Path) -> Finding:
    wal = path.with_name(path.name + "-wal")
    size = wal.stat().st_size if wal.exists() else 0
    if size <= _LARGE_WAL:
        return Finding("write-ahead log", "ok", amount(size))
    todo = "Find the program that keeps a transaction of this database open, and stop it."
    return Finding("write-ahead log", "warn", f"{amount(size)}: it is not being merged", todo)


def _clock(opened: sqlite3.Connection, clock: Clock) -> Finding:
    row = opened.execute("SELECT at FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    ahead = row[0] - clock.now_ms() if row else 0
    if ahead <= _TOLERANCE_MS:
        return _clock_alone(clock)
    said = f"the newest event is {duration(ahead // 1000)} in the future"
    return Finding("clock", "warn", said, "Set this machine's clock; deadlines depend on it.")


def _clock_alone(clock: Clock) -> Finding:
    if clock.now_ms() < _FIRST_EVENT_EVER:
        return Finding("clock", "fail", "it is years behind", "Set this machine's clock.")
    return Finding("clock", "ok", "in order")


def _live(folder: Path) -> Finding:
    """The folder where the database's processes meet."""
    if not folder.is_dir():
        return Finding("live folder", "ok", "no process has the database open")
    if folder.stat().st_mode & _OTHERS:
        todo = f"chmod 700 {shlex.quote(str(folder))}"
        return Finding("live folder", "warn", f"other users can read {folder}", todo)
    if not os.access(folder, os.W_OK | os.X_OK):
        todo = "Run Callboard as its owner, or change the owner to yourself."
        return Finding("live folder", "fail", f"{folder} cannot be written", todo)
    alive = sum(_is_held(lock) for lock in folder.glob("*-*.lock"))
    return Finding("live folder", "ok", f"the database is open {_times(alive)}")


def _times(count: int) -> str:
    return f"{counted(count, 'time')}, by running processes" if count else "nowhere"


def _is_held(lock: Path) -> bool:
    try:
        return is_held(lock)
    except OSError:
        return False


def _modes(check: str, files: list[Path]) -> Iterator[Finding]:
    there = [file for file in files if file.exists()]
    open_to_others = [file for file in there if file.stat().st_mode & _OTHERS]
    for file in open_to_others:
        todo = f"chmod 600 {shlex.quote(str(file))}"
        if check == "secrets":
            todo += ", and replace the tokens: other users may have read them"
        yield Finding(check, "warn", f"other users can open {file}", todo)
    if there and not open_to_others:
        yield Finding(check, "ok", "only you can open them")
