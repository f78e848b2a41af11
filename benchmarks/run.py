"""Run the benchmarks and write RESULTS.md: `python benchmarks/run.py [name ...] [--quick]`.

Names: workflows, appends, storage, answer, state_at; of the server streams, http_answer, waiting,
recovery, load, help; of the dashboard first_paint; of the React package react; of the board hooks,
real_hooks and status_files; all of them when none is given. `--quick` takes fewer rounds and
smaller loads, for a look while working, and leaves out load unless it is named.
Only a full run writes RESULTS.md; any other goes to RESULTS-partial.md.
"""

import argparse
import importlib
import json
import os
import sys
import time
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from common import HERE, Result, call, commit, machine, peers_python, progress, stolen, table

NAMES = ["workflows", "appends", "storage", "answer", "state_at"]
NAMES += ["streams", "http_answer", "waiting", "recovery", "load", "help", "first_paint", "react"]
NAMES += ["many_sessions", "hooks", "real_hooks", "status_files"]
LONG = {"load"}
PEER_PACKAGES = ["langgraph", "langgraph-checkpoint-sqlite", "dbos", "fastapi", "sse-starlette"]
PICTURES = {
    "storage": ("Cost per step", "cost_per_step.png"),
    "load": ("Memory under load", "memory.png"),
}


def page(results: list[Result], about: dict[str, Any], command: str, quick: bool) -> str:
    rows = [row for result in results for row in result.rows]
    judged = [row for row in rows if row.met is not None]
    busy = about["load_before"] > 0.7 * about["cores"]  # afterwards our own load is in it
    lines = [
        "# Benchmark results",
        "",
        "Written by `benchmarks/run.py`; every figure comes from the run that is described here.",
        "",
        f"- Date: {about['date']}",
        f"- Commit: {about['commit']}",
        f"- Command: `{command}`" + (" (quick: fewer rounds, smaller loads)" if quick else ""),
        f"- Machine: {about['cores']} cores ({about['cpu']}), {about['memory_gb']} GB, "
        f"{about['system']}, {about['filesystem']}",
        f"- Python {about['python']}, SQLite {about['sqlite']}; peers: {about['peers']}",
        f"- Floor of the disk in this run: {about['fsync_per_s']:,.0f} fsync/s before and "
        f"{about['after']['fsync_per_s']:,.0f} after, {about['commits_per_s']:,.0f} and "
        f"{about['after']['commits_per_s']:,.0f} bare SQLite commits/s (WAL, synchronous=FULL)",
        f"- Took {about['seconds'] / 60:.1f} minutes; load {about['load_before']:.1f} before and "
        f"{about['after']['load_before']:.1f} after; the host took {about['stolen']:.1%} of the "
        "processors' time"
        + (
            ". The machine was busy with other work: read the ratios, not the rates" if busy else ""
        ),
        "",
        f"{sum(bool(row.met) for row in judged)} of {len(judged)} bars met. "
        "Rows without a bar are there to judge by.",
        "",
        table(rows),
        "",
        "## What must be said with them",
        "",
    ]
    for result in results:
        lines += [f"**{result.name}**", "", *(f"- {note}" for note in result.notes), ""]
        title, picture = PICTURES.get(result.name, ("", ""))
        if picture and (HERE / picture).exists():
            lines += [f"![{title}]({picture})", ""]
    return "\n".join(lines)


def peer_versions() -> str:
    script = HERE / "peers" / "versions.py"
    versions = call(peers_python(), script, *PEER_PACKAGES)
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="name")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path, help="also write all figures there")
    options = parser.parse_args()
    usual = [name for name in NAMES if not (options.quick and name in LONG)]
    names = options.names or usual
    started, stolen_before = time.perf_counter(), stolen()
    about = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "callboard": metadata.version("callboard"),
        "peers": peer_versions(),
        **machine(),
    }
    results, failures = [], []
    for name in names:
        try:
            results.append(importlib.import_module(name).measure(options.quick))
        except Exception as error:
            failures.append(name)
            progress(f"{name} failed: {error}")
    about["after"] = machine()
    about["seconds"] = time.perf_counter() - started
    about["stolen"] = (stolen() - stolen_before) / about["seconds"] / about["cores"]
    command = " ".join(
        ["python", "benchmarks/run.py", *options.names, *(["--quick"] if options.quick else [])]
    )
    full = not options.quick and not options.names and not failures
    target = HERE / ("RESULTS.md" if full else "RESULTS-partial.md")
    text = page(results, about, command, options.quick)
    target.write_text(text)
    print(text)
    if options.json:
        options.json.write_text(
            json.dumps({"about": about, "results": [result.as_json() for result in results]})
        )
    if failures:
        sys.exit(f"failed: {', '.join(failures)}")


if __name__ == "__main__":
    os.chdir(HERE)
    main()
