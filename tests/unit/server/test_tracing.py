"""Sessions as traces: folded from real sessions, and sent to a real receiver."""

import asyncio
import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from callboard import Approval, Phase, Retry, State, Workflow, agent
from callboard.app import Callboard
from callboard.errors import MissingExtra
from callboard.events import names
from callboard.events.envelope import Event
from callboard.server import tracing
from callboard.server.otlp import Otlp
from callboard.server.spans import ROOT, Span, Trace, span_id, trace_id
from callboard.server.tracing import Follower, is_wanted, traced
from callboard.testing.fake_clock import FakeClock


class Notes(State):
    tries: int = 0


@agent
async def work(state: Notes) -> str:
    return "a secret output"


@agent
async def breaks(state: Notes) -> str:
    raise RuntimeError("a secret message")


FLOW = Workflow(
    "trip",
    state=Notes,
    phases=[
        Phase("plan", agent=work, next="ask"),
        Phase("ask", human=Approval("A secret question?"), next="book"),
        Phase("book", agent=work, terminal=True),
    ],
)
FAILS = Workflow(
    "fails", state=Notes, phases=[Phase("a", agent=breaks, retry=Retry(2, 1.0), terminal=True)]
)
BREAKS = Workflow("breaks", state=Notes, phases=[Phase("a", agent=breaks, terminal=True)])
WHOLE = ["agent work", "phase plan", "wait for a person", "phase ask", "agent work", "phase book",
         "workflow trip"]  # fmt: skip


class Kept:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, Span]] = []

    def send(self, session_id: str, span: Span) -> None:
        self.spans.append((session_id, span))

    async def close(self) -> None:
        pass

    def names(self, session_id: str) -> list[str]:
        return [span.name for id, span in self.spans if id == session_id]


@pytest.fixture
async def clock():
    return FakeClock()


@pytest.fixture
async def board(tmp_path, clock):
    async with Callboard.open(tmp_path / "x.db", [FLOW, BREAKS], clock=clock) as board:
        yield board


async def answer(board: Callboard, session_id: str) -> None:
    (question,) = await board.inbox(session_id)
    await board.operations.answer(question.id, "yes", by="ada", via="test")


async def whole_trip(board: Callboard, clock: FakeClock) -> str:
    waiting = await board.run(FLOW)
    await clock.advance(3600)
    await answer(board, waiting.session_id)
    await board.drive(waiting.session_id)
    return waiting.session_id


async def folded(board: Callboard, session_id: str) -> list[Span]:
    trace = Trace()
    return [span for event in await board.events(session_id) for span in trace.add(event)]


async def test_a_session_is_its_phases_and_in_them_agents_and_waits(board, clock):
    session_id = await whole_trip(board, clock)
    spans = await folded(board, session_id)
    assert [span.name for span in spans] == WHOLE
    by_key = {span.key: span for span in spans}
    above = [by_key[span.parent].name if span.parent else None for span in spans]
    assert above == ["phase plan", "workflow trip", "phase ask", "workflow trip", "phase book",
                     "workflow trip", None]  # fmt: skip
    assert len({span_id(session_id, span.key) for span in spans}) == len(spans)
    assert all(span.error is None for span in spans)


async def test_the_moments_are_those_of_the_events(board, clock):
    session_id = await whole_trip(board, clock)
    events = await board.events(session_id)
    *_, asked, received = (e for e in events if e.name in (names.REQUESTED, names.RECEIVED))
    wait = next(s for s in await folded(board, session_id) if s.name == "wait for a person")
    assert (wait.start_ms, wait.end_ms) == (asked.at_ms, received.at_ms)
    assert wait.end_ms - wait.start_ms == 3_600_000
    assert wait.attributes["callboard.question.outcome"] == "received"
    assert wait.attributes["callboard.question.approved"] is True


async def test_nothing_that_was_said_leaves_the_machine(board, clock):
    session_id = await whole_trip(board, clock)
    failed = await board.run(BREAKS)
    told = f"{await folded(board, session_id)} {await folded(board, failed.session_id)}"
    assert "secret" not in told


async def test_what_failed_is_an_error_and_each_attempt_is_told(tmp_path):
    clock = FakeClock(autojump=True)
    async with Callboard.open(tmp_path / "y.db", [FAILS], clock=clock) as board:
        result = await board.run(FAILS)
        assert result.status == "failed"
        spans = await folded(board, result.session_id)
    assert [span.name for span in spans] == ["agent breaks", "agent breaks", "phase a",
                                             "workflow fails"]  # fmt: skip
    assert {span.error for span in spans} == {"AGENT_ERROR RuntimeError"}
    assert [span.attributes.get("callboard.attempt") for span in spans] == [1, 2, None, None]


