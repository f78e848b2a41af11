"""Who is told that a person is needed, when, and what."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from tests.lost_events import lose

from callboard.board.plates import Plates
from callboard.errors import StoreBusy, ValidationError
from callboard.events import names, plates
from callboard.events.envelope import Event, NewEvent
from callboard.events.event_name import Entry
from callboard.ids import event_id
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.log.memory_tables import MemoryServerState
from callboard.server.notifications import Notifications, shortened, watching
from callboard.server.notifier import AppriseNotifier
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock
from callboard.testing.log_suite_material import several
from callboard.vendors.reports import HookRequest, Report


class Told:
    """A person with nothing else to do."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str, str | None]] = []
        self.channels: list[str | None] = []
        self.states: list[str | None] = []

    async def needs(
        self,
        title: str,
        body: str,
        link: str | None = None,
        channel: str | None = None,
        state: str | None = None,
    ) -> bool:
        self.messages.append((title, body, link))
        self.channels.append(channel)
        self.states.append(state)
        return True


class Scene:
    def __init__(
        self,
        clock: FakeClock | None = None,
        memory: SharedMemory | None = None,
        told: Told | None = None,
    ) -> None:
        self.clock = clock or FakeClock()
        self.log = MemoryLog(project, self.clock, memory)
        self.plates = Plates(self.log, self.clock)
        self.told = told or Told()

    async def hear(self, *signals: Entry, session: str = "s1", **more: Any) -> None:
        told = Report("claude", session, signals, {}, project_path="/home/ann/shop", **more)
        await self.plates.hear(told)

    async def permission(self, hold: str, session: str = "s1", tool: str = "Bash") -> None:
        asks = Entry(
            plates.PERMISSION_REQUEST,
            {"toolName": tool, "toolInput": {"command": "curl -H sesame"}, "asks": "Run: curl -H"},
        )
        request = HookRequest("permission", "Run: curl", {"toolName": tool})
        await self.hear(asks, session=session, request=request, hold=hold)

    async def question(self, id: str, prompt: str) -> None:
        payload = {"id": id, "type": "approval", "prompt": prompt}
        event = NewEvent(event_id(), names.REQUESTED, payload, self.clock.now_ms())
        await self.log.append(f"stream-{id}", [event])

    @property
    def messages(self) -> list[tuple[str, str]]:
        return [(title, body) for title, body, _ in self.told.messages]


@asynccontextmanager
async def watched(link: str | None = None) -> AsyncGenerator[Scene]:
    scene = Scene()
    notices = Notifications(scene.log, scene.plates, scene.told, scene.clock)
    notices.link = link
    async with watching(notices):
        await scene.clock.advance(0)
        yield scene
    await scene.log.close()


START = plates.SESSION_START({})
PROMPT = plates.PROMPT_SUBMIT({"prompt": "go"})


async def test_a_permission_is_told_after_a_while_and_without_its_command():
    async with watched(link="http://here/app/") as scene:
        await scene.hear(START, PROMPT)
        await scene.permission("h1")
        await scene.clock.advance(9)
        assert scene.told.messages == []
        await scene.clock.advance(2)
        assert scene.told.messages == [
            ("claude in shop needs you", "wants to use Bash", "http://here/app/")
        ]


async def test_what_is_answered_in_time_is_not_told():
    async with watched() as scene:
        await scene.hear(START, PROMPT)
        await scene.permission("h1")
        await scene.clock.advance(5)
        await scene.hear(plates.PERMISSION_RESOLVED({"request": "h1"}))
        await scene.clock.advance(60)
        assert scene.messages == []


async def test_a_question_is_told_once_whatever_else_happens():
    async with watched() as scene:
        await scene.hear(START, PROMPT)
        await scene.permission("h1")
        for _ in range(5):
            await scene.clock.advance(30)
            await scene.hear(plates.HOOK_HEARD({"hook": "x"}))
            (plate,) = await scene.plates.all()
            await scene.plates.change(plate.plate_id, seen=True)
            await scene.plates.change(plate.plate_id, seen=False)
        assert len(scene.messages) == 1


