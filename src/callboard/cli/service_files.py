"""Writes and removes what a supervisor reads, and lets it start and stop a service."""

from collections.abc import Callable
from pathlib import Path

from callboard.cli.printing import print_result
from callboard.cli.service_units import ServiceCommand
from callboard.cli.supervisors import Launchd, Systemd
from callboard.disk.files import replace
from callboard.errors import SettingsUnusable


def install(
    keeper: Systemd | Launchd, served: ServiceCommand, before: Callable[[], None] = lambda: None
) -> bool:
    """Install and start a service; returns whether anything changed. before: a check."""
    wanted = keeper.files(served)
    changed = any(_bytes(path) != content for path, content in wanted.items())
    if changed:
        before()
    for path, content in wanted.items():
        _write(path, content)
    if changed or keeper.state() != "active":
        keeper.start()
    return changed


def uninstall(keeper: Systemd | Launchd) -> bool:
    """Stop and remove a service; returns whether there was one."""
    files = [path for path in keeper.paths() if path.exists()]
    if files:
        keeper.stop()
        for path in files:
            path.unlink(missing_ok=True)
        keeper.forget()
    return bool(files)


def tell_removed(as_json: bool, changed: bool) -> None:
    """Say whether a service was removed."""
    print_result(
        as_json,
        {"installed": False, "changed": changed},
        "The service was removed." if changed else "No service was installed.",
    )


def _write(path: Path, content: bytes) -> None:
    if _bytes(path) == content:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, content, mode=0o644)
    except OSError as error:
        raise SettingsUnusable(
            f"{path} cannot be written: {error.strerror}.", path=str(path)
        ) from error


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
