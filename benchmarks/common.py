"""What every benchmark shares: content, clocks, cold caches, and running the two sides in turn.

Only the standard library is used here, because the scripts in `peers/` import it too and they run
in an environment of their own.
"""

import argparse
import json
import math
import os
import platform
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = HERE / "peers"

# JSON text carries at most one of these per byte without an escape: printable ASCII but for the
# quote and the backslash. 93 symbols drawn evenly are 6.54 bits per byte, the densest text that
# JSON can hold (base64 has 6).
ALPHABET = "".join(chr(c) for c in range(0x20, 0x7F) if chr(c) not in '"\\')


# Every byte below 186 stands for one of the 93 symbols, twice over; the others are thrown away, so
# that all symbols are equally likely and a text takes microseconds to make.
_TABLE = bytes(ord(ALPHABET[byte % 93]) for byte in range(256))
_THROWN = bytes(range(186, 256))


def random_text(rng: random.Random, size: int) -> str:
    """`size` characters, one byte each in UTF-8, that no compressor takes below 82 %."""
    text = b""
    while len(text) < size:
        text += rng.randbytes(size * 3 // 2 + 16).translate(_TABLE, _THROWN)
    return text[:size].decode()


clock = time.process_time if os.environ.get("CALLBOARD_BENCH_CLOCK") == "cpu" else time.perf_counter
"""CALLBOARD_BENCH_CLOCK=cpu counts processor time, for a look on a machine that others use too."""

WORDS = ["state", "session", "agents", "people", "said", "found", "because", "of", "the", "a"]


def large_content(kind: str, size: int) -> list[Any]:
    """`size` bytes of random text in elements of 2,000, or so many messages of a dozen words."""
    rng = random.Random(1)
    if kind == "text":
        return [random_text(rng, min(2000, size - at)) for at in range(0, size, 2000)]
    return [
        {
            "role": rng.choice(["user", "agent"]),
            "content": f"{' '.join(rng.choices(WORDS, k=12))} {rng.random()}",
            "at": number,
        }
        for number in range(size)
    ]


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` of all values do not exceed (nearest rank)."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]


def spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "n": len(values),
        "p50": statistics.median(values),
        "p90": percentile(values, 0.90),
        "p99": percentile(values, 0.99),
        "max": max(values),
        "mean": statistics.fmean(values),
    }


def folder_bytes(folder: Path) -> int:
    """All files of a folder, so that -wal, -shm and whatever else a side keeps beside its database
    count.
    """
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def stolen() -> float:
    """Seconds of processor time that the host has given to others, since the machine started; 0
    where there is no host, or it does not tell.
    """
    with suppress(OSError, IndexError):
        fields = Path("/proc/stat").read_text().splitlines()[0].split()
        return int(fields[8]) / os.sysconf("SC_CLK_TCK")
    return 0.0


QUIET_SHARE = 0.002
"""How much of the processors' time a host may take in a round that is called quiet.

Of two processors, one is then away for 0.4 % of the time: well below the 1 % that a p99 shows.
"""


def quietest(
    rounds: int, most: int, measure: Callable[[], dict[str, float]]
) -> list[dict[str, float]]:
    """The rounds during which the host took the least from this machine, each with its share.

    A server cannot answer while its processor is taken away, so where a host is shared, latencies
    show its other guests. Rounds are chosen by what the host took, never by what they gave:
    there are more than are wanted, up to `most`, until enough of them were quiet.
    """
    found: list[dict[str, float]] = []
    while len(found) < most and sum(one["stolen"] <= QUIET_SHARE for one in found) < rounds:
        before, began = stolen(), time.perf_counter()
        figures = measure()
        spent = (time.perf_counter() - began) * (os.cpu_count() or 1)
        found.append({**figures, "stolen": (stolen() - before) / spent})
    return sorted(found, key=lambda one: one["stolen"])[:rounds]


def data_folder() -> Path:
    """Where databases are made: CALLBOARD_BENCH_DATA, or the system's temporary folder."""
    return Path(os.environ.get("CALLBOARD_BENCH_DATA") or tempfile.gettempdir())


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="callboard-bench-", dir=data_folder()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def on_a_fresh_database(options: argparse.Namespace, work: Callable[[Path], None]) -> None:
    """Do the work of one side here, or in two new processes if its case is `cold`.

    The first of the two prints what is waiting, as JSON, and the other gets it as `--resume`. They
    share a database, and so they have a `--path`.
    """
    if options.path is not None:
        work(options.path)
        return
    with scratch() as folder:
        path = folder / "bench.db"
        if options.case != "cold":
            work(path)
            return
        again = [sys.executable, *sys.argv, f"--path={path}"]
        made = subprocess.run(again, check=True, capture_output=True, text=True)
        waiting = ",".join(json.loads(made.stdout))
        subprocess.run([*again, f"--resume={waiting}"], check=True)


def drop_caches(folder: Path) -> str:
    """Forget what the operating system has cached of the files in `folder`; says how that was done.

    Only these files are dropped, so that others on the machine keep their caches. With
    CALLBOARD_BENCH_DROP_ALL=1, and the right to do so, everything is.
    """
    how = "not possible here: only the process's own caches were cold"
    if hasattr(os, "posix_fadvise"):
        for path in folder.rglob("*"):
            if path.is_file() and path.stat().st_size:
                handle = os.open(path, os.O_RDWR)
                try:
                    os.fsync(handle)  # pages that are not on the disk yet cannot be dropped
                    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
                finally:
                    os.close(handle)
        how = "pages of the database dropped from the operating system's cache (posix_fadvise)"
    if os.environ.get("CALLBOARD_BENCH_DROP_ALL") == "1":
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
        how = "all caches of the operating system dropped (drop_caches=3)"
    return how


def cached_bytes(path: Path) -> int | None:
    """How much of a file the operating system still holds in memory (fincore), to check that cold
    means cold.
    """
    fincore = shutil.which("fincore")
    if fincore is None:
        return None
    done = subprocess.run(
        [fincore, "--bytes", "--noheadings", "--output", "RES", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    return int(done.stdout.strip() or 0) if done.returncode == 0 else None


# -------------------------------------------------------------------------------------------------
# The two sides of a comparison


def peers_python() -> Path:
    """The interpreter of the peers' environment: CALLBOARD_BENCH_PEERS, or .venv-peers beside this
    folder.
    """
    named = os.environ.get("CALLBOARD_BENCH_PEERS")
    python = Path(named) if named else ROOT / ".venv-peers" / "bin" / "python"
    if not python.exists():
        raise SystemExit(
            "The peers are not installed. Run `make bench`, or: python -m venv .venv-peers && "
            ".venv-peers/bin/pip install -r requirements/bench-peers.txt"
        )
    return python


QUIET = {
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "DO_NOT_TRACK": "1",
    "PYTHONHASHSEED": "0",
}


def call(
    python: Path | str, script: Path, *arguments: str, timeout: float = 3600
) -> dict[str, Any]:
    """Run one side in a process of its own and return the JSON object on the last line of what it
    prints.
    """
    done = subprocess.run(
        [str(python), str(script), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **QUIET},
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"{script.name} {' '.join(arguments)} failed:\n"
            f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )
    return json.loads(done.stdout.strip().splitlines()[-1])


@dataclass(frozen=True)
class Side:
    """One contender: a script, the interpreter that runs it, and its arguments."""

    name: str
    script: Path
    arguments: tuple[str, ...] = ()
    peer: bool = True

    def run(self, *more: str) -> dict[str, Any]:
        return call(
            peers_python() if self.peer else sys.executable, self.script, *self.arguments, *more
        )


def alternate(
    sides: Sequence[Side], rounds: int, *more: str, say: Callable[[str], None] | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Every side once, then every side again, `rounds` times: what disturbs the machine disturbs
    them all.
    """
    results: dict[str, list[dict[str, Any]]] = {side.name: [] for side in sides}
    for number in range(rounds):
        for side in sides:
            result = side.run(*more)
            results[side.name].append(result)
            (say or progress)(f"  round {number + 1}/{rounds}  {side.name}: {brief(result)}")
    return results


def brief(result: dict[str, Any]) -> str:
    shown = {
        key: value
        for key, value in result.items()
        if isinstance(value, int | float) and key != "seconds"
    }
    return ", ".join(f"{key} {value:,.6g}" for key, value in list(shown.items())[:6])


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# -------------------------------------------------------------------------------------------------
# Results


@dataclass
class Row:
    """One line of RESULTS.md."""

    claim: str
    bar: str
    ours: str
    peer: str
    ratio: str
    met: bool | None  # None: shown beside a claim, without a bar of its own

    def cells(self) -> list[str]:
        met = {True: "yes", False: "**no**", None: "–"}[self.met]
        return [self.claim, self.bar, self.ours, self.peer, self.ratio, met]


@dataclass
class Result:
    """What one benchmark found: its rows, what must be said with them, and all figures."""

    name: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rows": [vars(row) for row in self.rows],
            "notes": self.notes,
            "data": self.data,
        }


HEAD = ["claim", "bar", "ours", "peer", "ratio", "met?"]


def table(rows: Sequence[Row]) -> str:
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row.cells()) + " |" for row in rows
    ]
    return "\n".join(lines)


def finish(result: Result) -> None:
    """What a benchmark prints when it is run alone: the table, the notes, and then all figures as
    one line of JSON.
    """
    print(table(result.rows))
    for note in result.notes:
        print(f"\n- {note}")
    print()
    print(json.dumps(result.as_json()))


# -------------------------------------------------------------------------------------------------
# The machine


def fsyncs_per_second(folder: Path, seconds: float = 1.0) -> float:
    """Bare 4 KB writes, each made durable by fdatasync: the floor under everything that is called
    durable here.
    """
    path = folder / "fsync-floor"
    handle = os.open(path, os.O_CREAT | os.O_WRONLY)
    block, count = os.urandom(4096), 0
    try:
        os.pwrite(handle, bytes(1024 * 4096), 0)  # so that no later write makes the file longer
        os.fsync(handle)
        started = time.perf_counter()
        while (elapsed := time.perf_counter() - started) < seconds:
            os.pwrite(handle, block, count % 1024 * 4096)
            os.fdatasync(handle)
            count += 1
        return count / elapsed
    finally:
        os.close(handle)
        path.unlink()


def commits_per_second(folder: Path, seconds: float = 1.0) -> float:
    """Bare one-row commits of sqlite3 in WAL with synchronous=FULL."""
    path = folder / f"commit-floor-{time.perf_counter_ns()}.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)")
    body, count = "x" * 200, 0
    started = time.perf_counter()
    while (elapsed := time.perf_counter() - started) < seconds:
        db.execute("INSERT INTO t (body) VALUES (?)", (body,))
        count += 1
    db.close()
    return count / elapsed


def machine() -> dict[str, Any]:
    with scratch() as folder:
        floors = [
            (fsyncs_per_second(folder, 0.5), commits_per_second(folder, 0.5)) for _ in range(3)
        ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in _lines("/proc/cpuinfo")
            if line.lower().startswith(("model name", "hardware"))
        ),
        platform.machine(),
    )
    return {
        "cores": os.cpu_count(),
        "cpu": model,
        "memory_gb": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "filesystem": _filesystem(data_folder()),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "fsync_per_s": statistics.median(f for f, _ in floors),
        "commits_per_s": statistics.median(c for _, c in floors),
        "load_before": os.getloadavg()[0],
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def _filesystem(folder: Path) -> str:
    best = ("", "unknown")
    for line in _lines("/proc/mounts"):
        _, mount, kind, *_ = line.split()
        if str(folder).startswith(mount) and len(mount) >= len(best[0]):
            best = (mount, kind)
    return best[1]


def commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
        ).stdout

    name = git("rev-parse", "--short", "HEAD").strip() or "none"
    return (
        f"{name} (with uncommitted changes in src)"
        if git("status", "--porcelain", "--", "src").strip()
        else name
    )