async def test_the_next_question_is_told_again():
    async with watched() as scene:
        await scene.hear(START, PROMPT)
        await scene.permission("h1")
        await scene.clock.advance(30)
        await scene.hear(plates.PERMISSION_RESOLVED({"request": "h1"}))
        await scene.permission("h2", tool="Write")
        await scene.clock.advance(30)
        assert [body for _, body in scene.messages] == ["wants to use Bash", "wants to use Write"]


async def test_several_at_once_share_a_message():
    async with watched() as scene:
        for number in range(12):
            await scene.hear(START, PROMPT, session=f"s{number}")
            await scene.permission(f"h{number}", session=f"s{number}")
        await scene.clock.advance(30)
        ((title, body),) = scene.messages
        assert title == "12 need you"
        assert body.splitlines()[-1] == "and 4 more"


async def test_failed_and_done_are_told_and_seen_is_not():
    async with watched() as scene:
        await scene.hear(START, PROMPT, plates.STOP_FAILURE({"error": "rate_limit"}))
        await scene.clock.advance(30)
        await scene.hear(PROMPT, plates.STOP({"message": "done"}))
        await scene.clock.advance(30)
        assert [body for _, body in scene.messages] == ["failed: rate_limit", "is done"]


async def test_a_question_of_a_workflow_is_told():
    async with watched() as scene:
        await scene.question("q1", "Go to\x1b[31m Rome?\u202e")
        await scene.clock.advance(30)
        assert scene.messages == [("Callboard needs you", "Go to\\x1b[31m Rome?\\u202e")]


async def test_what_waited_before_is_not_told_again():
    scene = Scene()
    await scene.question("q1", "Old?")
    async with watching(Notifications(scene.log, scene.plates, scene.told, scene.clock)):
        await scene.question("q2", "New?")
        await scene.clock.advance(30)
        assert [body for _, body in scene.messages] == ["New?"]
    await scene.log.close()


async def test_a_log_that_fails_is_read_again_and_nothing_is_missed(caplog: Any):
    async with watched() as scene:
        whole = scene.log.tail_all

        async def broken(after: int = 0) -> AsyncGenerator[tuple[int, Event]]:
            raise StoreBusy
            yield

        await scene.question("q1", "First?")
        await scene.clock.advance(30)
        scene.log.tail_all = broken  # type: ignore[method-assign]
        notices = Notifications(scene.log, scene.plates, scene.told, scene.clock)
        async with watching(notices):
            await scene.clock.advance(1)
            scene.log.tail_all = whole  # type: ignore[method-assign]
            await scene.question("q2", "Second?")
            await scene.clock.advance(60)
        assert [body for _, body in scene.messages].count("Second?") == 2
        assert "wait for the log" in caplog.text


async def test_of_several_servers_one_notifies():
    clock, memory, told = FakeClock(), SharedMemory(), Told()
    scenes = [Scene(clock, memory, told) for _ in range(3)]
    async with AsyncExitStack() as stack:
        for scene in scenes:
            notices = Notifications(scene.log, scene.plates, told, clock)
            await stack.enter_async_context(watching(notices))
        elsewhere = Scene(clock, memory)
        notices = Notifications(
            elsewhere.log, elsewhere.plates, elsewhere.told, clock, audience="other receivers"
        )
        await stack.enter_async_context(watching(notices))
        await clock.advance(0)
        await scenes[0].question("q1", "First?")
        await scenes[1].question("q2", "Second?")
        await clock.advance(60)
    said = "\n".join(body for _, body, _ in told.messages)
    assert (said.count("First?"), said.count("Second?")) == (1, 1)
    assert "First?" in str(elsewhere.messages)


