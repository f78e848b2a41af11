"""Messages that wait for a hook, that were typed, or that the client dropped."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.scripted_agent import MessageWorld

from callboard.board.message_delivery import MessageDelivery
from callboard.board.plate_delivery import ASKS_AGAIN, REST, RETRIES, SHOWS_WITHIN
from callboard.errors import ConflictError
from callboard.events import messages as names
from callboard.events import plates as events
from callboard.events.envelope import Event, NewEvent
from callboard.events.payloads.messages import MessageTiming
from callboard.testing.fake_clock import FakeClock


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[MessageWorld]:
    made = MessageWorld(tmp_path, FakeClock())
    made.agent.way = "hook"
    await made.start("running")
    yield made
    await made.board.close()


async def pass_time(world: MessageWorld, seconds: float) -> None:
    assert isinstance(world.clock, FakeClock)
    await world.clock.advance(seconds)


class TestForHooks:
    async def test_it_waits_until_a_hook_runs(self, world: MessageWorld):
        await world.say("a")
        await world.steps()
        assert (list(world.agent.mail.values()), world.agent.got) == (["a"], [])
        (message,) = await world.messages()
        assert (message.status, message.way) == ("queued", "hook")
        world.agent.hook_runs()
        await pass_time(world, 1)
        await world.steps()
        assert await world.statuses() == {"a": "delivered"}
        world.agent.shows["a"] = "seen"
        await pass_time(world, 1)
        await world.steps()
        assert await world.statuses() == {"a": "seen"}

    async def test_it_can_be_withdrawn_until_then(self, world: MessageWorld):
        a = await world.say("a")
        await world.steps()
        assert (await world.board.messages.withdraw(world.id, a)).status == "withdrawn"
        assert world.agent.mail == {}
        told = [one.name for one in await world.board.plates.events(world.id)]
        assert told[-2:] == [names.RETURNED, names.WITHDRAWN]
        await pass_time(world, REST)
        await world.steps()
        assert world.agent.mail == {}

    async def test_not_after_a_hook_has_it(self, world: MessageWorld):
        a = await world.say("a")
        await world.steps()
        world.agent.hook_runs()
        with pytest.raises(ConflictError, match="already handed over"):
            await world.board.messages.withdraw(world.id, a)
        with pytest.raises(ConflictError, match="already handed over"):
            await world.board.messages.change(world.id, a, text="b")
        assert world.agent.got == ["a"]

    async def test_withdrawn_before_its_machine_was_asked_it_never_gets_there(
        self, world: MessageWorld
    ):
        a = await world.say("a")
        assert await world.delivery.step() == 0  # It was decided, and not done.
        assert (await world.board.messages.withdraw(world.id, a)).status == "withdrawn"
        await world.steps()
        assert (world.agent.mail, world.agent.got) == ({}, [])

    async def test_edited_it_is_left_again(self, world: MessageWorld):
        a = await world.say("a")
        await world.steps()
        changed = await world.board.messages.change(world.id, a, text="b")
        assert (changed.status, changed.text) == ("queued", "b")
        await world.steps()
        assert list(world.agent.mail.values()) == ["b"]

    async def test_another_one_is_moved_before_it(self, world: MessageWorld):
        a, b = await world.say("a"), await world.say("b")
        await world.steps()
        await world.board.messages.change(world.id, b, before=a)
        await world.steps()
        assert list(world.agent.mail.values()) == ["b"]
        assert [one.text for one in await world.messages()] == ["b", "a"]

    async def test_a_hook_at_the_end_of_the_turn_takes_what_is_for_after_it(
        self, world: MessageWorld
    ):
        await world.say("a", when="after_turn")
        await world.steps()
        assert list(world.agent.mail.values()) == ["a"]

    async def test_what_is_for_now_goes_first(self, world: MessageWorld):
        await world.say("later", when="after_turn")
        await world.steps()
        await world.say("now")
        await pass_time(world, ASKS_AGAIN)
        await world.steps()
        assert list(world.agent.mail.values()) == ["now"]
        world.agent.hook_runs()
        await pass_time(world, ASKS_AGAIN)
        await world.steps()
        assert list(world.agent.mail.values()) == ["later"]

    async def test_a_better_way_is_taken_once_there_is_one(self, world: MessageWorld):
        await world.say("a")
        await world.steps()
        world.agent.way = "inbox"
        await pass_time(world, ASKS_AGAIN)
        await world.steps()
        assert world.agent.got == []  # Not during the turn.
        await world.hear(events.STOP({}))
        await pass_time(world, ASKS_AGAIN)
        await world.steps()
        assert (world.agent.got, world.agent.mail) == (["a"], {})
        (message,) = await world.messages()
        assert (message.way, message.attempt) == ("inbox", 2)

    @pytest.mark.parametrize("when", ["now", "after_turn"])
    async def test_an_idle_session_gets_it_as_soon_as_there_is_one(
        self, world: MessageWorld, when: MessageTiming
    ):
        """As after a turn, in the moment before its prompt box can be typed into."""
        await world.hear(events.STOP({}))
        await world.say("a", when=when)
        await world.steps()
        assert list(world.agent.mail.values()) == ["a"]
        world.agent.way = "inbox"
        await pass_time(world, ASKS_AGAIN)
        await world.steps()
        assert (world.agent.got, world.agent.mail) == (["a"], {})

    async def test_a_session_that_ends_leaves_it_queued(self, world: MessageWorld):
        await world.say("a")
        await world.steps()
        await world.hear(events.SESSION_END({}))
        await pass_time(world, ASKS_AGAIN)
        await world.steps()
        assert await world.statuses() == {"a": "queued"}
        assert world.agent.mail == {}

    async def test_a_session_that_is_resumed_meanwhile_gets_it_in_its_new_process(
        self, world: MessageWorld
    ):
        await world.say("a")
        await world.steps()
        await world.hear(events.SESSION_START({}), events.PROMPT_SUBMIT({}), pid=4712)
        await world.steps()
        await pass_time(world, RETRIES[0])
        await world.steps()
        (message,) = await world.messages()
        assert (message.attempt, list(world.agent.mail.values())) == (2, ["a"])
        (message,) = (await world.board.messages.queue(world.id)).messages
        assert (message.pid, message.proc_start) == (4712, "1")

    async def test_a_server_that_dies_between_taking_it_back_and_recording_that(
        self, world: MessageWorld
    ):
        await world.say("a")
        await world.steps()
        world.agent.mail.clear()
        await world.serve()
        await pass_time(world, ASKS_AGAIN)
        await world.steps()
        await pass_time(world, RETRIES[-1])
        await world.steps()
        assert list(world.agent.mail.values()) == ["a"]

    async def test_a_hook_that_was_killed_with_it_keeps_nothing_waiting(self, world: MessageWorld):
        await world.say("a")
        await world.say("b")
        await world.steps()
        world.agent.hook_runs()
        world.agent.shows["a"] = "left"
        await world.steps()
        await world.hear(events.STOP({}))
        for _ in range(2):
            await world.steps()
            await pass_time(world, SHOWS_WITHIN + 1)
        await world.steps()
        assert await world.statuses() == {"a": "lost", "b": "queued"}
        assert list(world.agent.mail.values()) == ["b"]

    async def test_two_servers_that_take_it_back(self, world: MessageWorld):
        a = await world.say("a")
        await world.steps()
        withdraw = world.board.messages.withdraw
        done = await asyncio.gather(
            withdraw(world.id, a), withdraw(world.id, a), return_exceptions=True
        )
        assert sorted(type(one).__name__ for one in done) == ["ConflictError", "PlateMessage"]
        assert await world.statuses() == {"a": "withdrawn"}


class TestTyped:
    @pytest.fixture(autouse=True)
    async def typed(self, world: MessageWorld) -> None:
        world.agent.way = "terminal"
        await world.hear(events.STOP({}))
        await pass_time(world, 1)

    async def test_a_prompt_with_its_text_shows_that_it_was_submitted(self, world: MessageWorld):
        await world.say("Run  the\ntests.")
        await world.steps()
        assert await world.statuses() == {"Run  the\ntests.": "handed"}
        await world.hear(events.PROMPT_SUBMIT({"prompt": "Something else"}))
        await world.steps()
        assert await world.statuses() == {"Run  the\ntests.": "handed"}
        await world.hear(events.PROMPT_SUBMIT({"prompt": "Run the tests."}))
        await world.steps()
        assert await world.statuses() == {"Run  the\ntests.": "delivered"}
        await world.hear(events.STOP({}))
        await world.steps()
        assert await world.statuses() == {"Run  the\ntests.": "seen"}

    async def test_an_earlier_prompt_does_not_count(self, world: MessageWorld):
        await world.hear(events.PROMPT_SUBMIT({"prompt": "Go on."}), events.STOP({}))
        await pass_time(world, 1)
        await world.say("Go on.")
        await world.steps()
        await world.steps()
        assert await world.statuses() == {"Go on.": "handed"}

    async def test_a_prompt_that_was_recorded_in_part(self, world: MessageWorld):
        text = "/" + "x" * 10_000
        await world.say(text)
        await world.steps()
        await world.hear(events.PROMPT_SUBMIT({"prompt": f"Message: {text}"[:3999] + "…"}))
        await world.steps()
        assert await world.statuses() == {text: "delivered"}

    async def test_after_a_crash_the_log_shows_it(self, world: MessageWorld):
        await world.say("Go on.")
        await world.steps()
        await world.hear(events.PROMPT_SUBMIT({"prompt": "Go on."}))
        await world.serve()
        await world.steps()
        assert await world.statuses() == {"Go on.": "delivered"}
        assert world.agent.got == ["Go on."]

    async def test_each_look_reads_only_what_is_new(
        self, world: MessageWorld, monkeypatch: pytest.MonkeyPatch
    ):
        await world.say("Go on.")
        await world.steps()
        more = [NewEvent(f"e{n}", "hook_heard", {"raw": {}}, n) for n in range(1000)]
        await world.board.log.append(world.id, more)
        await world.steps()
        read, count = world.board.log.read, 0

        async def counted(*args: Any, **options: Any) -> list[Event]:
            nonlocal count
            found = await read(*args, **options)
            count += len(found)
            return found

        monkeypatch.setattr(world.board.log, "read", counted)
        await world.steps()
        await world.steps()
        assert count == 0
        await world.hear(events.PROMPT_SUBMIT({"prompt": "Go on."}))
        await world.steps()
        assert await world.statuses() == {"Go on.": "delivered"}
        await world.hear(events.STOP({}))
        await world.steps()
        assert await world.statuses() == {"Go on.": "seen"}
        assert count < 50

    async def test_nothing_shows_that_it_was_submitted(self, world: MessageWorld):
        await world.say("Go on.")
        await world.steps()
        await pass_time(world, SHOWS_WITHIN + 1)
        await world.steps()
        await pass_time(world, SHOWS_WITHIN + 1)
        await world.steps()
        (message,) = await world.messages()
        assert (message.status, bool(message.note)) == ("lost", True)


async def test_what_the_client_dropped_is_sent_again(world: MessageWorld):
    world.agent.way = "app_server"
    await world.say("a")
    await world.steps()
    assert world.agent.got == ["a"]
    world.agent.shows["a"] = "untouched"
    await world.steps()
    (message,) = await world.messages()
    assert (message.status, message.attempt) == ("queued", 1)
    world.agent.shows["a"] = "seen"
    await pass_time(world, RETRIES[0])
    await world.steps()
    (message,) = await world.messages()
    assert (message.status, message.attempt) == ("seen", 2)


@pytest.mark.parametrize("is_new", [True, False])
async def test_what_a_process_took_with_it_is_not_looked_for_in_the_next(
    world: MessageWorld, is_new: bool
):
    world.agent.way = "inbox"
    await world.say("a")
    await world.steps()
    world.agent.shows["a"] = "delivered"
    await world.steps()
    world.agent.dropped.add(4711)
    await world.hear(events.SESSION_START({}), events.TURN_IDLE({}), pid=4712)
    await pass_time(world, 3600)
    if is_new:
        await world.serve()
        for message in await world.board.messages.unseen(world.id, 0):
            world.delivery.follow(message)
    await world.steps()
    assert await world.statuses() == {"a": "queued"}
    await pass_time(world, RETRIES[0])
    await world.steps()
    assert world.agent.got == ["a", "a"]


async def test_what_a_hook_brought_is_not_followed_forever(world: MessageWorld):
    await world.say("a")
    await world.steps()
    world.agent.hook_runs()
    await pass_time(world, ASKS_AGAIN)
    await world.steps()
    assert await world.statuses() == {"a": "delivered"}
    await world.hear(events.STOP({}))
    await world.steps()
    await pass_time(world, SHOWS_WITHIN + 1)
    assert await world.steps() is None


async def test_a_new_server_finds_out_who_saw_what_was_delivered_before(world: MessageWorld):
    world.agent.way = "inbox"
    await world.say("a")
    await world.steps()
    world.agent.shows["a"] = "delivered"
    await world.steps()
    assert await world.statuses() == {"a": "delivered"}
    await pass_time(world, 3600)
    world.agent.shows["a"] = "seen"
    board = world.board
    server = MessageDelivery(board.log, board.plates, board.messages, board.hosts, world.clock)
    server.start()
    for _ in range(10):
        await pass_time(world, 0.5)
    await server.stop()
    assert await world.statuses() == {"a": "seen"}
