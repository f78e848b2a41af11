"""compose.yaml, as far as it can be judged without a container runtime."""

import re
from pathlib import Path
from typing import Any

import yaml
from tests.in_process import run_here

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def named(start: str) -> list[str]:
    return [name for name in SERVICES if name.startswith(start)]


def test_it_has_the_same_parts_as_the_cluster_on_this_machine():
    assert (len(named("server-")), len(named("worker-"))) == (3, 2)
    assert len(SERVICES) == 3 + 2 + len(["postgres", "nginx"])
    upstreams = SERVICES["nginx"]["environment"]["CALLBOARD_SERVERS"]
    assert re.findall(r"server ([\w-]+):2255;", upstreams) == named("server-")


def test_only_nginx_is_published_and_only_on_loopback():
    published = {name: one["ports"] for name, one in SERVICES.items() if "ports" in one}
    assert published == {"nginx": ["127.0.0.1:2255:8080"]}


def test_secrets_are_required_and_never_on_a_command_line():
    wanted = {"POSTGRES_PASSWORD", "CALLBOARD_TOKEN"}
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"\$\{(\w+):\?", text)) == wanted
    assert not re.findall(r"\$\{\w+\}|\$\{\w+:-", text)  # None has a default.
    for one in SERVICES.values():
        assert "${" not in str(one.get("command", ""))


def test_commands_are_ones_that_callboard_has(tmp_path: Path):
    for name in (*named("server-"), *named("worker-")):
        command, file, *options = SERVICES[name]["command"]
        assert file == "/workflows/trip.py"
        code, told, _ = run_here([command, "--help"], tmp_path, {})
        assert code == 0
        assert [one for one in options if one.partition("=")[0] not in told] == []


def test_every_service_that_is_asked_has_a_health_check():
    asked = ["postgres", *named("server-"), "nginx"]
    assert [name for name, one in SERVICES.items() if "healthcheck" in one] == sorted(
        asked, key=list(SERVICES).index
    )


def test_files_it_mounts_are_there():
    mounts = [str(mount) for one in SERVICES.values() for mount in one.get("volumes", [])]
    local = {mount.partition(":")[0] for mount in mounts if mount.startswith("./")}
    assert local == {"./examples/trip.py", "./tools/nginx.conf.template"}
    assert all((ROOT / path).is_file() for path in local)


def test_the_image_runs_as_a_user_without_rights():
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("FROM"))
    assert "USER callboard" in lines[last:]
    needed = {line.split()[1] for line in lines if line.startswith("COPY p")}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert all(f"!{name}" in ignored for name in needed)