async def test_after_a_loss_of_events_nothing_new_is_missed():
    scene = Scene()
    await scene.question("q1", "Old?")
    await scene.clock.advance(1)
    async with watching(Notifications(scene.log, scene.plates, scene.told, scene.clock)):
        await scene.clock.advance(0)
        await scene.log.append("x", several(50))
        await scene.clock.advance(30)
        lose(scene.log, "x", 50)
        await scene.question("q2", "New?")
        await scene.hear(START, PROMPT)
        await scene.permission("h1")
        await scene.clock.advance(60)
        said = "\n".join(body for _, body in scene.messages)
        assert (said.count("New?"), said.count("wants to use Bash"), said.count("Old?")) == (
            1,
            1,
            0,
        )
    await scene.log.close()


class Stuck(Told):
    """A receiver that never takes a message."""

    async def needs(self, *given: object, **more: object) -> bool:
        return await asyncio.Future()


@pytest.mark.parametrize("starts_later", [False, True])
async def test_what_a_server_claimed_before_it_died_is_sent_by_another(starts_later: bool):
    clock, memory, told = FakeClock(), SharedMemory(), Told()
    dying, other = Scene(clock, memory, Stuck()), Scene(clock, memory, told)
    async with AsyncExitStack() as stack:
        late = Notifications(other.log, other.plates, told, clock, patience=20)
        if not starts_later:
            await stack.enter_async_context(watching(late))
        async with watching(Notifications(dying.log, dying.plates, dying.told, clock)):
            await clock.advance(0)
            await dying.question("q1", "First?")
            await dying.question("q2", "Answered?")
            await clock.advance(30)
            dying.log.crash()
        assert told.messages == []
        closes = NewEvent(event_id(), names.INPUT_CANCELLED, {"id": "q2"}, clock.now_ms())
        await other.log.append("stream-q2", [closes])
        if starts_later:
            await stack.enter_async_context(watching(late))
        await clock.advance(60)
        assert [body for _, body, _ in told.messages] == ["First?"]
        third = Scene(clock, memory, told)
        await stack.enter_async_context(
            watching(Notifications(third.log, third.plates, told, clock))
        )
        other.log.crash()
        await third.question("q3", "Third?")
        await clock.advance(60)
        assert [body for _, body, _ in told.messages] == ["First?", "Third?"]


