"""Claim: `callboard --help` takes at most 6× `python -c pass`, because commands are loaded lazily.

Both are whole processes of the same interpreter, started in turn many times; medians are compared.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from common import Result, Row, finish, progress, spread

BAR = 6


def took(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return 1000 * (time.perf_counter() - began)


def measure(quick: bool = False) -> Result:
    count = 15 if quick else 60
    progress("help: callboard --help against python -c pass")
    installed = Path(sys.executable).with_name("callboard")
    commands = {
        "pass": [sys.executable, "-c", "pass"],
        "help": [str(installed), "--help"],
        "import": [sys.executable, "-c", "import callboard"],
        "version": [str(installed), "--version"],
    }
    for command in commands.values():  # so that everything is compiled, and in the cache
        took(command)
    samples: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(count):
        for name, command in commands.items():
            samples[name].append(took(command))
    middle = {name: statistics.median(found) for name, found in samples.items()}

    def row(claim: str, name: str, bar: bool) -> Row:
        ratio = middle[name] / middle["pass"]
        return Row(
            claim,
            f"≤ {BAR}×" if bar else "–",
            f"{middle[name]:.0f} ms",
            f"{middle['pass']:.0f} ms (python -c pass)",
            f"{ratio:.1f}×",
            ratio <= BAR if bar else None,
        )

    return Result(
        "help",
        rows=[
            row("callboard --help", "help", bar=True),
            row("python -c 'import callboard'", "import", bar=False),
        ],
        notes=[
            f"{count} processes of each kind, in turn; p90 of --help "
            f"{spread(samples['help'])['p90']:.0f} ms, `callboard --version` "
            f"{middle['version']:.0f} ms."
        ],
        data={"samples": samples},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    finish(measure(parser.parse_args().quick))


if __name__ == "__main__":
    main()
