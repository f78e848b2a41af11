"""Bare sqlite3: the rows that our log has just written, written again with nothing around them.

Takes our database and the sizes of the commits that filled it. The rows are read beforehand,
encoded as they are; a new database gets the same schema, page size, WAL and synchronous=FULL; then
each commit is BEGIN, one executemany, COMMIT. With `--heads` the position of each stream is
brought up to date as well, as our log must.
"""

import argparse
import json
import sqlite3
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import scratch

COLUMNS = ("stream", "position", "id", "name", "version", "at", "caused_by", "payload")
INSERT = f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"


def replay(source: Path, target: Path, sizes: list[int], heads: bool) -> dict[str, Any]:
    old = sqlite3.connect(source)
    (page,) = old.execute("PRAGMA page_size").fetchone()
    schema = [
        sql
        for name, sql in old.execute("SELECT name, sql FROM sqlite_master ORDER BY rowid")
        if sql and not name.startswith("sqlite_")
    ]
    first = old.execute("SELECT count(*) FROM events").fetchone()[0] - sum(sizes)
    rows = old.execute(
        f"SELECT {', '.join(COLUMNS)} FROM events ORDER BY seq LIMIT -1 OFFSET ?", (first,)
    ).fetchall()
    streams = old.execute("SELECT key, id FROM streams").fetchall()
    old.close()
    assert len(rows) == sum(sizes), (len(rows), sum(sizes))

    new = sqlite3.connect(target, isolation_level=None)
    new.execute(f"PRAGMA page_size={page}")
    new.execute("PRAGMA journal_mode=WAL")
    new.execute("PRAGMA synchronous=FULL")
    for sql in schema:
        new.execute(sql)
    new.executemany("INSERT INTO streams (key, id, head, updated_at) VALUES (?, ?, 0, 0)", streams)
    rest = iter(rows)
    batches = [list(islice(rest, size)) for size in sizes]
    moves = [[(row[1], row[5], row[0]) for row in batch] for batch in batches]

    started = time.perf_counter()
    for batch, moved in zip(batches, moves, strict=True):
        new.execute("BEGIN IMMEDIATE")
        new.executemany(INSERT, batch)
        if heads:
            new.executemany("UPDATE streams SET head=?, updated_at=? WHERE key=?", moved)
        new.execute("COMMIT")
    seconds = time.perf_counter() - started
    new.close()
    return {"per_second": len(rows) / seconds, "seconds": seconds, "commits": len(sizes)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("sizes", type=Path, help="a file with the sizes of the commits, as JSON")
    parser.add_argument("--heads", action="store_true")
    options = parser.parse_args()
    with scratch() as folder:
        sizes = json.loads(options.sizes.read_text())
        print(json.dumps(replay(options.source, folder / "bare.db", sizes, options.heads)))


if __name__ == "__main__":
    main()