async def test_an_interactive_session_that_failed_is_an_error_of_the_wait_alone(board, clock):
    session_id = (await board.run(FLOW)).session_id
    aside = await board.people.ask(type="interactive_session", prompt="?", session_id=session_id)
    await board.people.complete(aside.id, "failed", error="a secret reason")
    await answer(board, session_id)
    await board.drive(session_id)
    spans = await folded(board, session_id)
    wrong = [span.attributes["callboard.question"] for span in spans if span.error]
    assert (wrong, spans[-1].error) == ([aside.id], None)
    assert "secret" not in str(spans)


async def test_what_is_open_when_a_session_is_cancelled_ends_with_it(board):
    waiting = await board.run(FLOW)
    await board.operations.cancel(waiting.session_id)
    spans = await folded(board, waiting.session_id)
    assert [span.name for span in spans][-1] == "workflow trip"
    assert {span.name for span in spans} >= {"phase ask", "wait for a person"}
    assert spans[-1].attributes["callboard.status"] == "cancelled"
    assert spans[-1].error is None


async def test_a_fork_tells_only_its_own_and_points_to_its_parent(board, clock):
    session_id = await whole_trip(board, clock)
    kept = Kept()
    follower = Follower(board.log, kept.send)
    await follower.start()
    forked = await board.fork(session_id, phase="book")
    await follower.stop()
    assert kept.names(forked.session_id) == ["agent work", "phase book", "workflow trip"]
    root = kept.spans[-1][1]
    assert (root.key, root.forked_from) == (ROOT, session_id)


async def test_a_fork_inside_a_phase_goes_on_in_that_phase(board, clock):
    waiting = await board.run(FLOW)
    forked = await board.fork(waiting.session_id)
    await answer(board, forked.session_id)
    await board.drive(forked.session_id)
    spans = await own(board, forked.session_id)
    assert [span.name for span in spans] == WHOLE[2:]
    (began,) = (e for e in await board.events(forked.session_id) if e.name == names.FORKED)
    assert spans[1].name == "phase ask"
    assert spans[1].start_ms == began.at_ms


async def own(board: Callboard, session_id: str) -> list[Span]:
    """The spans of a fork without those of its parent's trace."""
    trace, spans = Trace(), list[Span]()
    for event in await board.events(session_id):
        spans = [] if event.name == names.FORKED else spans
        spans += trace.add(event)
    return spans


@pytest.mark.parametrize("kept_sessions", [1000, 1, 0])
async def test_following_live_tells_each_span_once(board, clock, kept_sessions):
    kept = Kept()
    follower = Follower(board.log, kept.send, kept_sessions)
    await follower.start()
    ids = [await whole_trip(board, clock) for _ in range(3)]
    both = await asyncio.gather(board.run(FLOW), board.run(FLOW))
    for one in both:
        await answer(board, one.session_id)
        await board.drive(one.session_id)
    await follower.stop()
    for session_id in [*ids, *(one.session_id for one in both)]:
        assert kept.names(session_id) == WHOLE


async def test_of_several_servers_one_sends_and_another_takes_over(board, clock, tmp_path):
    first, second = Kept(), Kept()
    async with Callboard.open(tmp_path / "x.db", clock=clock) as other:
        one, two = Follower(board.log, first.send), Follower(other.log, second.send)
        await one.start()
        await two.start()
        waiting = await board.run(FLOW)
        await one.stop()
        await answer(board, waiting.session_id)
        await board.drive(waiting.session_id)
        await two.stop()
    sent = first.names(waiting.session_id) + second.names(waiting.session_id)
    assert sorted(set(sent)) == sorted(set(WHOLE))
    assert second.names(waiting.session_id)[-1] == WHOLE[-1]


async def test_while_another_server_sends_nothing_is_sent_twice(board, clock, tmp_path):
    kept = Kept()
    async with Callboard.open(tmp_path / "x.db", clock=clock) as other:
        followers = [Follower(one.log, kept.send) for one in (board, other)]
        for follower in followers:
            await follower.start()
        waiting = await board.run(FLOW)
        await answer(board, waiting.session_id)
        await board.drive(waiting.session_id)
        while len(kept.names(waiting.session_id)) < len(WHOLE):
            await asyncio.sleep(0.01)
        tasks = [follower._task for follower in followers if follower._task]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    assert sorted(kept.names(waiting.session_id)) == sorted(WHOLE)


async def test_an_agent_that_works_for_a_while_is_told_with_its_worker(board):
    """Who drives the session is known only while it does."""
    working, done = asyncio.Event(), asyncio.Event()

    async def slow(state: Notes) -> str:
        working.set()
        await done.wait()
        return "done"

    flow = Workflow("slow", state=Notes, phases=[Phase("a", agent=slow, terminal=True)])
    kept = Kept()
    follower = Follower(board.log, kept.send)
    await follower.start()
    running = asyncio.ensure_future(board.run(flow))
    await working.wait()
    async with asyncio.timeout(90):
        while not follower._owners:
            await asyncio.sleep(0.01)
    done.set()
    session_id = (await running).session_id
    await follower.stop()
    spans = {span.name: span.attributes for id, span in kept.spans if id == session_id}
    host, pid = "callboard.worker.host", "callboard.worker.pid"
    assert spans["agent slow"][host] == os.uname().nodename
    assert spans["agent slow"][pid] == os.getpid()
    assert not any(host in spans[name] for name in ("phase a", "workflow slow"))


