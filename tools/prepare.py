"""prepare.py MAKE UI: set up what `make run` needs, Python and Node at the same time.

Each step is a target of the Makefile, so a step that is up to date takes no time. This file runs on
older Pythons too: one that is too old has to be told so by its step.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

VENV = ".venv"
WIDTH = 78
TICK = 0.2


class Step:
    """One line of progress, and the targets behind it."""

    def __init__(self, label: str, *targets: str) -> None:
        self.label = label
        self.targets = targets
        self.started = 0.0
        self.took: float | None = None

    def is_running(self) -> bool:
        """Whether it has started and not ended."""
        return self.started > 0 and self.took is None


class Progress:
    """Says what is done, and on a terminal also what is being done and for how long."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._moves = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    def say(self, text: str) -> None:
        """Print a line that stays."""
        with self._lock:
            print(f"{self._erased()}{text}", flush=True)

    def start(self, step: Step) -> None:
        """A step starts."""
        step.started = time.monotonic()
        if not self._moves:
            self.say(f"{step.label} …")

    def end(self, step: Step) -> None:
        """A step is done."""
        step.took = time.monotonic() - step.started
        self.say(f"{step.label}: done in {step.took:.0f} s")

    def tick(self) -> None:
        """Show how far it is."""
        if not self._moves:
            return
        now = time.monotonic()
        done = sum(step.took is not None for step in self._steps)
        busy = [f"{one.label} {now - one.started:.0f} s" for one in self._steps if one.is_running()]
        line = f"{done} of {len(self._steps)} done · {self.elapsed():.0f} s · {', '.join(busy)}"
        with self._lock:
            print(f"{self._erased()}{line[:WIDTH]}", end="", flush=True)

    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    def _erased(self) -> str:
        return "\r\033[K" if self._moves else ""


class Setup:
    """Lanes of steps: one step after the other in each, all lanes at the same time."""

    def __init__(self, make: str, lanes: list[list[Step]]) -> None:
        self._make = make
        self._lanes = lanes
        self._lock = threading.RLock()
        self._running: list[subprocess.Popen[str]] = []
        self._failures: list[tuple[Step, str]] = []

    def is_done(self) -> bool:
        """Whether everything is up to date; asking takes a tenth of a second."""
        targets = [target for lane in self._lanes for step in lane for target in step.targets]
        asked = subprocess.run(self._command("--question", *targets), capture_output=True)
        return asked.returncode == 0

    def go(self) -> int:
        """Do the steps; gives the exit code."""
        steps = [step for lane in self._lanes for step in lane]
        progress = Progress(steps)
        progress.say(
            f"Setting up Callboard in {len(steps)} steps. Only the first start takes this long."
        )
        threads = [
            threading.Thread(target=self._walk, args=(lane, progress)) for lane in self._lanes
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            progress.tick()
            time.sleep(TICK)
        if self._failures:
            step, said = self._failures[0]  # The others were stopped because of it.
            progress.say(
                f"{said.strip()}\n{step.label}: failed. Fix this, then run `make run` again."
            )
            return 1
        progress.say(f"Ready after {progress.elapsed():.0f} s.")
        return 0

    def stop(self) -> None:
        """End what still runs, with all that it started."""
        with self._lock:
            for process in self._running:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)

    def _walk(self, lane: list[Step], progress: Progress) -> None:
        for step in lane:
            process = self._start(step, progress)
            if process is None:
                return
            said, _ = process.communicate()
            with self._lock:
                self._running.remove(process)
                if process.returncode != 0:
                    self._failures.append((step, said))
                    self.stop()
                    return
            progress.end(step)

    def _start(self, step: Step, progress: Progress) -> subprocess.Popen[str] | None:
        """Start a step; None once another one has failed."""
        with self._lock:
            if self._failures:
                return None
            progress.start(step)
            self._running.append(self._process(step))
            return self._running[-1]

    def _process(self, step: Step) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command(*step.targets),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            close_fds=False,  # Under `make -j` the job server is among them.
            start_new_session=True,
        )

    def _command(self, *arguments: str) -> list[str]:
        return [self._make, "--no-print-directory", *arguments]


def main() -> int:
    """Prepare what is missing."""
    make, dashboard = sys.argv[1:]
    python = [
        Step("[1/4] Python environment", f"{VENV}/bin/pip"),
        Step("[2/4] Python packages", f"{VENV}/.run", f"{VENV}/.project"),
    ]
    node = [
        Step("[3/4] Node packages", "node_modules/.installed"),
        Step("[4/4] Dashboard", dashboard),
    ]
    setup = Setup(make, [python, node])
    try:
        return 0 if setup.is_done() else setup.go()
    except KeyboardInterrupt:
        setup.stop()
        return 130


if __name__ == "__main__":
    sys.exit(main())
