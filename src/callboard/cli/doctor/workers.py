"""The checks of `callboard doctor` on the processes that drive sessions."""

from collections.abc import Iterator

from callboard.app import Callboard
from callboard.cli.doctor.findings import Finding
from callboard.cli.format import one_line
from callboard.cli.targets import Database
from callboard.display.amounts import counted
from callboard.engine.workers import WorkerInfo, WorkerOverview
from callboard.errors import CallboardError
from callboard.log.sqlite.migrate import known_migrations
from callboard.log.sqlite.setup import schema_version

_LISTED = 20
_LOCK_TIMEOUT = 5.0


def workers(target: Database) -> Iterator[Finding]:
    """Who drives sessions; nothing if looking would create or upgrade the database."""
    if target.address is None and not _is_current(target):
        return

    async def look(board: Callboard) -> WorkerOverview:
        return await board.workers()

    try:
        found = target.look(look)
    except CallboardError:  # The finding about the database says so.
        return
    yield from judged(found, target)


def _is_current(target: Database) -> bool:
    if not target.path.exists():
        return False
    try:
        version = schema_version(target.path, _LOCK_TIMEOUT)
    except CallboardError:  # The finding about the database says so.
        return False
    return version == max(step.version for step in known_migrations())


def judged(found: WorkerOverview, target: Database) -> Iterator[Finding]:
    """The findings about workers, and about sessions that none of them can drive."""
    running = [one for one in found.workers if one.alive]
    if not running:
        yield Finding("workers", "ok", "none running")
    for one in running[:_LISTED]:
        yield Finding("worker", "ok", _said(one))
    if found.worker_count > _LISTED:
        rest = found.worker_count - _LISTED
        yield Finding("workers", "ok", f"{rest} more; list them: {target.command('workers')}")
    yield from _versions(running)
    yield from _stranded(found, target)


def _said(one: WorkerInfo) -> str:
    has = ", ".join(map(str, one.workflows)) or "its own session"
    drives = f", drives {counted(one.session_count, 'session')}" if one.session_count else ""
    return one_line(f"process {one.pid} on {one.host}: {has}{drives}")


def _versions(running: list[WorkerInfo]) -> Iterator[Finding]:
    """Workflows of which running workers have different versions, as during a deployment."""
    versions: dict[str, dict[str, list[WorkerInfo]]] = {}
    for worker in running:
        for one in worker.workflows:
            version = one.version or "no version"
            versions.setdefault(one.name, {}).setdefault(version, []).append(worker)
    for name, having in sorted(versions.items()):
        if len(having) > 1:
            counts = [f"{each} ({counted(len(who), 'worker')})" for each, who in having.items()]
            said = f"running workers have different versions of {name}: {', '.join(counts)}"
            todo = "If this is not a deployment, restart the workers that have the old version."
            yield Finding("versions", "warn", one_line(said), todo)


def _stranded(found: WorkerOverview, target: Database) -> Iterator[Finding]:
    if not found.stranded:
        return
    count, first = counted(found.stranded_count, "session"), found.stranded[0]
    said = f"no running worker can drive {count}, such as {first.session_id}: {first.reason}"
    todo = first.next_step
    if found.stranded_count > 1:
        todo += f"; list all: {target.command('workers')}"
    yield Finding("stranded", "warn", one_line(said), todo)
