"""What holds back processes that write to one PostgreSQL: watched while they do.

The processes that append ("writers") are looked at many times a second: whether they wait for the
row that counts the sequence, which is locked until a commit is on the disk, or for the disk itself,
or work. No other row is wanted by two processes here. How long PostgreSQL's processes ran, and how
long they could have run but had no processor, is what the system says of each.
"""

import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
from common import progress
from databases import PostgresServer, pids

EVERY = 0.02
_LOOK = """
SELECT state, wait_event_type, wait_event FROM pg_stat_activity
WHERE application_name = 'callboard writer' AND datname = current_database()
"""

UNCOUNTED = """
ALTER TABLE log RENAME TO log_before;
CREATE SEQUENCE uncounted INCREMENT 1024 START 1024;
CREATE VIEW log AS SELECT single, (SELECT last_value FROM uncounted) AS seq, incarnation
FROM log_before;
CREATE OR REPLACE FUNCTION write_events(
    streams bigint[], positions bigint[], ids bytea[], names text[], versions bigint[],
    times bigint[], causes bytea[], payloads bytea[]
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    last bigint := nextval('uncounted');
BEGIN
    INSERT INTO events (seq, stream, position, id, name, version, at, caused_by, payload)
    SELECT
        last - cardinality(positions) + new.place,
        new.stream, new.position, new.id, new.name, new.version, new.at, new.caused_by, new.payload
    FROM unnest(streams, positions, ids, names, versions, times, causes, payloads)
        WITH ORDINALITY
        AS new (stream, position, id, name, version, at, caused_by, payload, place);
    RETURN last;
END
$$;
"""
"""A sequence in place of the counter's row: no one waits for it, and tails can miss events."""


def kind_of(state: str | None, kind: str | None, event: str | None) -> str:
    """What a writer does: `idle`, `row`, `wal`, `other`, or `works`, maybe without a processor."""
    if state != "active" or event == "ClientRead":
        return "idle"
    if kind == "Lock" and event in ("transactionid", "tuple"):
        return "row"
    if kind is None:
        return "works"
    return "wal" if str(event).startswith("WAL") else "other"


class Watch:
    """Looks at a database's writers in a thread of its own, from `with` until its end."""

    def __init__(self, server: PostgresServer, url: str) -> None:
        self._server = server
        self._url = url
        self._seen: Counter[str] = Counter()
        self._ran: dict[int, tuple[int, int]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "Watch":
        self._before = self._processes()
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as link:
            self._own = link.info.backend_pid
            while not self._ended.wait(EVERY):
                for row in link.execute(_LOOK):
                    self._seen[kind_of(*row)] += 1
                self._ran |= self._processes()
            self._took = time.monotonic() - self._began

    def _processes(self) -> dict[int, tuple[int, int]]:
        """Nanoseconds that PostgreSQL's processes ran, and waited for a processor."""
        found: dict[int, tuple[int, int]] = {}
        for pid in pids(self._server):
            with suppress(OSError):  # It has just ended.
                ran, waited, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
                found[pid] = int(ran), int(waited)
        return found

    def found(self) -> dict[str, Any]:
        """Shares of the writers' time, and milliseconds of PostgreSQL's processes."""
        looks = max(1, self._seen.total())
        grown = [
            (ran - self._before.get(pid, (0, 0))[0], waited - self._before.get(pid, (0, 0))[1])
            for pid, (ran, waited) in self._ran.items()
            if pid != self._own
        ]
        return {
            "writers": {kind: seen / looks for kind, seen in self._seen.items()},
            "looks": self._seen.total(),
            "backend_ms": sum(ran for ran, _ in grown) / 1e6,
            "backend_waited_ms": sum(waited for _, waited in grown) / 1e6,
            "watched": self._took,
        }


def told(name: str, run: dict[str, Any], cores: int) -> str:
    """One run in a few words."""
    writers, done, seconds = run["writers"], run["done"], run["seconds"]

    def share(kind: str) -> str:
        return f"{writers.get(kind, 0):.0%}"

    processor = (run["cpu_ms"] * done + run["backend_ms"]) / 1000 / seconds / cores
    said = (
        f"{name}: {run['per_second']:,.0f}/s in {run['commits'] / seconds:,.0f} commits/s of "
        f"{run['events'] / run['commits']:.1f} events; a writer waits {share('row')} of its time "
        f"for the counter's row, {share('wal')} for the WAL, {share('other')} for something else, "
        f"works {share('works')}, and has no group {share('idle')}; a workflow takes "
        f"{run['cpu_ms']:.1f} ms of our processor time and {run['backend_ms'] / done:.1f} ms of "
        f"PostgreSQL's, {processor:.0%} of all cores; without a processor it waits "
        f"{run['waited_ms'] / done:.1f} ms with us and {run['backend_waited_ms'] / done:.1f} ms "
        "with PostgreSQL"
    )
    progress(f"  {said}")
    return said
