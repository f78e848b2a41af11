"""What the repository holds, and what it must not."""

import re
import subprocess
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Put together here, so that this file does not hold what it looks for.
HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("debian", "org"),
    )
]
MACHINE_FOLDERS = ["work", "root", "opt"]
MACHINE_PATH = re.compile(rf"(?:file://|(?<![\w.~}})/-]))/(?:{'|'.join(MACHINE_FOLDERS)})/\w")


@cache
def tracked() -> list[Path]:
    """Every file git tracks, whoever owns the folder."""
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def texts() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in tracked():
        content = path.read_bytes()
        if b"\0" not in content:
            found[path.relative_to(ROOT).as_posix()] = content.decode("utf-8")
    return found


def lines_matching(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()}"
        for name, text in texts().items()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_package_registry_is_named():
    assert lines_matching(re.compile("|".join(map(re.escape, HOSTS)), re.IGNORECASE)) == []


def test_no_path_of_a_machine_is_named():
    assert lines_matching(MACHINE_PATH) == []


def test_pins_are_kept_in_requirements_only():
    assert [path for path in tracked() if path.name == "uv.lock"] == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "requirements").iterdir()), ids=lambda path: path.name
)
def test_requirements_name_packages_and_not_places(path: Path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"://|@ |--(?:extra-)?index-url|--find-links|--trusted-host|^-[if] ", text)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name
)
def test_requirements_are_pinned(path: Path):
    loose = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.lstrip().startswith("#") and "==" not in line
    ]
    assert loose == []


def test_what_run_installs_is_part_of_what_tests_install():
    pins = {
        name: {line for line in read_lines(name) if "==" in line} for name in ("run.txt", "dev.txt")
    }
    assert pins["run.txt"]
    assert pins["run.txt"] <= pins["dev.txt"]


def read_lines(name: str) -> list[str]:
    return (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    top = re.search(r"^## \[(\d[^\]]*)\]", changelog, re.MULTILINE)
    assert top is not None
    assert top[1] == project["project"]["version"] == metadata.version("callboard")


def test_every_test_of_the_dashboard_is_where_make_looks_for_it():
    listed = re.search(r"^DASHBOARD_TESTS := (.+)$", texts()["Makefile"], re.MULTILINE)
    assert listed is not None
    marked = [name for name, text in texts().items() if re.search(r"mark\.dashboard", text)]
    assert len(marked) >= 2
    assert [name for name in marked if not name.startswith(tuple(listed[1].split()))] == []