async def test_what_is_due_while_the_log_is_away_is_told_later(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    async with watched() as scene:
        await scene.question("q1", "First?")
        with monkeypatch.context() as away:

            async def broken(*given: object) -> bool:
                raise StoreBusy

            away.setattr(MemoryServerState, "add", broken)
            await scene.clock.advance(30)
            assert scene.messages == []
            assert "waits for the log" in caplog.text
        await scene.clock.advance(10)
        assert [body for _, body in scene.messages] == ["First?"]


@pytest.mark.parametrize(
    "secret",
    [
        "Authorization: Bearer abcdef123",
        "password=hunter2",
        "sk-ant-api03-abcdefghijklmnop",
        "ghp_abcdefghijklmnopqrstuvwxyz",
        "API_KEY=xyz",
        "cb_0123456789abcdef0123",
        "0123456789abcdef0123456789abcdef0123",
    ],
)
def test_what_looks_like_a_secret_is_hidden(secret: str):
    shown = shortened(f"Shall I send {secret} there?")
    assert "[hidden]" in shown
    assert secret.split()[-1].split("=")[-1] not in shown


def test_ordinary_words_are_not_hidden():
    said = "Which store should carts live in, PostgreSQL or the key value one?"
    assert shortened(said) == said


# ---------------------------------------------------------------------- through Apprise


class Receiver:
    """A real receiver on this machine."""

    def __init__(self, status: int = 200) -> None:
        self.bodies: list[dict[str, Any]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                receiver.bodies.append(json.loads(self.rfile.read(length)))
                self.send_response(status)
                self.end_headers()

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self.address = f"json://user:sesame@127.0.0.1:{self.port}/path"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> "Receiver":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def notifier() -> Any:
    made: list[AppriseNotifier] = []

    def make(*urls: str) -> AppriseNotifier:
        made.append(AppriseNotifier(urls))
        return made[-1]

    yield make
    for one in made:
        one.close()


Make = Callable[..., AppriseNotifier]


async def test_a_message_arrives(notifier: Make):
    with Receiver() as receiver:
        assert await notifier(receiver.address).needs("shop needs you", "<b>*x*</b>", "http://l")
    (body,) = receiver.bodies
    assert body["title"] == "shop needs you"
    assert body["message"] == "<b>*x*</b>\nhttp://l"


async def test_a_channel_that_is_meant_is_the_only_one_unless_there_is_none(
    notifier: Make, monkeypatch: pytest.MonkeyPatch
):
    # It waits for seconds between two messages.
    monkeypatch.setattr("apprise.plugins.ntfy.NotifyNtfy.request_rate_per_sec", 0)
    with Receiver() as first, Receiver() as other:
        topic = f"ntfy://127.0.0.1:{other.port}/topic"
        both = notifier(first.address, topic)
        assert await both.needs("t", "b", channel="ntfy")
        assert (len(first.bodies), len(other.bodies)) == (0, 1)
        assert await both.needs("t", "b", channel="slack")
        assert (len(first.bodies), len(other.bodies)) == (1, 2)


async def test_a_sound_needs_no_apprise_and_each_state_has_its_own(
    notifier: Make, monkeypatch: pytest.MonkeyPatch
):
    played: list[str] = []
    monkeypatch.setattr("callboard.server.notifier.play", lambda one: played.append(one) or True)
    monkeypatch.setattr("callboard.server.notifier._apprise", None)
    sounds = notifier("sound://?idle=off&error=/alarm.wav")
    for state in ("awaiting_approval", "awaiting_input", "error", "idle", None):
        assert await sounds.needs("t", "b", state=state)
    assert played == ["rise", "chime", "/alarm.wav", "rise"]


@pytest.mark.parametrize("query", ["idle=loud", "sleepy=off"])
async def test_a_sound_that_nobody_knows_is_refused(notifier: Make, query: str):
    with pytest.raises(ValidationError, match="STATE=SOUND"):
        notifier(f"sound://?{query}")


async def test_what_is_told_says_what_it_sounds_like():
    async with watched() as scene:
        await scene.hear(START, PROMPT)
        await scene.permission("h1")
        await scene.clock.advance(11)
        await scene.hear(plates.STOP_FAILURE({"error": "rate_limit"}), session="s2")
        await scene.clock.advance(11)
        await scene.question("q1", "Go?")
        await scene.hear(plates.STOP({}), session="s3")
        await scene.clock.advance(11)
    assert scene.told.states == ["awaiting_approval", "error", "awaiting_approval"]


async def test_one_that_fails_keeps_no_other_from_being_told(notifier: Make, caplog: Any):
    caplog.set_level(logging.DEBUG)
    with Receiver(500) as broken, Receiver() as whole:
        assert not await notifier(broken.address, whole.address).needs("t", "b")
        assert len(whole.bodies) == 1
    assert "json://…" in caplog.text
    assert "sesame" not in caplog.text
    assert "127.0.0.1" not in caplog.text


async def test_an_address_that_nobody_knows_is_refused_without_being_repeated(notifier: Make):
    with pytest.raises(ValidationError) as refused:
        notifier("json://127.0.0.1", "nonsense://sesame@host")
    assert "Address 2 to notify (nonsense://…)" in str(refused.value)
    assert "sesame" not in str(refused.value)


async def test_messages_that_pile_up_are_dropped(notifier: Make, caplog: Any):
    with Receiver() as receiver:
        one = notifier(receiver.address)
        reached = await asyncio.gather(*(one.needs("t", "b") for _ in range(40)))
        assert reached.count(False) == 20
        assert len(receiver.bodies) == 20
    assert "dropped" in caplog.text
