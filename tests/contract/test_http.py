"""Every route with its shapes, errors and status codes, over a real server on a real port."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests.servers import TOKEN, Server, serving

FLOWS = Path(__file__).parent.parent / "server_flows.py"
PATIENCE = 90
SSE = {"Accept": "text/event-stream"}

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("http"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    async with serving(tmp_path_factory.mktemp("http") / "x.db", FLOWS) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def http(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with server.client() as client:
        yield client


async def begun(http: httpx.AsyncClient, workflow: str, **more: Any) -> str:
    answer = await http.post("/sessions", json={"workflowId": workflow, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()["sessionId"]


async def until(http: httpx.AsyncClient, session: str, status: str) -> dict[str, Any]:
    """The session once it has a status."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = (await http.get(f"/sessions/{session}")).json()
            if found["status"] == status:
                return found
            await asyncio.sleep(0.01)


def error(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The error in the envelope, which is the whole of every refusal."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert list(answer.json()) == ["error"]
    found = answer.json()["error"]
    assert found["code"] == code
    assert found["message"]
    return found


async def frames(
    http: httpx.AsyncClient, path: str, **headers: str
) -> AsyncIterator[tuple[int, Any]]:
    """The id and the event of each frame."""
    async with http.stream("GET", path, headers={**SSE, **headers}) as answer:
        async for frame in frames_of(answer):
            yield frame


async def frames_of(answer: httpx.Response) -> AsyncIterator[tuple[int, Any]]:
    assert answer.status_code == 200, await answer.aread()
    assert answer.headers["content-type"].startswith("text/event-stream")
    place = 0
    async for line in answer.aiter_lines():
        assert not line.startswith("event:"), "onmessage would never see a named frame"
        if line.startswith("id: "):
            place = int(line[4:])
        elif line.startswith("data: "):
            yield place, httpx.Response(200, text=line[6:]).json()


async def test_a_session_from_start_to_end(http: httpx.AsyncClient):
    session = await begun(http, "trip", input="Lisbon")
    found = await until(http, session, "waiting")
    assert found["workflow"] == "trip"
    assert found["phase"] == "plan"
    assert found["parent"] is None
    [question] = found["pending"]
    assert question["prompt"] == "Go to Lisbon?"
    assert question["sessionId"] == session
    answer = await http.post(
        f"/sessions/{session}/input", json={"id": question["id"], "value": "yes"}
    )
    assert answer.json() == {"ok": True}
    ended = await until(http, session, "completed")
    assert ended["pending"] == []
    assert ended["running"] is False
    state = (await http.get(f"/sessions/{session}/state")).json()
    assert state["state"]["plan"] == ["See Lisbon", "Eat"]
    assert state["position"] == state["eventsReplayed"] == ended["position"]


async def test_workflows_with_phases_and_edges(http: httpx.AsyncClient):
    listed = (await http.get("/workflows")).json()["workflows"]
    [trip] = [one for one in listed if one["id"] == "trip"]
    assert trip["inputSchema"] == {"type": "string"}
    assert trip["phases"] == [
        {
            "name": "plan",
            "agent": "planner",
            "human": True,
            "terminal": False,
            "leadsTo": ["book", "plan"],
            "limit": None,
        },
        {
            "name": "book",
            "agent": "booker",
            "human": False,
            "terminal": True,
            "leadsTo": [],
            "limit": None,
        },
    ]
    assert trip["edges"] == [
        {"from": "plan", "to": "book", "taken": "sometimes"},
        {"from": "plan", "to": "plan", "taken": "sometimes"},
    ]


async def test_an_unknown_workflow_names_those_there_are(http: httpx.AsyncClient):
    answer = await http.post("/sessions", json={"workflowId": "nope", "input": "x"})
    assert "trip" in error(answer, 404, "WORKFLOW_NOT_FOUND")["message"]


async def test_with_several_workflows_one_must_be_named(http: httpx.AsyncClient):
    error(await http.post("/sessions", json={"input": "x"}), 400, "VALIDATION_ERROR")


async def test_input_that_does_not_fit_is_refused(http: httpx.AsyncClient):
    answer = await http.post("/sessions", json={"workflowId": "trip", "input": 5})
    assert error(answer, 400, "VALIDATION_ERROR")["field"] == "input"


async def test_an_id_of_ones_own_counts_once(http: httpx.AsyncClient):
    assert await begun(http, "count", input=1, sessionId="mine-1") == "mine-1"
    again = await http.post(
        "/sessions", json={"workflowId": "count", "input": 1, "sessionId": "mine-1"}
    )
    error(again, 409, "SESSION_EXISTS")


@pytest.mark.parametrize("given", ["", "a/b", "x" * 129, "..", "-x", " "])
async def test_an_id_must_be_one(http: httpx.AsyncClient, given: str):
    answer = await http.post("/sessions", json={"workflowId": "count", "sessionId": given})
    assert error(answer, 400, "VALIDATION_ERROR")["field"] == "sessionId"


async def test_sessions_come_in_pages_newest_first(http: httpx.AsyncClient):
    made = [await begun(http, "count", input=1) for _ in range(5)]
    for session in made:
        await until(http, session, "completed")
    seen: list[str] = []
    cursor = None
    while True:
        params = {"workflow": "count", "limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await http.get("/sessions", params=params)).json()
        assert len(page["sessions"]) <= 2
        seen += [one["sessionId"] for one in page["sessions"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen[:5] == made[::-1]
    assert len(seen) == len(set(seen))


async def test_a_session_lists_its_first_questions_and_says_how_many(http: httpx.AsyncClient):
    session = await begun(http, "trip", input="many")
    await until(http, session, "waiting")
    for number in range(4):
        body = {"sessionId": session, "type": "approval", "prompt": f"And {number}?"}
        assert (await http.post("/interactions", json=body)).status_code == 201
    listed = (await http.get("/sessions", params={"q": session})).json()["sessions"]
    assert [(len(one["pending"]), one["pendingCount"]) for one in listed] == [(3, 5)]
    alone = (await http.get(f"/sessions/{session}")).json()
    assert (len(alone["pending"]), alone["pendingCount"]) == (5, 5)
    every = {"sessionId": session, "status": "pending"}
    assert len((await http.get("/interactions", params=every)).json()["interactions"]) == 5


async def test_sessions_can_be_searched(http: httpx.AsyncClient):
    session = await begun(http, "count", input=1, sessionId="findable-session")
    found = (await http.get("/sessions", params={"q": "findable"})).json()["sessions"]
    assert [one["sessionId"] for one in found] == [session]
    assert (await http.get("/sessions", params={"q": "%"})).json()["sessions"] == []


async def test_a_session_is_downloaded(http: httpx.AsyncClient):
    session = await begun(http, "count", input=1, title='One "odd" title')
    await until(http, session, "completed")
    for query, ending, media in (
        ("", "json", "application/json"),
        ("?format=markdown", "md", "text/markdown"),
    ):
        answer = await http.get(f"/sessions/{session}/export{query}")
        assert answer.headers["content-type"].startswith(media)
        named = f'attachment; filename="{session}.{ending}"'
        assert answer.headers["content-disposition"] == named
        assert "odd" in answer.text
    refused = await http.get(f"/sessions/{session}/export?format=yaml")
    assert error(refused, 400, "VALIDATION_ERROR")["field"] == "format"
    error(await http.get("/sessions/nothing/export"), 404, "SESSION_NOT_FOUND")


async def test_a_session_is_renamed(http: httpx.AsyncClient):
    session = await begun(http, "count", input=1)
    renamed = await http.patch(f"/sessions/{session}", json={"title": "Counted", "by": "ann"})
    assert renamed.json()["title"] == "Counted"
    assert (await http.get(f"/sessions/{session}")).json()["title"] == "Counted"
    for body, field in (({}, "title"), ({"title": "x" * 201}, "title"), ({"title": 1}, "title")):
        refused = await http.patch(f"/sessions/{session}", json=body)
        assert error(refused, 400, "VALIDATION_ERROR")["field"] == field
    error(await http.patch("/sessions/nothing", json={"title": "x"}), 404, "SESSION_NOT_FOUND")


async def test_bad_filters_are_named(http: httpx.AsyncClient):
    answer = await http.get("/sessions", params={"status": "odd"})
    assert error(answer, 400, "VALIDATION_ERROR")["field"] == "status"
    answer = await http.get("/sessions", params={"cursor": "garbage"})
    assert error(answer, 400, "VALIDATION_ERROR")["field"] == "cursor"
    answer = await http.get("/sessions", params={"limit": "-1"})
    assert error(answer, 400, "VALIDATION_ERROR")["field"] == "limit"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("DELETE", ""),
        ("GET", "/events"),
        ("GET", "/state"),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/cancel"),
        ("POST", "/fork"),
        ("POST", "/retry"),
    ],
)
async def test_an_unknown_session_is_not_found(http: httpx.AsyncClient, method: str, path: str):
    answer = await http.request(method, f"/sessions/no-such-session{path}")
    error(answer, 404, "SESSION_NOT_FOUND")


async def test_state_at_a_position_and_beyond(http: httpx.AsyncClient):
    session = await begun(http, "count", input=2)
    ended = await until(http, session, "completed")
    first = (await http.get(f"/sessions/{session}/state", params={"position": 0})).json()
    assert first == {"state": first["state"], "position": 0, "eventsReplayed": 0}
    assert first["state"]["seen"] == []
    beyond = await http.get(f"/sessions/{session}/state", params={"position": 10_000})
    assert error(beyond, 400, "VALIDATION_ERROR")["lastPosition"] == ended["position"]
    error(
        await http.get(f"/sessions/{session}/state", params={"position": "x"}),
        400,
        "VALIDATION_ERROR",
    )


async def test_events_as_json_in_pages(http: httpx.AsyncClient):
    session = await begun(http, "count", input=3)
    ended = await until(http, session, "completed")
    whole = (await http.get(f"/sessions/{session}/events")).json()
    assert [one["position"] for one in whole["events"]] == list(range(1, ended["position"] + 1))
    assert "nextAfter" not in whole
    assert whole["events"][-1]["payload"]["finalState"]["seen"] == [1, 2, 3]
    assert all(one["_tag"] == one["name"] for one in whole["events"])
    page = (await http.get(f"/sessions/{session}/events", params={"limit": 4})).json()
    assert (len(page["events"]), page["nextAfter"]) == (4, 4)
    rest = (await http.get(f"/sessions/{session}/events", params={"after": 4})).json()
    assert page["events"] + rest["events"] == whole["events"]


async def test_a_stream_has_history_then_live_then_ends(http: httpx.AsyncClient):
    session = await begun(http, "trip", input="Rome")
    found = await until(http, session, "waiting")
    seen: list[tuple[int, str]] = []
    async with asyncio.timeout(PATIENCE):
        async for place, event in frames(http, f"/sessions/{session}/events"):
            seen.append((place, event["name"]))
            if place == found["position"]:
                await http.post(f"/sessions/{session}/input", json={"input": "yes"})
    assert [place for place, _ in seen] == list(range(1, len(seen) + 1))
    assert seen[-1][1] == "workflow:completed"
    over = await http.get(
        f"/sessions/{session}/events", headers={**SSE, "Last-Event-ID": str(len(seen))}
    )
    assert over.status_code == 204


async def test_a_stream_goes_on_after_the_last_event_id(http: httpx.AsyncClient):
    session = await begun(http, "count", input=3)
    ended = await until(http, session, "completed")
    path = f"/sessions/{session}/events"
    by_id = [place async for place, _ in frames(http, path, **{"Last-Event-ID": "5"})]
    by_after = [place async for place, _ in frames(http, path + "?after=5")]
    assert by_id == by_after == list(range(6, ended["position"] + 1))
    both = [place async for place, _ in frames(http, path + "?after=2", **{"Last-Event-ID": "5"})]
    assert both == by_id
    for odd in ("x", "9" * 5000, "-1"):
        answer = await http.get(path, headers={**SSE, "Last-Event-ID": odd})
        assert error(answer, 400, "VALIDATION_ERROR")["field"] == "Last-Event-ID"
    beyond = await http.get(path, params={"after": 1000}, headers=SSE)
    assert error(beyond, 400, "VALIDATION_ERROR")["lastPosition"] == ended["position"]
    error(await http.get("/stream", params={"after": 2**63}, headers=SSE), 400, "VALIDATION_ERROR")


async def test_the_fork_of_an_ended_session_is_read_past_the_end(http: httpx.AsyncClient):
    session = await begun(http, "trip", input="Graz")
    await until(http, session, "waiting")
    await http.post(f"/sessions/{session}/cancel")
    forked = (await http.post(f"/sessions/{session}/fork")).json()["sessionId"]
    found = await until(http, forked, "waiting")
    places: list[int] = []
    async with asyncio.timeout(PATIENCE):
        async for place, _ in frames(http, f"/sessions/{forked}/events"):
            places.append(place)
            if place == found["position"]:
                break
    assert places == list(range(1, found["position"] + 1))


async def test_an_answer_that_is_deep_or_long_is_refused_shortly(http: httpx.AsyncClient):
    session = await begun(http, "choice")
    [question] = (await until(http, session, "waiting"))["pending"]
    path = f"/interactions/{question['id']}/answer"
    for value in ("[" * 900 + "]" * 900, '"' + "x" * 500_000 + '"'):
        content = f'{{"value": {value}}}'.encode()
        answer = await http.post(
            path, content=content, headers={"Content-Type": "application/json"}
        )
        assert len(error(answer, 400, "VALIDATION_ERROR")["message"]) < 1000


async def test_the_stream_of_everything(http: httpx.AsyncClient):
    got: asyncio.Queue[tuple[int, Any]] = asyncio.Queue()

    async def read() -> None:
        async with http.stream("GET", "/stream", headers=SSE) as answer:
            opened.set()
            async for frame in frames_of(answer):
                got.put_nowait(frame)

    opened = asyncio.Event()
    reading = asyncio.create_task(read())
    await opened.wait()
    session = await begun(http, "count", input=1)
    ended = await until(http, session, "completed")
    mine: list[int] = []
    last = 0
    async with asyncio.timeout(PATIENCE):
        while len(mine) < ended["position"]:
            place, event = await got.get()
            assert place > last
            last = place
            if event["sessionId"] == session:
                mine.append(event["position"])
    assert mine == list(range(1, ended["position"] + 1))
    reading.cancel()


async def test_pause_resume_cancel(http: httpx.AsyncClient):
    session = await begun(http, "trip", input="Oslo")
    await until(http, session, "waiting")
    assert (await http.post(f"/sessions/{session}/pause")).json() == {"ok": True, "wasPaused": True}
    await until(http, session, "paused")
    again = await http.post(f"/sessions/{session}/pause", json={"reason": "twice"})
    assert again.json() == {"ok": True, "wasPaused": False}
    resumed = await http.post(f"/sessions/{session}/resume")
    assert resumed.json() == {"ok": True, "wasResumed": True}
    await until(http, session, "waiting")
    cancelled = await http.post(
        f"/sessions/{session}/cancel", json={"reason": "no more", "by": "Ada"}
    )
    assert cancelled.json() == {"ok": True, "wasCancelled": True}
    assert (await http.post(f"/sessions/{session}/cancel")).json()["wasCancelled"] is False
    error(await http.post(f"/sessions/{session}/resume"), 409, "NOT_RESUMABLE")


async def test_fork_at_a_phase_with_an_edit(http: httpx.AsyncClient):
    session = await begun(http, "trip", input="Bern")
    await until(http, session, "waiting")
    answer = await http.post(
        f"/sessions/{session}/fork",
        json={
            "at": {"phase": "plan", "occurrence": "first"},
            "edits": [{"op": "replace", "path": "/city", "value": "Basel"}],
        },
    )
    assert answer.status_code == 201, answer.text
    forked = answer.json()
    assert forked["originalSessionId"] == session
    assert forked["position"] == forked["eventsCopied"] + 1
    child = await until(http, forked["sessionId"], "waiting")
    assert child["parent"] == session
    assert child["pending"][0]["prompt"] == "Go to Basel?"
    assert child["pending"][0]["id"] != (await until(http, session, "waiting"))["pending"][0]["id"]


async def test_a_fork_that_is_not_to_run_waits_until_it_is_resumed(http: httpx.AsyncClient):
    session = await begun(http, "count", input=1)
    await until(http, session, "completed")
    at = {"at": {"phase": "count"}, "run": False}
    forked = (await http.post(f"/sessions/{session}/fork", json=at)).json()["sessionId"]
    await asyncio.sleep(0.3)
    before = (await http.get(f"/sessions/{forked}")).json()
    assert before["status"] not in ("completed", "failed")
    await http.post(f"/sessions/{forked}/resume")
    await until(http, forked, "completed")


async def test_a_bad_fork_is_named(http: httpx.AsyncClient):
    session = await begun(http, "count", input=1)
    await until(http, session, "completed")
    for body in (
        {"at": {"phase": "nope"}},
        {"at": {"position": 10_000}},
        {"at": {"position": 1, "eventIndex": 2}},
        {"edits": [{"op": "replace", "path": "/none/here", "value": 1}]},
        {"edits": [{"op": "odd", "path": "/upto"}]},
        {"at": {"phase": "count", "occurrence": 0}},
    ):
        answer = await http.post(f"/sessions/{session}/fork", json=body)
        assert answer.status_code in (400, 404), (body, answer.text)
        assert answer.json()["error"]["message"]


async def test_a_failed_session_is_retried_from_its_failed_phase(http: httpx.AsyncClient):
    session = await begun(http, "delivery")
    failed = await until(http, session, "failed")
    answer = await http.post(f"/sessions/{session}/retry")
    assert answer.status_code == 201, answer.text
    again = answer.json()
    assert answer.headers["Location"] == f"/sessions/{again['sessionId']}"
    assert again["originalSessionId"] == session
    assert again["eventsCopied"] < failed["position"]
    child = await until(http, again["sessionId"], "failed")
    assert (child["parent"], child["phase"]) == (session, "deliver")
    shared = (await http.get(f"/sessions/{again['sessionId']}/state")).json()["state"]
    assert shared["packed"] == 1


async def test_a_failed_session_is_retried_from_any_point_with_edits(http: httpx.AsyncClient):
    session = await begun(http, "delivery")
    await until(http, session, "failed")
    edits = [{"op": "replace", "path": "/road", "value": "open"}]
    for at in ({}, {"at": {}}, {"at": {"phase": "pack"}}, {"at": {"position": 1}}):
        answer = await http.post(f"/sessions/{session}/retry", json={**at, "edits": edits})
        assert answer.status_code == 201, answer.text
        await until(http, answer.json()["sessionId"], "completed")


async def test_only_a_failed_session_is_retried(http: httpx.AsyncClient):
    waiting = await begun(http, "trip", input="Bern")
    await until(http, waiting, "waiting")
    answer = await http.post(f"/sessions/{waiting}/retry", json={"at": {"position": 1}})
    assert "only a failed one" in error(answer, 409, "CONFLICT")["message"]
    failed = await begun(http, "delivery")
    await until(http, failed, "failed")
    for body in ({"at": {"phase": "nope"}}, {"at": {"position": 10_000}}):
        answer = await http.post(f"/sessions/{failed}/retry", json=body)
        error(answer, 400, "VALIDATION_ERROR")


async def test_delete_forgets_a_session(http: httpx.AsyncClient):
    session = await begun(http, "trip", input="Kiel")
    await until(http, session, "waiting")
    reading = asyncio.create_task(_names(http, session))
    await asyncio.sleep(0.1)
    assert (await http.delete(f"/sessions/{session}")).json() == {"ok": True}
    assert (await reading)[-1] == "workflow:cancelled"
    error(await http.get(f"/sessions/{session}"), 404, "SESSION_NOT_FOUND")
    inbox = (await http.get("/interactions", params={"sessionId": session})).json()
    assert inbox == {"interactions": [], "nextCursor": None}


async def _names(http: httpx.AsyncClient, session: str) -> list[str]:
    return [event["name"] async for _, event in frames(http, f"/sessions/{session}/events")]


async def test_input_in_its_three_forms(http: httpx.AsyncClient):
    for body in (
        lambda id: {"id": id, "value": "left"},
        lambda id: {"input": "left"},
        lambda id: {"event": {"name": "input:received", "payload": {"id": id, "value": "left"}}},
    ):
        session = await begun(http, "choice")
        [question] = (await until(http, session, "waiting"))["pending"]
        answer = await http.post(f"/sessions/{session}/input", json=body(question["id"]))
        assert answer.status_code == 200, answer.text
        await until(http, session, "completed")


async def test_input_for_the_only_question_counts_large_ones_too(http: httpx.AsyncClient):
    session = await begun(http, "choice")
    await until(http, session, "waiting")
    large = {"sessionId": session, "type": "approval", "prompt": "x" * 2_000_000}
    assert (await http.post("/interactions", json=large)).status_code == 201
    answer = await http.post(f"/sessions/{session}/input", json={"input": "left"})
    error(answer, 409, "CONFLICT")
    assert "asks 2 questions" in answer.json()["error"]["message"]


async def test_input_where_nothing_is_asked(http: httpx.AsyncClient):
    session = await begun(http, "count", input=1)
    await until(http, session, "completed")
    answer = await http.post(f"/sessions/{session}/input", json={"input": "left"})
    error(answer, 404, "INTERACTION_NOT_FOUND")
    error(await http.post(f"/sessions/{session}/input", json={}), 400, "VALIDATION_ERROR")


async def test_the_first_answer_wins(http: httpx.AsyncClient):
    session = await begun(http, "choice")
    [question] = (await until(http, session, "waiting"))["pending"]
    path = f"/interactions/{question['id']}/answer"
    answers = await asyncio.gather(
        *(http.post(path, json={"value": way, "by": way}) for way in ("left", "right") * 5)
    )
    winners = [answer.json() for answer in answers if answer.status_code == 200]
    assert len(winners) == 1
    assert winners[0]["answeredAs"] == winners[0]["response"]["value"]
    assert (winners[0]["answeredBy"], winners[0]["via"]) == ("admin", "http")
    assert winners[0]["receipt"] == "delivered"
    for answer in answers:
        if answer.status_code != 200:
            error(answer, 409, "ALREADY_ANSWERED")


async def test_an_option_that_was_not_offered(http: httpx.AsyncClient):
    session = await begun(http, "choice")
    [question] = (await until(http, session, "waiting"))["pending"]
    answer = await http.post(f"/interactions/{question['id']}/answer", json={"value": "up"})
    assert error(answer, 400, "VALIDATION_ERROR")["field"] == "value"


async def test_an_agent_that_asks_goes_on_with_the_answer(http: httpx.AsyncClient):
    session = await begun(http, "within")
    [question] = (await until(http, session, "waiting"))["pending"]
    await http.post(f"/interactions/{question['id']}/answer", json={"value": "right"})
    await until(http, session, "completed")
    events = (await http.get(f"/sessions/{session}/events")).json()["events"]
    [done] = [one for one in events if one["name"] == "agent:completed"]
    assert done["payload"]["output"] == "right"


async def test_a_question_of_its_own(http: httpx.AsyncClient):
    asked = await http.post("/interactions", json={"type": "confirmation", "prompt": "Deploy?"})
    assert asked.status_code == 201, asked.text
    id = asked.json()["id"]
    assert asked.json()["sessionId"] is None
    listed = (await http.get("/interactions", params={"status": "pending"})).json()["interactions"]
    assert id in [one["id"] for one in listed]
    answered = await http.post(f"/interactions/{id}/answer", json={"approved": False, "by": "Ada"})
    assert answered.json()["status"] == "rejected"
    assert (answered.json()["answeredBy"], answered.json()["answeredAs"]) == ("admin", "Ada")
    error(await http.get(f"/sessions/{id}"), 404, "SESSION_NOT_FOUND")


@pytest.mark.parametrize(
    "body",
    [
        {"type": "approval", "prompt": ""},
        {"type": "odd", "prompt": "x"},
        {"type": "choice", "prompt": "x"},
        {"type": "select", "prompt": "x", "options": []},
        {
            "type": "interactive_session",
            "prompt": "x",
            "config": {"outcomeSchema": {"type": "nonsense"}},
        },
        {"type": "approval", "prompt": "x", "surprise": 1},
    ],
)
async def test_a_question_that_cannot_be_asked(http: httpx.AsyncClient, body: dict[str, Any]):
    error(await http.post("/interactions", json=body), 400, "VALIDATION_ERROR")


async def test_questions_come_in_pages_oldest_first(http: httpx.AsyncClient):
    body = {"type": "input", "prompt": "Which one?"}
    made = [(await http.post("/interactions", json=body)).json()["id"] for _ in range(5)]
    seen: list[str] = []
    params: dict[str, Any] = {"type": "input", "limit": 2}
    while True:
        page = (await http.get("/interactions", params=params)).json()
        assert len(page["interactions"]) <= 2
        seen += [one["id"] for one in page["interactions"]]
        if page["nextCursor"] is None:
            break
        params["cursor"] = page["nextCursor"]
    assert sorted(seen) == sorted(made)
    odd = await http.get("/interactions", params={"cursor": "x"})
    assert error(odd, 400, "VALIDATION_ERROR")["field"] == "cursor"


async def test_claims_expire_and_renew(http: httpx.AsyncClient):
    asked = await http.post("/interactions", json={"type": "approval", "prompt": "Yes?"})
    path = f"/interactions/{asked.json()['id']}/claim"
    first = await http.post(path, json={"by": "Ada", "ttlMs": 1000})
    assert first.json()["claimedBy"] == "Ada"
    assert (await http.post(path, json={"by": "Bo"})).status_code == 409
    assert (await http.post(path, json={"by": "Ada", "ttlMs": 1000})).status_code == 200
    async with asyncio.timeout(PATIENCE):
        while (await http.post(path, json={"by": "Bo"})).status_code != 200:
            await asyncio.sleep(0.1)


async def test_an_unknown_question(http: httpx.AsyncClient):
    error(await http.get("/interactions/nope"), 404, "INTERACTION_NOT_FOUND")
    bodies = {
        "answer": {"value": "x"},
        "assign": None,
        "claim": {"by": "x"},
        "release": {"by": "x"},
        "cancel": None,
    }
    for what, body in bodies.items():
        answer = await http.post(f"/interactions/nope/{what}", json=body)
        error(answer, 404, "INTERACTION_NOT_FOUND")


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b"{", "body"),
        (b"\xff\xfe", "body"),
        (b"[]", "body"),
        (b'"text"', "body"),
        (b'{"workflowId": 5}', "workflowId"),
        (b'{"workflowId": "trip", "odd": 1}', "odd"),
        (b'{"workflowId": "trip", "input": NaN}', "body"),
        (b"", "body"),
    ],
)
async def test_a_body_that_does_not_fit(http: httpx.AsyncClient, content: bytes, field: str):
    answer = await http.post(
        "/sessions", content=content, headers={"Content-Type": "application/json"}
    )
    assert error(answer, 400, "VALIDATION_ERROR")["field"] == field


async def test_a_body_that_is_too_large(http: httpx.AsyncClient):
    error(await http.post("/sessions", content=b"x" * 2_000_000), 413, "TOO_LARGE")

    async def drip() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b"x" * 50_000

    error(await http.post("/sessions", content=drip()), 413, "TOO_LARGE")


async def test_nothing_is_there_and_wrong_methods(http: httpx.AsyncClient):
    error(await http.get("/nothing/here"), 404, "NOT_FOUND")
    answer = await http.put("/sessions")
    error(answer, 405, "METHOD_NOT_ALLOWED")
    assert "GET" in answer.headers["allow"]


async def test_without_a_token_only_health(server: Server):
    async with server.client(token=None) as http:
        assert (await http.get("/health")).json() == {"status": "ok"}
        for path in ("/sessions", "/nothing", "/openapi.json", "/stream", "/metrics"):
            error(await http.get(path), 401, "UNAUTHENTICATED")
    async with server.client(token="cb_wrong") as http:
        error(await http.get("/sessions"), 401, "UNAUTHENTICATED")


async def test_nobody_sees_the_token(server: Server, http: httpx.AsyncClient):
    await http.get("/sessions")
    assert TOKEN not in "\n".join(server.log)
