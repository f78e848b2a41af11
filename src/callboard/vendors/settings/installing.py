"""Install our hooks into a coding agent's settings, and remove them.

A settings file belongs to someone else. It is read, edited as text, checked, and replaced as a
whole; if anything goes wrong, it stays as it was.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from callboard.errors import SettingsUnusable
from callboard.vendors.settings import files
from callboard.vendors.settings.files import SettingsFile
from callboard.vendors.settings.records import InstallRecord, Records, mark

Scope = Literal["user", "project"]
Transport = Literal["http", "command", "spool"]

_PRIVATE = 0o600


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What to install.

    folder: the hooks folder. answers: whether the permission hook is held for an answer; None
    leaves it to the agent. token: for HTTP hooks. status_files: whether hooks also update the
    status files of delegated work.
    """

    folder: Path
    database: Path
    transport: Transport = "spool"
    answers: bool | None = None
    port: int = 2255
    token: str | None = None
    status_files: bool = False


@dataclass(frozen=True, slots=True)
class InstallState:
    """Which of our hooks a settings file has. port, token: those of HTTP hooks.

    interpreters: every Python that they run.
    """

    transport: Transport
    answers: bool
    folder: Path | None
    port: int | None = None
    token: str | None = None
    interpreters: frozenset[Path] = frozenset()


class AgentSettings(ABC):
    """The settings of one coding agent. Texts are complete, including a byte order mark."""

    agent: ClassVar[str]

    @abstractmethod
    def place(self, scope: Scope, project: Path) -> Path:
        """The file."""

    @abstractmethod
    def installed(self, text: str | None, plan: InstallPlan) -> str:
        """The text with ours added."""

    @abstractmethod
    def uninstalled(self, text: str, record: InstallRecord | None, folder: Path) -> str | None:
        """The text without ours; None if there was no file before and nothing is left.

        folder: the hooks folder, whose rules are also ours.
        """

    def standing(self, text: str) -> InstallState | None:
        """Which of our hooks for a server it has; None without any."""
        return None

    @abstractmethod
    def is_current(self, text: str, plan: InstallPlan) -> bool:
        """Whether ours is in it exactly as it would be installed."""


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What happened to a settings file."""

    file: SettingsFile
    changed: bool
    backup: Path | None = None


def install(settings: AgentSettings, path: Path, plan: InstallPlan) -> InstallResult:
    """Add our hooks to the file, replacing earlier ones of ours."""
    records = Records(plan.folder)
    with records.alone(), _named(path):
        file = files.read(path)
        if file.text is not None and settings.is_current(file.text, plan):
            # A file with a token has to be private, even if its mode was changed since.
            if plan.token and file.mode & 0o077:
                file.target.chmod(_PRIVATE)
            return InstallResult(file, changed=False)
        old = records.get(path)
        before = _without_ours(settings, file, old, plan.folder)
        after = settings.installed(before, plan)
        new = InstallRecord(
            agent=settings.agent,
            path=str(path),
            before=before,
            after=mark(after),
            mode=old.mode if old else file.mode,
            made=old.made if old else [],
        )
        _check(settings, new, after, plan)
        backup = files.back_up(file)
        made = files.write(file, after, _PRIVATE if plan.token else file.mode)
        records.put(replace(new, made=[*new.made, *map(str, made)]))
        return InstallResult(file, changed=True, backup=backup)


def uninstall(settings: AgentSettings, path: Path, folder: Path) -> InstallResult:
    """Remove our hooks; if nothing else has changed since, the file is restored byte for byte."""
    records = Records(folder)
    with records.alone(make=False), _named(path):
        file = files.read(path)
        record = records.get(path)
        left = _without_ours(settings, file, record, folder)
        changed = left != file.text
        if changed and left is None:
            files.remove(file, [Path(one) for one in record.made] if record else [])
        elif changed and left is not None:
            files.write(file, left, record.mode if record else file.mode)
        for backup in files.backups(file.target):
            backup.unlink(missing_ok=True)
        records.forget(path)
        return InstallResult(file, changed=changed)


def installed_text(
    settings: AgentSettings, path: Path, plan: InstallPlan
) -> tuple[str | None, str | None]:
    """The text of the file, and what `install` would make of it. Changes nothing."""
    with _named(path):
        file = files.read(path)
        if file.text is not None and settings.is_current(file.text, plan):
            return file.text, file.text
        before = _without_ours(settings, file, Records(plan.folder).get(path), plan.folder)
        return file.text, settings.installed(before, plan)


def uninstalled_text(
    settings: AgentSettings, path: Path, folder: Path
) -> tuple[str | None, str | None]:
    """The text of the file, and what `uninstall` would make of it. Changes nothing."""
    with _named(path):
        file = files.read(path)
        return file.text, _without_ours(settings, file, Records(folder).get(path), folder)


@contextmanager
def _named(path: Path) -> Generator[None]:
    """Add the file's path to errors in its text."""
    try:
        yield
    except SettingsUnusable as error:
        if "path" in error.context:
            raise
        raise SettingsUnusable(
            f"{path}: {error.message}. Correct that and try again; nothing was changed.",
            path=str(path),
            **error.context,
        ) from error


def _without_ours(
    settings: AgentSettings, file: SettingsFile, record: InstallRecord | None, folder: Path
) -> str | None:
    if file.text is None:
        return None
    if record is not None and mark(file.text) == record.after:
        return record.before
    return settings.uninstalled(file.text, record, folder)


def _check(settings: AgentSettings, record: InstallRecord, after: str, plan: InstallPlan) -> None:
    """Refuse an edit that would lose anything of someone else's."""
    without = settings.uninstalled(after, record, plan.folder)
    if settings.is_current(after, plan) and _squeezed(without) == _squeezed(record.before):
        return
    raise SettingsUnusable(
        f"Our edit would change other parts of {record.path}, so nothing was changed. Please "
        "report this, with the file if you can.",
        path=record.path,
    )


def _squeezed(text: str | None) -> str:
    return "".join((text or "").split())
