"""Claims: 8 processes update status files 1,000 times a second together, and none is lost. Beside
it, what a hook costs: `import callboard.statusfiles`, and one hook that moves a phase, against
`python -I -S -c pass`.

For the first, each process updates a phase of its own in one workflow, as quickly as it can; each
update writes the truth under the lock, and the report too when that says something new, which is
each fiftieth. Afterwards every update has to be in the file. The others are whole processes,
started in turn many times; medians are compared.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from common import Result, Row, finish, progress, scratch, spread

BAR_RATE = 1_000
WRITERS = 8
PEER = "python -I -S -c pass"

WRITER = """
import sys
from callboard.statusfiles import update_phase_status

id, phase, count, root = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(count)):
    made = [] if number % 50 else [f"{phase}.{number}"]
    update_phase_status(id, phase, "active", made, str(number), path=root)
"""


def payload(number: int) -> bytes:
    """An agent that returns from the phase."""
    hook: dict[str, Any] = {
        "session_id": "5f1c7a52-0000-4000-8000-000000000001",
        "cwd": "/home/sam/shop",
        "hook_event_name": "PostToolUse",
        "tool_name": "Agent",
        "tool_use_id": f"toolu_{number}",
        "tool_input": {"subagent_type": "maker", "prompt": f"Phase ID: phase_{number}\nMake it"},
        "tool_response": {"status": "completed", "content": [{"type": "text", "text": "made"}]},
    }
    return json.dumps(hook).encode()


def took(command: list[str], body: bytes, env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, input=body, env=env, check=True, stdout=subprocess.DEVNULL)
    return 1000 * (time.perf_counter() - began)


def processes(rounds: int) -> dict[str, list[float]]:
    from callboard.statusfiles import create_workflow_state, get_workflow_state, hook

    python = os.path.realpath(sys.executable)
    source = Path(hook.__file__).parents[2]
    loading = f"import sys; sys.path.insert(0, {str(source)!r}); import callboard.statusfiles"
    with scratch() as folder:
        phases = [{"title": f"p{n}", "agent": "maker", "depends_on": []} for n in range(rounds + 5)]
        create_workflow_state("the task", phases, path=folder)
        idle = folder / "idle"
        idle.mkdir()
        commands = {
            "python": ([python, "-I", "-S", "-c", "pass"], folder),
            "import": ([python, "-I", "-S", "-c", loading], folder),
            "hook": ([python, "-I", "-S", hook.__file__], folder),
            "no workflow": ([python, "-I", "-S", hook.__file__], idle),
        }
        samples: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(rounds + 5):
            for name, (command, root) in commands.items():
                one = took(command, payload(number), {"CLAUDE_PROJECT_DIR": str(root)})
                if number >= 5:  # so that everything is compiled, and in the cache
                    samples[name].append(one)
        workflow = get_workflow_state(path=folder)
    if workflow is None or workflow["status"] != "completed":
        raise RuntimeError("a hook did not move its phase")
    return samples


def rate(count: int) -> float:
    """Updates a second by all writers together."""
    from callboard.statusfiles import create_workflow_state, get_workflow_state

    with scratch() as folder:
        phases = [(f"p{number}", "maker") for number in range(WRITERS)]
        id = create_workflow_state("the task", phases, path=folder)
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, id, f"phase_{number}", str(count), str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(WRITERS)
        ]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        began = time.perf_counter()
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("\n")
            writer.stdin.flush()
        codes = [writer.wait() for writer in writers]
        seconds = time.perf_counter() - began
        workflow = get_workflow_state(path=folder)
    assert workflow is not None
    for phase in workflow["phases"]:
        made = [f"{phase['id']}.{number}" for number in range(0, count, 50)]
        if phase["deliverables"] != made or phase["context_for_next"] != str(count - 1):
            raise RuntimeError(f"updates were lost: {phase}")
    if any(codes):
        raise RuntimeError(f"writers failed: {codes}")
    return WRITERS * count / seconds


def measure(quick: bool = False) -> Result:
    rounds, count, repeats = (20, 100, 1) if quick else (200, 1_000, 5)
    progress("status files: processes")
    samples = processes(rounds)
    middle = {name: statistics.median(found) for name, found in samples.items()}
    progress("status files: updates")
    rates = [rate(count) for _ in range(repeats)]
    found = statistics.median(rates)

    def row(claim: str, name: str) -> Row:
        peer = f"{middle['python']:.1f} ms ({PEER})"
        ratio = f"{middle[name] / middle['python']:.2f}×"
        return Row(claim, "–", f"{middle[name]:.1f} ms", peer, ratio, None)

    return Result(
        "status_files",
        rows=[
            Row(
                f"updates of status files by {WRITERS} processes, none lost",
                f"≥ {BAR_RATE:,}/s",
                f"{found:,.0f}/s",
                "–",
                "–",
                found >= BAR_RATE,
            ),
            row("`import callboard.statusfiles`", "import"),
            row("a hook that moves a phase", "hook"),
            row("a hook where there is no workflow", "no workflow"),
        ],
        notes=[
            f"{repeats} × {WRITERS} × {count:,} updates; {rounds} processes of each kind, in turn.",
            "An update waits for the disk unless another did within the last half a second.",
        ],
        data={"rates": rates, "ms": {name: spread(one) for name, one in samples.items()}},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    finish(measure(parser.parse_args().quick))


if __name__ == "__main__":
    main()
