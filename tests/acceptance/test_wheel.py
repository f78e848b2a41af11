"""The wheel, as people get it: built, installed where nothing else is, and used."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("wheel")]


def call(*command: str | Path, cwd: Path) -> str:
    """Run a command away from this checkout and give back what it printed."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    call(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    return next(out.glob("callboard-*.whl"))


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment's folder of commands, with the wheel and what it asks for."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home / "env", with_pip=True)
    commands = home / "env" / "bin"
    call(commands / "python", "-m", "pip", "install", "--quiet", wheel, cwd=home)
    return commands


def test_it_carries_the_types_and_every_migration(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    migrations = sorted((ROOT / "src" / "callboard" / "log" / "migrations").glob("*.sql"))
    assert migrations
    assert "callboard/py.typed" in names
    assert {f"callboard/log/migrations/{path.name}" for path in migrations} <= names


def test_it_carries_nothing_but_the_package(wheel: Path):
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"callboard"}


def test_the_command_answers(clean: Path):
    assert "run" in call(clean / "callboard", "--help", cwd=clean)


def test_the_package_imports(clean: Path):
    call(clean / "python", "-c", "import callboard; callboard.Workflow", cwd=clean)
