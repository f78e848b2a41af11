"""Bare SQL: the rows that our log has just written to PostgreSQL, written again by psycopg alone.

Takes our database, an empty one with the same schema, and the sizes of our commits. The rows are
read beforehand, and made into arrays; then each commit is one statement: the one that our log uses,
or with `--inserts` only an INSERT of the events.
"""

import argparse
import json
import time
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg

COLUMNS = "stream, position, id, name, version, at, caused_by, payload"
TYPES = ("bigint", "bigint", "bytea", "text", "bigint", "bigint", "bytea", "bytea")
# The payloads in binary, as our log sends them.
ARRAYS = ", ".join(f"%s::{one}[]" for one in TYPES[:-1]) + ", %b::bytea[]"
MOVES = ("bigint", "bigint", "text", "bigint", "bigint", "bigint", "text", "bigint", "bigint")
SAME = (
    f"SELECT move_streams({', '.join(f'%s::{one}[]' for one in (*MOVES, 'bigint'))}), "
    f"write_events({ARRAYS})"
).encode()
INSERT = (
    f"INSERT INTO events (seq, {COLUMNS}) SELECT * FROM unnest(%s::bigint[], {ARRAYS})"
).encode()

Values = list[list[Any]]


def read(source: str, count: int) -> tuple[list[tuple[Any, ...]], list[tuple[int, str]]]:
    with psycopg.connect(source) as old:
        sql = f"SELECT seq, {COLUMNS} FROM events ORDER BY seq DESC LIMIT {count}".encode()
        rows = old.execute(sql).fetchall()[::-1]
        streams = old.execute("SELECT key, id FROM streams").fetchall()
    assert len(rows) == count
    return rows, streams


def moves(batch: list[tuple[Any, ...]]) -> Values:
    """What becomes of the streams: each gets one event."""
    none, zero = [None] * len(batch), [0] * len(batch)
    keys, heads = [row[1] for row in batch], [row[2] for row in batch]
    before = [head - 1 for head in heads]
    return [keys, before, none, zero, zero, heads, none, zero, zero, [row[6] for row in batch]]


def replay(source: str, target: str, sizes: list[int], only_inserts: bool) -> dict[str, Any]:
    rows, streams = read(source, sum(sizes))
    rest = iter(rows)
    batches = [list(islice(rest, size)) for size in sizes]
    sql = INSERT if only_inserts else SAME
    columns = [[list(column) for column in zip(*batch, strict=True)] for batch in batches]
    groups = (
        columns
        if only_inserts
        else [[*moves(batch), *told[1:]] for batch, told in zip(batches, columns, strict=True)]
    )
    first = {key: min(row[2] for row in rows if row[1] == key) - 1 for key, _ in streams}
    with psycopg.connect(target, autocommit=True) as new:
        with new.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO streams (key, id, head, updated_at) VALUES (%s, %s, %s, 0)",
                [(key, id, first[key]) for key, id in streams],
            )
        started = time.perf_counter()
        for values in groups:
            new.execute(sql, values)
        seconds = time.perf_counter() - started
    return {"per_second": len(rows) / seconds, "seconds": seconds, "commits": len(sizes)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("sizes", type=Path, help="a file with the sizes of the commits, as JSON")
    parser.add_argument("--inserts", action="store_true")
    options = parser.parse_args()
    sizes = json.loads(options.sizes.read_text())
    print(json.dumps(replay(options.source, options.target, sizes, options.inserts)))


if __name__ == "__main__":
    main()
