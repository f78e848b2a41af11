"""What `make run` shows while it sets up, with a stand-in for make."""

import subprocess
import sys
from pathlib import Path

PREPARE = Path(__file__).parent.parent.parent / "tools" / "prepare.py"
UP_TO_DATE = '[ "$2" = --question ]'
DOES_ALL = '[ "$2" != --question ]'
FAILS = """
case "$2" in
  --question) exit 1 ;;
  node_modules/.installed) echo "npm is missing" >&2; exit 2 ;;
  *) sleep 60 ;;
esac
"""


def prepare(folder: Path, make: str) -> subprocess.CompletedProcess[str]:
    stand_in = folder / "make"
    stand_in.write_text(f"#!/usr/bin/env bash\n{make}\n", encoding="utf-8")
    stand_in.chmod(0o755)
    command = [sys.executable, str(PREPARE), str(stand_in), "ui/index.html"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=30)


def test_nothing_is_said_when_everything_is_up_to_date(tmp_path: Path):
    done = prepare(tmp_path, UP_TO_DATE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_each_step_says_what_it_does_and_how_long_it_took(tmp_path: Path):
    done = prepare(tmp_path, DOES_ALL)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    for step in ("Python environment", "Python packages", "Node packages", "Dashboard"):
        (started, ended) = [line for line in lines if step in line]
        assert started.endswith(f"{step} …")
        assert ended.endswith("done in 0 s")
    assert "[1/4] Python environment …" in lines
    assert lines[-1] == "Ready after 0 s."


def test_a_step_that_fails_stops_the_others_and_says_why(tmp_path: Path):
    done = prepare(tmp_path, FAILS)
    assert done.returncode == 1
    said = done.stdout.splitlines()[-2:]
    assert said[0] == "npm is missing"
    assert said[1].startswith("[3/4] Node packages: failed.")