def happened(position: int, name: str, session_id: str = "s") -> Event:
    return Event(f"e{position}", session_id, position, name, 1, {}, 0)


def test_an_agent_that_another_process_started_is_not_told_as_its_successors():
    events = [
        happened(1, names.AGENT_STARTED),
        happened(2, names.AGENT_STARTED, "t"),
        happened(3, names.AGENT_INTERRUPTED),
        happened(4, names.AGENT_STARTED),
        happened(5, names.AGENT_STARTED),
    ]
    assert tracing._started(events) == {"t": ["e2"], "s": ["e4", "e5"]}


async def test_a_restart_goes_on_with_the_same_trace(board, clock):
    first, second = Kept(), Kept()
    follower = Follower(board.log, first.send)
    await follower.start()
    waiting = await board.run(FLOW)
    await follower.stop()
    assert first.names(waiting.session_id) == WHOLE[:2]

    follower = Follower(board.log, second.send)
    await follower.start()
    await answer(board, waiting.session_id)
    await board.drive(waiting.session_id)
    await follower.stop()
    assert second.names(waiting.session_id) == WHOLE[2:]
    parents = {span.parent for _, span in first.spans + second.spans} - {None}
    assert parents <= {span.key for _, span in first.spans + second.spans}


async def test_opentelemetry_gets_them_as_its_own(board, clock):
    exporter = InMemorySpanExporter()
    sink = Otlp(exporter)
    follower = Follower(board.log, sink.send)
    await follower.start()
    session_id = await whole_trip(board, clock)
    failed = await board.run(BREAKS)
    assert failed.status == "failed"
    await follower.stop()
    await sink.close()
    spans: dict[str, Any] = {span.name: span for span in exporter.get_finished_spans()}
    root, phase = spans["workflow trip"], spans["phase ask"]
    assert root.context.trace_id == phase.context.trace_id == trace_id(session_id)
    assert phase.parent.span_id == root.context.span_id == span_id(session_id, ROOT)
    assert root.end_time - root.start_time == 3_600_000 * 1_000_000
    assert spans["agent breaks"].status.status_code is StatusCode.ERROR
    assert root.status.status_code is StatusCode.UNSET
    assert root.resource.attributes["service.name"] == "callboard"


@contextmanager
def receiver() -> Generator[tuple[str, list[ExportTraceServiceRequest]]]:
    """Something that takes OTLP over HTTP, on loopback."""
    got: list[ExportTraceServiceRequest] = []

    class Takes(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            got.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Takes)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_a_collector_receives_the_trace(board, clock, monkeypatch):
    with receiver() as (url, got):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "trips")
        async with traced(board.log):
            session_id = await whole_trip(board, clock)
    resources = [one for request in got for one in request.resource_spans]
    spans = [span for one in resources for scope in one.scope_spans for span in scope.spans]
    assert [span.name for span in spans] == WHOLE
    assert {int.from_bytes(span.trace_id) for span in spans} == {trace_id(session_id)}
    services = {a.value.string_value for one in resources for a in one.resource.attributes}
    assert "trips" in services


async def test_a_collector_that_is_gone_holds_nobody_up(board, clock):
    exporter = OTLPSpanExporter("http://127.0.0.1:9/v1/traces")
    sink = Otlp(exporter, close_within=0.1)
    follower = Follower(board.log, sink.send)
    await follower.start()
    session_id = await whole_trip(board, clock)
    await follower.stop()
    await sink.close()
    assert (await board.session(session_id)).status == "completed"
    exporter.shutdown()  # Or its thread would go on trying beside the next tests.


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({"CALLBOARD_OTEL": "1"}, True),
        ({"CALLBOARD_OTEL": "0", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
    ],
)
def test_the_environment_says_whether_traces_are_wanted(environment, wanted):
    assert is_wanted(environment) is wanted


async def test_without_the_extra_the_error_says_how_to_get_it(board, monkeypatch):
    monkeypatch.delitem(sys.modules, "callboard.server.otlp")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(MissingExtra, match=r"pip install 'callboard\[otel\]'"):
        async with traced(board.log, {"CALLBOARD_OTEL": "1"}):
            pass


def test_who_wants_no_traces_does_not_load_opentelemetry():
    code = "import sys, callboard.server.tracing; print('opentelemetry.sdk' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
