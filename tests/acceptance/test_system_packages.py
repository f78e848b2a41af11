"""What tests need from the system, and whether our scripts run on one that isn't Debian."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "tools" / "system-packages"
SCRIPTS = [ROOT / ".ci" / "run", SCRIPT, ROOT / "tools" / "clients"]

# What bash 3.2 doesn't have: arrays by name, mapfile, changes of case, |&, &>>, wait -n, coproc.
LATER = re.compile(
    r"(?:local|declare|typeset) -[a-zA-Z]*[An]|\bmapfile\b|\breadarray\b|\$\{\w+(?:\^|,)|\|&|&>>"
    r"|\bwait -n\b|\bcoproc\b|\$\{\w+@[A-Za-z]\}"
)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with the few programs that the script itself calls."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "env", "id", "sort", "sed"):
        found = next(one for one in ("/usr/bin", "/bin") if Path(one, name).exists())
        (folder / name).symlink_to(Path(found, name))
    return folder


def run(programs: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    script = SCRIPT.read_text(encoding="utf-8").replace("/usr/sbin:/sbin", "/no/sbin")
    return subprocess.run(
        ["bash", "-c", script, "system-packages", *words],
        env={**os.environ, "PATH": str(programs)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def program(folder: Path, name: str, text: str = "exit 1") -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def test_on_a_mac_missing_packages_have_homebrews_names(programs: Path):
    program(programs, "brew")
    done = run(programs, "no-nginx=nginx-light", "no-initdb=postgresql", "no-busybox=busybox")
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [
        "  brew install nginx",
        "  brew install postgresql@17",
    ]
    assert "apt-get" not in done.stderr


def test_what_homebrew_does_not_have_is_not_asked_for(programs: Path):
    program(programs, "brew")
    assert run(programs, "no-busybox=busybox").returncode == 0


def test_without_either_the_packages_are_named(programs: Path):
    done = run(programs, "no-tmux=tmux")
    assert done.returncode == 1
    assert "apt-get" not in done.stderr
    assert "missing: tmux" in done.stderr


def test_on_debian_they_are_installed(programs: Path, tmp_path: Path):
    program(programs, "apt-get", f'echo "$*" >> {tmp_path}/told; exit 0')
    program(programs, "sudo", 'shift; exec "$@"')
    program(programs, "true", "exit 0")
    assert run(programs, "no-tmux=tmux", "sed=sed").returncode == 0
    told = (tmp_path / "told").read_text().splitlines()
    assert told == ["update -qq", "install -y -qq tmux"]


def test_an_old_make_says_what_to_install():
    done = subprocess.run(
        ["make", "-C", str(ROOT), ".FEATURES=target-specific", "help"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "brew install make" in done.stderr


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda one: one.name)
def test_scripts_use_only_what_the_bash_of_macos_has(script: Path):
    lines = script.read_text(encoding="utf-8").splitlines()
    code = [line.partition("#")[0] for line in lines if not line.lstrip().startswith("#")]
    assert [line for line in code if LATER.search(line)] == []


@pytest.mark.parametrize("text", ["local -A pids=()", "mapfile -t x", "echo ${x^^}", "a |& b"])
def test_later_features_would_be_found(text: str):
    assert LATER.search(text)
