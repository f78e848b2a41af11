"""Databases of every released schema, and processes that are killed while they migrate them.

Run as a script: `migrating.py FOLDER VERSION EVERY`. It forks a process for each point at which one
can be killed, and says what it saw, a line of JSON each.
"""

import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from callboard.log.sqlite import backup as sqlite_backup
from callboard.log.sqlite import setup as sqlite_setup
from callboard.log.sqlite.file import connect, create_private, prepare
from callboard.log.sqlite.log import SqliteLog
from callboard.log.sqlite.migrate import known_migrations, migrate

NEWEST = len(known_migrations())
_OPS = 40
"""Between two statements there is a point at which to be killed after so many steps of SQLite."""


def build(path: Path, version: int) -> None:
    """A database as a Callboard of that schema left it, with something in every table."""
    create_private(path)
    with closing(connect(path)) as database:
        prepare(database, path)
        migrate(database, path, 1, known_migrations()[:version])
        database.execute("BEGIN")
        database.execute(
            "INSERT INTO streams (key, id, base, base_position, head, updated_at) "
            "VALUES (1, 'parent', NULL, 0, 90, 7), (2, 'child', 1, 2, 3, 8)"
        )
        database.executemany(
            "INSERT INTO events (stream, position, id, name, version, at, payload) "
            "VALUES (?, ?, ?, 'happened', 1, 7, ?)",
            [(1, at, f"a{at}", b'{"x": "%s"}' % (b"x" * 400)) for at in range(1, 91)]
            + [(2, 3, "b3", b"{}")],
        )
        for table in tables(database):
            if table not in ("streams", "events", "migrations"):
                _fill(database, table)
        database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _fill(database: sqlite3.Connection, table: str) -> None:
    columns = [
        row for row in database.execute(f"PRAGMA table_xinfo({table})").fetchall() if not row[6]
    ]
    for number in range(30):
        values = [_value(name, kind, number) for _, name, kind, *_ in columns]
        marks = ", ".join("?" * len(columns))
        names = ", ".join(f'"{one[1]}"' for one in columns)
        database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)


def _value(name: str, kind: str, number: int) -> object:
    if name == "status":
        return ("pending", "completed", "approved")[number % 3]
    return number if kind == "INTEGER" else f"{name}-{number}"


def tables(database: sqlite3.Connection) -> list[str]:
    found = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return sorted(name for (name,) in database.execute(found))


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as database:
        found = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
        return database.execute(found).fetchall()


def contents(path: Path, like: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row, in the columns that another database has."""
    with closing(sqlite3.connect(like)) as older, closing(sqlite3.connect(path)) as database:
        found: dict[str, list[tuple[Any, ...]]] = {}
        for table in tables(older):
            if table != "migrations":
                columns = older.execute(f"PRAGMA table_xinfo({table})").fetchall()
                names = ", ".join(f'"{one[1]}"' for one in columns if not one[6])
                rows = database.execute(f"SELECT {names} FROM {table}").fetchall()
                found[table] = sorted(rows, key=repr)
        return found


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        (version,) = database.execute("SELECT max(version) FROM migrations").fetchone()
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return version


def copies(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}.before-migration-*"))


def in_a_process(work: Callable[[], None]) -> int:
    """What became of a process that did something: 0, or the signal that killed it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at(path: Path, point: int) -> Callable[[], None]:
    """Open the database, and be killed at a point."""

    def work() -> None:
        left = point

        def passing(*_: object) -> int:
            nonlocal left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return 0

        def traced(file: Path, **more: Any) -> sqlite3.Connection:
            database = connect(file, **more)
            database.set_trace_callback(passing)
            database.set_progress_handler(passing, _OPS)
            return database

        for module in (sqlite_setup, sqlite_backup):
            module.connect = traced  # type: ignore[assignment]
        SqliteLog.open(path).crash()

    return work


def go(folder: Path, version: int, every: int) -> Iterator[dict[str, Any]]:
    """Kill at every so-manyth point until one process comes through."""
    original = folder / "original.db"
    build(original, version)
    point = 0
    while True:
        here = folder / str(point)
        here.mkdir()
        path = here / "x.db"
        shutil.copy(original, path)
        code = in_a_process(killed_at(path, point))
        between = version_of(path)
        yield {
            "point": point,
            "code": code,
            "between": between,
            "as_released": sorted(schema(path)) == sorted(_released(folder, between)),
            "kept": contents(path, original) == contents(original, original),
            **_opened_again(path, original),
        }
        shutil.rmtree(here)
        if code == 0:
            return
        point += every


def _released(folder: Path, version: int) -> list[tuple[str, str]]:
    path = folder / f"released-{version}.db"
    if not path.exists():
        build(path, version)
    return schema(path)


def _opened_again(path: Path, original: Path) -> dict[str, Any]:
    code = in_a_process(lambda: SqliteLog.open(path).crash())
    return {
        "again": code,
        "after": version_of(path),
        "intact": contents(path, original) == contents(original, original),
        "whole_copies": all(version_of(copy) < NEWEST for copy in copies(path)),
        "private": all(one.stat().st_mode & 0o077 == 0 for one in path.parent.iterdir()),
        "halves": [one.name for one in path.parent.glob("*.part*")],
    }


if __name__ == "__main__":
    for told in go(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])):
        print(json.dumps(told), flush=True)
