"""The workflow that runs on other people's machines: it can be read, and calls what there is."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
FILE = ROOT / ".github" / "workflows" / "ci.yml"
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
MAKE = re.compile(r"(?:^|[\s;&|])g?make((?: [^;&|\n]+)?)")


@pytest.fixture
def jobs() -> dict[str, Any]:
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))["jobs"]


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def test_linux_and_macos_run_with_every_python(jobs: dict[str, Any]):
    assert jobs["linux"]["strategy"]["matrix"]["python"] == PYTHONS
    chosen = str(jobs["macos"]["strategy"]["matrix"]["python"])
    lists = [re.findall(r"3\.[0-9]+", one) for one in re.findall(r"\[[^]]+\]", chosen)]
    assert lists == [["3.11", "3.14"], PYTHONS]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.findall(r"Python :: (3\.[0-9]+)", project) == PYTHONS


def test_one_failure_does_not_hide_the_others(jobs: dict[str, Any]):
    matrices = [job["strategy"] for job in jobs.values() if "strategy" in job]
    assert len(matrices) == 2
    assert all(one["fail-fast"] is False for one in matrices)
    assert all(0 < job["timeout-minutes"] <= 120 for job in jobs.values())


def test_every_target_exists(jobs: dict[str, Any]):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    called = {
        word
        for job in jobs.values()
        for command in commands(job)
        if "brew install" not in command and "/usr/bin/make" not in command
        for words in MAKE.findall(command)
        for word in words.split()
        if re.fullmatch(r"[a-z-]+", word)
    }
    assert called >= {"setup", "check-python", "check-macos", "test-python", "test-web", "wheel"}
    assert called <= targets


def test_on_macos_the_newer_make_is_called(jobs: dict[str, Any]):
    on_macs = [job for job in jobs.values() if "macos" in str(job["runs-on"]) + str(job)]
    words = [word for job in on_macs for one in commands(job) for word in one.split()]
    assert words.count("gmake") >= 4
    for name in ("macos", "homebrew"):
        assert not any(one.startswith("make ") for one in commands(jobs[name]))


def test_every_script_and_command_exists(jobs: dict[str, Any]):
    text = "\n".join(one for job in jobs.values() for one in commands(job))
    for script in re.findall(r"(?:tools|\.ci)/[a-z-]+", text):
        assert (ROOT / script).is_file()
    for command in re.findall(r"bin/callboard (\w+)", text):
        assert (ROOT / "src" / "callboard" / "cli" / "commands" / f"{command}.py").is_file()


def test_only_windows_may_fail(jobs: dict[str, Any]):
    assert [name for name, job in jobs.items() if job.get("continue-on-error")] == ["windows"]
