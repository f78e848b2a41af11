"""What is counted, and that nobody can make it grow without end."""

import asyncio
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Response
from prometheus_client.parser import text_string_to_metric_families
from starlette.routing import Mount

from callboard import Approval, Phase, State, Workflow, agent
from callboard.app import Callboard
from callboard.clock import SystemClock
from callboard.log.protocol import Writing
from callboard.server.access.identity import Identity
from callboard.server.memory import MemoryBudget
from callboard.server.metrics import STATUSES, Metrics
from callboard.server.request_metrics import Measured, Routed, ServedRequest
from callboard.testing.fake_clock import FakeClock


class Nothing(State):
    pass


@agent
async def work(state: Nothing) -> str:
    return "done"


ASKS = Workflow("asks", state=Nothing, phases=[Phase("a", human=Approval("Go on?"), terminal=True)])
WORKS = Workflow("works", state=Nothing, phases=[Phase("a", agent=work, terminal=True)])


@dataclass
class Busy:
    driving: int = 3
    queued: int = 2
    reading: int = 5


BUSY: Any = Busy()
"""Stands for a driver, and for streams."""


def read(text: bytes) -> dict[tuple[str, ...], float]:
    """Name and label values → value."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


async def test_sessions_questions_and_events_are_counted_from_the_log(tmp_path):
    clock = FakeClock()
    async with Callboard.open(tmp_path / "x.db", [ASKS, WORKS], clock=clock) as board:
        metrics = Metrics(board.log, clock, BUSY, BUSY, MemoryBudget(100))
        empty = read(await metrics.text())
        assert {empty["callboard_sessions", status] for status in STATUSES} == {0}
        assert empty["callboard_question_oldest_seconds",] == 0

        await board.run(WORKS)
        await board.run(ASKS)
        await clock.advance(90)
        await board.run(ASKS)
        found = read(await metrics.text())
        last = await board.log.last_sequence()

    assert found["callboard_sessions", "waiting"] == 2
    assert found["callboard_sessions", "completed"] == 1
    assert found["callboard_questions_pending",] == 2
    assert found["callboard_question_oldest_seconds",] == 90
    assert found["callboard_events_appended_total",] == last > 10
    assert found["callboard_sessions_driven",] == 3
    assert found["callboard_sessions_queued",] == 2
    assert found["callboard_stream_readers",] == 5
    assert found["process_resident_memory_bytes",] > 0


async def test_workers_and_what_waits_for_them_are_counted(tmp_path):
    """Of all processes, not only of this one."""
    path = tmp_path / "x.db"
    async with Callboard.open(path, [WORKS]) as worker, Callboard.open(path, [ASKS]) as board:
        metrics = Metrics(board.log, board.clock, BUSY, BUSY, MemoryBudget(100))
        await board.run(ASKS)
        found = read(await metrics.text())
        assert found["callboard_workers",] == 0
        states = ("driven", "ready", "stranded")
        assert [found["callboard_sessions_with_work", state] for state in states] == [0, 0, 0]

        await worker.log.owners.describe(worker.driver.described(None))
        await board.start("asks")
        sessions = [await worker.start("works") for _ in range(3)]
        await worker.log.append(sessions[0], [], Writing(claim=True))
        found = read(await metrics.text())
    assert found["callboard_workers",] == 1
    assert [found["callboard_sessions_with_work", state] for state in states] == [1, 2, 1]


async def test_two_servers_in_one_process_do_not_meet(tmp_path):
    async with Callboard.open(tmp_path / "x.db") as board:
        one, two = (
            Metrics(board.log, board.clock, BUSY, BUSY, MemoryBudget(100)) for _ in range(2)
        )
        one.served(ServedRequest("GET", "/a", "/a", 200, 0.1, 0.1, None))
        assert ("callboard_http_requests_total", "GET", "/a", "200") in read(await one.text())
        assert ("callboard_http_requests_total", "GET", "/a", "200") not in read(await two.text())


def app_with(served: list[ServedRequest]) -> httpx.AsyncClient:
    app = FastAPI()

    @app.get("/things/{thing}")
    async def show(thing: str) -> Response:
        return Response(thing)

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError("broken")

    async def file(scope, receive, send):
        await Response("file")(scope, receive, send)

    app.router.routes.append(Mount("/app", app=file))

    async def guard(scope, receive, send):
        if scope["path"] == "/refused":
            await Response(status_code=401)(scope, receive, send)
            return
        inner = {**scope, "callboard.identity": Identity("ada", "read")}
        await Routed(app)(inner, receive, send)

    measured = Measured(guard, SystemClock(), [served.append])
    transport = httpx.ASGITransport(measured, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://x")


@pytest.mark.parametrize(
    ("method", "address", "route", "status", "who"),
    [
        ("GET", "/things/1?code=secret", "/things/{thing}", 200, "ada"),
        ("GET", "/things/2%0a", "/things/{thing}", 200, "ada"),
        ("POST", "/things/3", "/things/{thing}", 405, "ada"),
        ("GET", "/app/deep/file.js", "/app", 200, "ada"),
        ("GET", "/nowhere/4", "none", 404, "ada"),
        ("GET", "/broken", "/broken", 500, "ada"),
        ("GET", "/refused?code=secret", "none", 401, None),
    ],
)
async def test_a_request_is_told_by_its_route(method, address, route, status, who):
    served: list[ServedRequest] = []
    async with app_with(served) as client:
        await client.request(method, address)
    (one,) = served
    assert (one.method, one.route, one.status, one.who) == (method, route, status, who)
    assert one.path == address.partition("?")[0]
    assert 0 <= one.began <= one.took


async def test_whoever_leaves_before_the_answer_is_counted_without_a_status():
    served: list[ServedRequest] = []
    entered = asyncio.Event()

    async def never(scope, receive, send):
        entered.set()
        await asyncio.Event().wait()

    scope = {"type": "http", "method": "GET", "path": "/x", "raw_path": b"/x"}
    measured: Any = Measured(never, SystemClock(), [served.append])
    asking = asyncio.create_task(measured(scope, None, None))
    await entered.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert [(one.route, one.status) for one in served] == [("none", 0)]


async def test_no_caller_can_make_new_labels(tmp_path):
    async with Callboard.open(tmp_path / "x.db") as board:
        metrics = Metrics(board.log, board.clock, BUSY, BUSY, MemoryBudget(100))
        for number in range(100):
            served = ServedRequest(
                f"M{number}", f"/{number}", "none", 404, 0.1, 0.1, f"who{number}"
            )
            metrics.served(served)
        found = read(await metrics.text())
    counted = [key for key in found if key[0] == "callboard_http_requests_total"]
    assert counted == [("callboard_http_requests_total", "other", "none", "404")]
