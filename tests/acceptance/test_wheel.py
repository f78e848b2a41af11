"""The wheel, as people get it: built, installed where nothing else is, and used."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parent.parent.parent
UI = Path("src", "callboard", "server", "ui")
TOKEN = "cb_a-token-for-tests"

pytestmark = [
    pytest.mark.dashboard,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("wheel"),
]


def attempt(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command away from this checkout, however it ends."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def call(*command: str | Path, cwd: Path) -> str:
    """Run a command that has to succeed, and give back what it printed."""
    done = attempt(*command, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = ("-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(source))
    return attempt(sys.executable, *command, cwd=out)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    done = build(ROOT, out)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("callboard-*.whl"))


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment's folder of commands, with the wheel and what a server asks for."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home / "env", with_pip=True)
    commands = home / "env" / "bin"
    call(commands / "python", "-m", "pip", "install", "--quiet", f"{wheel}[server]", cwd=home)
    return commands


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a wheel is made of, without the dashboard."""
    copy = tmp_path / "checkout"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("ui", "__pycache__"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    return copy


@contextmanager
def serving(commands: Path, home: Path) -> Generator[str]:
    """`callboard serve` of the installed wheel; gives its address."""
    process = subprocess.Popen(
        [commands / "callboard", "serve", f"--db={home / 'x.db'}", "--port=0", "--json"],
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "CALLBOARD_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()


def test_it_carries_the_types_and_every_migration(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    migrations = sorted((ROOT / "src/callboard/log/sqlite/migrations").glob("*.sql"))
    assert migrations
    assert "callboard/py.typed" in names
    assert {f"callboard/log/sqlite/migrations/{path.name}" for path in migrations} <= names


def test_it_carries_nothing_but_the_package(wheel: Path):
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"callboard"}


def test_it_carries_the_whole_dashboard(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    built = [path for path in (ROOT / UI).rglob("*") if path.is_file()]
    assert "index.html" in {path.name for path in built}
    assert {path.relative_to(ROOT / "src").as_posix() for path in built} <= names


def test_the_command_answers(clean: Path):
    assert "run" in call(clean / "callboard", "--help", cwd=clean)


def test_the_package_imports(clean: Path):
    call(clean / "python", "-c", "import callboard; callboard.Workflow", cwd=clean)


def test_it_serves_the_dashboard_and_the_routes(clean: Path, tmp_path: Path):
    with serving(clean, tmp_path) as url, httpx.Client(base_url=url, trust_env=False) as http:
        page = http.get("/", follow_redirects=True)
        assert page.status_code == 200
        assert page.headers["cache-control"] == "no-cache"
        assets = re.findall(r'(?:src|href)="(/app/assets/[^"]+)"', page.text)
        assert {Path(asset).suffix for asset in assets} >= {".js", ".css"}
        for asset in assets:
            answer = http.get(asset)
            assert answer.status_code == 200
            assert "immutable" in answer.headers["cache-control"]
        assert http.get("/sessions").status_code == 401
        listed = http.get("/sessions", headers={"Authorization": f"Bearer {TOKEN}"})
        assert listed.json()["sessions"] == []


def test_none_is_built_without_the_dashboard(checkout: Path, tmp_path: Path):
    done = build(checkout, tmp_path)
    assert done.returncode != 0
    assert f"{UI / 'index.html'} is missing" in done.stdout + done.stderr
    assert "make setup" in done.stdout + done.stderr
    assert list(tmp_path.glob("*.whl")) == []


def test_none_is_built_with_half_of_it(checkout: Path, tmp_path: Path):
    (checkout / UI).mkdir(parents=True)
    page = '<script type="module" src="/app/assets/index-AbC.js"></script>'
    (checkout / UI / "index.html").write_text(page)
    done = build(checkout, tmp_path)
    assert done.returncode != 0
    assert "refers to assets/index-AbC.js" in done.stdout + done.stderr


def test_an_editable_install_needs_no_dashboard(checkout: Path, tmp_path: Path):
    made = (
        "import hatchling.build, sys; print(hatchling.build.build_editable(sys.argv[1], {}, None))"
    )
    call(sys.executable, "-c", made, str(tmp_path), cwd=checkout)
    assert list(tmp_path.glob("callboard-*.whl"))
