"""Chooses what drives sessions, by the name that people give on the command line."""

from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Final, Literal, get_args

from callboard.clock import Clock
from callboard.drivers.engine import Engine
from callboard.drivers.local import LocalDriver
from callboard.drivers.watching import Dispatcher, WatchingDriver
from callboard.errors import MissingExtra, ValidationError
from callboard.log.protocol import EventLog

DriverName = Literal["local", "procrastinate", "temporal", "temporal-standalone", "none"]
DRIVERS: Final[tuple[DriverName, ...]] = get_args(DriverName)
WORKING: Final = tuple(name for name in DRIVERS if name != "none")
"""Those that a worker can have."""

_EXTRAS: Final = {
    "procrastinate": "procrastinate",
    "temporal": "temporal",
    "temporal-standalone": "temporal",
}
"""The engines that have their own workers, and the extra that each of them needs."""

_WAKES: Final = 16
"""How many sessions are woken at once: a wake takes a few statements, and others read as well."""


@dataclass(frozen=True, slots=True)
class Driven:
    """A log, and the workflows that can be driven in this process."""

    log: EventLog
    driver: LocalDriver
    workflows: Collection[str]
    clock: Clock


class IdleDriver(WatchingDriver):
    """Drives nothing, and wakes nothing: other processes do that."""

    async def start(self) -> None:
        """Don't start."""


def choose_driver(name: str, driven: Driven, concurrency: int, *, works: bool) -> Dispatcher:
    """The driver of this name.

    works: whether this process also runs the jobs of an engine, or only queues them.
    """
    given = (driven.driver, driven.log, driven.clock)
    if name == "local":
        return WatchingDriver(*given, concurrency)
    if name == "none":
        return IdleDriver(*given)
    engine = _ENGINES[_EXTRAS[name]](name, driven, concurrency if works else 0)
    return Dispatcher(engine, *given, _WAKES)


def check_driver(name: str, *, is_shared: bool) -> None:
    """Raise an error if this driver can't be used, before anything is opened.

    is_shared: whether the database is in PostgreSQL.
    """
    if name in ("local", "none"):
        return
    if not is_shared:
        raise _not_shared(name)
    extra = _EXTRAS[name]
    with _installed(extra):
        import_module(f"callboard.drivers.{extra}_engine")


def _procrastinate(name: str, driven: Driven, concurrency: int) -> Engine:
    with _installed("procrastinate"):
        from callboard.drivers.procrastinate_engine import ProcrastinateEngine
        from callboard.log.postgres.connections import AtAddress
    log = driven.log
    if not isinstance(log, AtAddress):
        raise _not_shared(name)
    return ProcrastinateEngine(log.address, log.owners, driven.clock, driven.workflows, concurrency)


def _temporal(name: str, driven: Driven, concurrency: int) -> Engine:
    with _installed("temporal"):
        from callboard.drivers.temporal_engine import TemporalEngine
        from callboard.drivers.temporal_executions import StandaloneJobs, WorkflowJobs
        from callboard.log.postgres.connections import AtAddress
    if not isinstance(driven.log, AtAddress):
        raise _not_shared(name)
    jobs = StandaloneJobs if name == "temporal-standalone" else WorkflowJobs
    return TemporalEngine(driven.clock, driven.workflows, concurrency, jobs)


_ENGINES: Final = {"procrastinate": _procrastinate, "temporal": _temporal}


def _not_shared(name: str) -> ValidationError:
    return ValidationError(
        f"The driver {name} needs a database in PostgreSQL, which all workers share: "
        "--db postgresql://user@host/name. With a SQLite database, use --driver local.",
        field="driver",
    )


@contextmanager
def _installed(extra: str) -> Generator[None]:
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f"The driver {extra} needs an optional package. Install it: "
            f"pip install 'callboard[{extra}]'",
            extra=extra,
        ) from error
