"""The server's metrics for Prometheus. Every label has few values, no matter who calls."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Final, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily

from callboard.clock import Clock
from callboard.drivers.watching import Dispatcher
from callboard.engine.workers import look_at_workers
from callboard.events.json_values import Object, as_whole
from callboard.events.rows import Query
from callboard.events.status import Status
from callboard.log.protocol import EventLog
from callboard.server.memory import MemoryBudget
from callboard.server.request_metrics import ServedRequest
from callboard.server.streams import Streams

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
STATUSES: Final[tuple[str, ...]] = get_args(Status)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_BUSY = (0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counters of one server, in its own registry.

    Requests are counted when they end. Everything else is looked up on each scrape, so it is
    correct after a restart and with several processes on one database.
    """

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        driver: Dispatcher,
        streams: Streams,
        memory: MemoryBudget,
    ) -> None:
        self._log = log
        self._clock = clock
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "callboard_http_requests",
            "Requests, by path template; status 0: the caller disconnected.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "callboard_http_request_seconds",
            "Seconds until the response started.",
            ("route", "method"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._counted: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._sessions = self._gauge("sessions", "Sessions, by status.", "status")
        self._pending = self._gauge("questions_pending", "Open questions.")
        self._oldest = self._gauge(
            "question_oldest_seconds", "Age of the oldest open question; 0 without open questions."
        )
        self._workers = self._gauge("workers", "Running processes that drive sessions, anywhere.")
        about = "Sessions that have work to do: a worker drives them, can, or none can."
        self._with_work = self._gauge("sessions_with_work", about, "state")
        self._events = _Events()
        self._registry.register(self._events)
        show = self._show
        show("sessions_driven", "Sessions that this server drives now.", lambda: driver.driving)
        show("sessions_queued", "Sessions that wait for room to be driven.", lambda: driver.queued)
        show("stream_readers", "Readers connected to a stream of events.", lambda: streams.reading)
        self._measure(memory)
        self.looped = Histogram(
            "callboard_loop_busy_seconds",
            "Seconds that the event loop was blocked.",
            buckets=_BUSY,
            registry=self._registry,
        ).observe
        self._gauge("build_info", "The version of this server.", "version").labels(
            version("callboard")
        ).set(1)
        ProcessCollector(registry=self._registry)

    def watch_hooks(self, counted: Callable[[], Object]) -> None:
        """Report hooks that couldn't be recorded when they came."""
        about = "Hooks in memory: the disk is full, they are not lost."
        self._show("hooks_kept", about, lambda: as_whole(counted()["kept"]))
        about = "Hooks in the spool that were not read yet."
        self._show("hooks_backlog", about, lambda: as_whole(counted()["backlog"]))
        about = "How long the oldest of them has been there."
        age = "hooks_backlog_age_seconds"
        self._show(age, about, lambda: as_whole(counted()["backlogAgeMs"]) / 1000)
        about = "Hooks that were lost since the server started."
        self._show("hooks_lost", about, lambda: as_whole(counted()["lost"]))

    def _measure(self, memory: MemoryBudget) -> None:
        about = "Bytes that all connections may hold together."
        self._show("memory_budget_bytes", about, lambda: memory.most)
        self._show("memory_used_bytes", "Bytes that connections hold now.", lambda: memory.used)
        about = "Requests refused and connections cut off for lack of memory."
        self._show("memory_refusals", about, lambda: memory.refused)

    def _show(self, name: str, about: str, value: Callable[[], float]) -> None:
        """A gauge whose value is looked up on each scrape."""
        self._gauge(name, about).set_function(value)

    def _gauge(self, name: str, about: str, *labels: str) -> Gauge:
        return Gauge(f"callboard_{name}", about, labels, registry=self._registry)

    def served(self, request: ServedRequest) -> None:
        """Count a request. Unknown methods share one label."""
        # The number of combinations is bounded: routes are templates, and methods are few.
        method = request.method if request.method in _METHODS else "other"
        key = (request.route, method, request.status)
        counted = self._counted.get(key)
        if counted is None:
            requests = self._requests.labels(request.route, method, str(request.status))
            counted = requests, self._seconds.labels(request.route, method)
            self._counted[key] = counted
        requests, seconds = counted
        requests.inc()
        seconds.observe(request.began)

    async def text(self) -> bytes:
        """All metrics in Prometheus format."""
        counts = await self._log.session_counts()
        for status in STATUSES:
            self._sessions.labels(status).set(counts.get(status, 0))
        await self._ask_for_questions()
        await self._ask_for_workers()
        self._events.appended = await self._log.last_sequence()
        return generate_latest(self._registry)

    async def _ask_for_questions(self) -> None:
        now, pending = self._clock.now_ms(), {"status": "pending"}
        # With a bound, so that the query uses the index of open questions.
        everything = ("created_at", 2**62)
        counting = Query("human_interactions", pending, at_most=everything, count=True)
        (counted,) = await self._log.rows(counting)
        self._pending.set(counted["count"])
        oldest = Query("human_interactions", pending, order="created_at", limit=1)
        rows = await self._log.rows(oldest)
        self._oldest.set(max(now - rows[0]["created_at"], 0) / 1000 if rows else 0)

    async def _ask_for_workers(self) -> None:
        # Reads the sessions that have work to do, up to a limit, and no others.
        found = await look_at_workers(self._log, self._clock)
        self._workers.set(found.worker_count)
        self._with_work.labels("driven").set(found.driven_count)
        self._with_work.labels("ready").set(found.ready_count)
        self._with_work.labels("stranded").set(found.stranded_count)


class _Events:
    """A counter kept by the log. The library has no counter that can be set."""

    def __init__(self) -> None:
        self.appended = 0

    def collect(self) -> list[CounterMetricFamily]:
        about = "Events appended to the log since it was created, by any process."
        return [CounterMetricFamily("callboard_events_appended", about, value=self.appended)]
