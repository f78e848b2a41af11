"""Workflows one after the other in several lanes, in one process or in several that start together.

Only the standard library, as in `common`: the scripts in `peers/` use it too.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from common import QUIET


def wait_for_start() -> None:
    """Say that everything is warm, and wait until the others are too."""
    print(json.dumps({"ready": True}), flush=True)
    sys.stdin.readline()


def _figures(done: int, began: float, busy: float, waited: float) -> dict[str, Any]:
    return {
        "done": done,
        "started": began,
        "ended": time.monotonic(),
        "busy": time.process_time() - busy,
        "waited": _waited() - waited,
    }


def _waited() -> float:
    """Seconds for which our threads could have run, and had no processor."""
    files = Path("/proc/self/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[1]) for file in files) / 1e9


async def run_lanes(
    once: Callable[[int], Awaitable[None]],
    width: int,
    count: int,
    warm: int,
    warmed: Callable[[], object] = lambda: None,
) -> dict[str, Any]:
    """Run `count` workflows, `width` at a time; `once` gets the number of its lane.

    `warmed` is called when what follows counts.
    """

    async def lane(number: int, runs: int) -> None:
        for _ in range(runs):
            await once(number)

    await asyncio.gather(*(lane(number, max(1, warm // width)) for number in range(width)))
    await asyncio.to_thread(wait_for_start)
    each = max(1, count // width)
    warmed()
    began, busy, waited = time.monotonic(), time.process_time(), _waited()
    await asyncio.gather(*(lane(number, each) for number in range(width)))
    return _figures(each * width, began, busy, waited)


def run_threads(once: Callable[[], object], width: int, count: int, warm: int) -> dict[str, Any]:
    """The same with threads."""
    with ThreadPoolExecutor(width) as pool:
        list(pool.map(lambda _: once(), range(max(width, warm))))
        wait_for_start()
        began, busy, waited = time.monotonic(), time.process_time(), _waited()
        list(pool.map(lambda _: once(), range(count)))
        return _figures(count, began, busy, waited)


def together(
    commands: Sequence[Sequence[str]], meanwhile: AbstractContextManager[object] | None = None
) -> dict[str, Any]:
    """Run processes whose lanes start at the same time, and end; gives their rate together."""
    processes = [
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **QUIET},
        )
        for command in commands
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            if "ready" not in process.stdout.readline():
                raise RuntimeError(f"{process.args} failed:\n{process.communicate()[1][-4000:]}")
        with meanwhile or nullcontext():
            for process in processes:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
            found = [_last_line(process) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    done = sum(one["done"] for one in found)
    seconds = max(one["ended"] for one in found) - min(one["started"] for one in found)
    busy = sum(one["busy"] for one in found)
    sums = {name: sum(one.get(name, 0) for one in found) for name in ("commits", "events")}
    return {
        "per_second": done / seconds,
        "cpu_ms": 1000 * busy / done,
        "seconds": seconds,
        "done": done,
        "waited_ms": 1000 * sum(one["waited"] for one in found),
        **sums,
    }


def _last_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    said, errors = process.communicate(timeout=600)
    if process.returncode != 0:
        raise RuntimeError(f"{process.args} failed:\n{errors[-4000:]}")
    return json.loads(said.strip().splitlines()[-1])
