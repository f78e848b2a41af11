"""When messages are handed over, how their receipts come about, and what a crash leaves."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.scripted_agent import MessageWorld

from callboard.board.plate_delivery import ENDS_WITHIN, LOOKS, RETRIES, SHOWS_WITHIN
from callboard.events import messages as names
from callboard.events import plates as events
from callboard.testing.fake_clock import FakeClock


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[MessageWorld]:
    made = MessageWorld(tmp_path, FakeClock())
    await made.start()
    yield made
    await made.board.close()


async def pass_time(world: MessageWorld, seconds: float) -> None:
    assert isinstance(world.clock, FakeClock)
    await world.clock.advance(seconds)


async def test_an_idle_session_gets_a_message_at_once(world: MessageWorld):
    await world.say("Run the tests.")
    pause = await world.steps()
    assert world.agent.got == ["Run the tests."]
    (message,) = await world.messages()
    assert (message.status, message.way, message.authority) == ("handed", "inbox", False)
    assert pause is not None
    assert pause <= LOOKS[-1]
    world.agent.shows["Run the tests."] = "seen"
    assert await world.steps() is None
    (message,) = await world.messages()
    assert message.status == "seen"
    assert message.delivered_at is not None
    assert message.seen_at is not None


async def test_it_is_recorded_before_it_is_handed_over(world: MessageWorld):
    await world.say("Go.")
    assert await world.delivery.step() == 0
    assert world.agent.got == []
    assert await world.statuses() == {"Go.": "handed"}
    told = [event.name for event in await world.board.plates.events(world.id)]
    assert told[-1] == names.HANDED


async def test_after_the_turn(world: MessageWorld):
    await world.hear(events.PROMPT_SUBMIT({}))
    await world.say("Commit.", when="after_turn")
    await world.steps()
    assert world.agent.got == []
    await pass_time(world, 1)
    await world.hear(events.STOP({}))
    await world.steps()
    assert world.agent.got == ["Commit."]


async def test_now_does_not_wait_for_what_comes_after_the_turn(world: MessageWorld):
    await world.hear(events.PROMPT_SUBMIT({}))
    await world.say("Commit.", when="after_turn")
    await world.say("Stop that.")
    await world.steps()
    assert world.agent.got == ["Stop that."]


async def test_one_at_a_time_in_order(world: MessageWorld):
    for text in ("a", "b", "c"):
        await world.say(text)
    await world.steps()
    assert world.agent.got == ["a"]
    world.agent.shows["a"] = "seen"
    await world.steps()
    assert world.agent.got == ["a", "b"]
    assert await world.statuses() == {"a": "seen", "b": "handed", "c": "queued"}


async def test_what_comes_after_the_turn_waits_for_the_turn_of_the_message_before(
    world: MessageWorld,
):
    await world.say("a")
    await world.say("b", when="after_turn")
    world.agent.shows["a"] = "seen"
    await world.steps()
    assert world.agent.got == ["a"]  # Its hook has not reported the turn so far.
    await pass_time(world, 1)
    await world.hear(events.PROMPT_SUBMIT({}))
    await world.steps()
    assert world.agent.got == ["a"]
    await pass_time(world, 1)
    await world.hear(events.STOP({}))
    await world.steps()
    assert world.agent.got == ["a", "b"]


@pytest.mark.parametrize("tool", ["Bash", "AskUserQuestion"])
async def test_nothing_goes_into_an_open_dialog(world: MessageWorld, tool: str):
    await world.hear(
        events.PROMPT_SUBMIT({}), events.PERMISSION_REQUEST({"toolName": tool, "asks": "?"})
    )
    await world.say("Yes.")
    await world.steps()
    assert world.agent.got == []
    assert await world.statuses() == {"Yes.": "queued"}
    await pass_time(world, 1)
    await world.hear(events.PERMISSION_RESOLVED({"toolName": tool}), events.STOP({}))
    await world.steps()
    assert world.agent.got == ["Yes."]


async def test_a_dialog_that_opens_just_before_it_is_handed_over(world: MessageWorld):
    await world.say("Yes.")
    assert await world.delivery.step() == 0  # It was decided.
    await world.hear(events.PERMISSION_REQUEST({"toolName": "Bash", "asks": "?"}))
    await world.steps()
    assert world.agent.got == []
    assert await world.statuses() == {"Yes.": "queued"}


async def test_a_session_that_cannot_be_reached_keeps_it_queued(world: MessageWorld):
    world.agent.way = None
    await world.say("a")
    assert await world.steps() == RETRIES[0]
    assert await world.statuses() == {"a": "queued"}
    assert (await world.board.messages.list(world.id)).reach.note == "Not now."
    world.agent.way = "inbox"
    assert await world.steps() == RETRIES[0]
    await pass_time(world, RETRIES[0])
    await world.steps()
    assert world.agent.got == ["a"]


async def test_untouched_is_tried_again_later_and_each_time_later(world: MessageWorld):
    world.agent.results = ["untouched"] * 3
    await world.say("a")
    for pause in RETRIES[:3]:
        assert await world.steps() == pause
        (message,) = await world.messages()
        assert (message.status, message.note) == ("queued", "It was untouched.")
        await pass_time(world, pause)
    await world.steps()
    (message,) = await world.messages()
    assert (message.status, message.attempt) == ("handed", 4)
    assert world.agent.got == ["a"]


async def test_an_event_of_the_plate_shortens_the_pause(world: MessageWorld):
    world.agent.results = ["untouched"] * 5
    await world.say("a")
    for pause in RETRIES[:-1]:
        await world.steps()
        await pass_time(world, pause)
    assert await world.steps() == RETRIES[-1]
    await pass_time(world, RETRIES[0])
    await world.hear(events.PROMPT_SUBMIT({}))
    await world.steps()
    assert world.agent.got == ["a"]


async def test_it_can_be_withdrawn_after_it_came_back(world: MessageWorld):
    world.agent.results = ["untouched"]
    id = await world.say("a")
    await world.steps()
    await world.board.messages.withdraw(world.id, id)
    await pass_time(world, 100)
    assert await world.steps() is None
    assert world.agent.got == []


async def test_held_is_shown_until_its_person_accepts(world: MessageWorld):
    world.agent.results = ["held"]
    await world.say("a")
    await world.say("b")
    await world.steps()
    (a, _) = await world.messages()
    assert (a.status, a.note) == ("held", "It was held.")
    await pass_time(world, 3600)
    await world.steps()
    assert await world.statuses() == {"a": "held", "b": "queued"}
    world.agent.shows["a"] = "delivered"
    await world.steps()
    assert (await world.statuses())["a"] == "delivered"


async def test_refused_is_lost(world: MessageWorld):
    world.agent.results = ["held"]
    await world.say("a")
    await world.steps()
    world.agent.shows["a"] = "refused"
    assert await world.steps() is None
    (message,) = await world.messages()
    assert message.status == "lost"
    assert message.note == "The person at the terminal refused it."


async def test_held_by_a_client_that_says_so_late(world: MessageWorld):
    """Its person may still accept it, so it is not lost."""
    world.agent.results = ["unknown"]
    await world.say("a")
    world.agent.shows["a"] = "held"
    await world.steps()
    await pass_time(world, 3600)
    await world.steps()
    (message,) = await world.messages()
    assert (message.status, bool(message.note)) == ("held", True)
    world.agent.shows["a"] = "seen"
    await pass_time(world, 3600)
    await world.steps()
    assert await world.statuses() == {"a": "seen"}


async def test_held_by_a_dialog_that_is_gone(world: MessageWorld):
    """A server that was restarted meanwhile isn't told what its person decided."""
    world.agent.results = ["held"]
    await world.say("a")
    await world.say("b")
    await world.steps()
    await world.serve()
    world.agent.shows["a"] = "left"
    await world.steps()
    assert await world.statuses() == {"a": "held", "b": "queued"}
    await pass_time(world, SHOWS_WITHIN + 1)
    await world.steps()
    assert await world.statuses() == {"a": "lost", "b": "handed"}


async def test_held_by_a_client_that_is_killed_it_is_queued_again(world: MessageWorld):
    world.agent.results = ["held"]
    await world.say("a")
    await world.say("b")
    await world.steps()
    await world.hear(events.PROCESS_EXIT({}))
    world.agent.shows["a"] = "untouched"
    await world.steps()
    assert await world.statuses() == {"a": "queued", "b": "queued"}
    assert world.agent.got == ["a"]


async def test_what_shows_nothing_new_is_looked_at_after_a_pause(world: MessageWorld):
    await world.say("a")
    world.agent.shows["a"] = "delivered"
    await world.steps()
    world.agent.shows["a"] = "refused"
    assert await world.steps()
    assert await world.statuses() == {"a": "delivered"}


async def test_unknown_is_decided_by_evidence_alone(world: MessageWorld):
    world.agent.results = ["unknown"]
    await world.say("a")
    await world.hear(events.PROMPT_SUBMIT({}))
    await world.steps()
    await pass_time(world, 3600)  # A tool may run as long as it likes.
    await world.steps()
    assert await world.statuses() == {"a": "handed"}
    await world.hear(events.STOP({}))
    await world.steps()
    await pass_time(world, SHOWS_WITHIN + 1)
    assert await world.steps() is None
    (message,) = await world.messages()
    assert message.status == "lost"
    assert "Look at its conversation" in (message.note or "")
    assert world.agent.got == ["a"]


async def test_after_a_lost_message_comes_the_next(world: MessageWorld):
    world.agent.results = ["unknown but nothing happened"]
    await world.say("a")
    await world.say("b")
    await world.steps()
    await pass_time(world, SHOWS_WITHIN + 1)
    await world.steps()
    assert world.agent.got == ["b"]


async def test_what_was_delivered_is_followed_until_it_is_seen(world: MessageWorld):
    await world.say("a")
    world.agent.shows["a"] = "delivered"
    pause = await world.steps()
    assert pause is not None
    assert pause <= LOOKS[-1]
    assert await world.statuses() == {"a": "delivered"}
    world.agent.shows["a"] = "seen"
    assert await world.steps() is None
    assert await world.statuses() == {"a": "seen"}


async def test_what_was_delivered_and_is_never_seen_stays_delivered(world: MessageWorld):
    await world.say("a")
    world.agent.shows["a"] = "delivered"
    await world.steps()
    await pass_time(world, SHOWS_WITHIN + 1)
    assert await world.steps() is None
    assert await world.statuses() == {"a": "delivered"}


async def test_what_a_client_had_queued_when_it_died_is_queued_again(world: MessageWorld):
    await world.say("a")
    world.agent.shows["a"] = "delivered"
    await world.steps()
    await world.hear(events.PROCESS_EXIT({}))
    world.agent.shows["a"] = "untouched"
    await pass_time(world, LOOKS[-1])
    await world.steps()
    (message,) = await world.messages()
    assert (message.status, message.closed_at, message.delivered_at) == ("queued", None, None)


async def test_the_session_ends_while_a_message_is_on_its_way(world: MessageWorld):
    await world.say("a")
    await world.say("b")
    await world.steps()
    await world.hear(events.SESSION_END({}))
    await world.steps()
    await pass_time(world, ENDS_WITHIN + 1)
    await world.steps()
    (a, b) = await world.messages()
    assert (a.status, b.status) == ("lost", "queued")
    assert "The session ended" in (a.note or "")
    await world.board.messages.withdraw(world.id, b.id)
    assert await world.steps() is None


async def test_the_end_may_show_that_it_arrived(world: MessageWorld):
    await world.say("a")
    await world.steps()
    await world.hear(events.SESSION_END({}))
    world.agent.shows["a"] = "seen"
    assert await world.steps() is None
    assert await world.statuses() == {"a": "seen"}


async def test_the_end_may_show_that_it_never_got_there(world: MessageWorld):
    """Then it is still queued, for when the session is resumed."""
    await world.say("a")
    await world.steps()
    await world.hear(events.SESSION_END({}))
    world.agent.shows["a"] = "untouched"
    await world.steps()
    await pass_time(world, ENDS_WITHIN + 1)
    await world.steps()
    assert await world.statuses() == {"a": "queued"}


async def test_a_crash_before_the_machine_was_asked(world: MessageWorld):
    await world.say("a")
    assert await world.delivery.step() == 0
    await world.serve()
    world.agent.shows["a"] = "seen"
    assert await world.steps() is None
    assert world.agent.got == ["a"]
    assert await world.statuses() == {"a": "seen"}


@pytest.mark.parametrize("shows", ["seen", None])
async def test_a_crash_in_the_middle(world: MessageWorld, shows: str | None):
    asked = asyncio.Event()

    def crash(text: str) -> None:
        world.is_lost = True
        asked.set()

    world.agent.on_say = crash
    await world.say("a")
    await world.crash_while(world.steps(), asked)
    world.is_lost, world.agent.on_say = False, None
    await world.serve()
    if shows:
        world.agent.shows["a"] = shows
    await world.steps()
    await pass_time(world, SHOWS_WITHIN + 1)
    assert await world.steps() is None
    assert world.agent.got == ["a"]
    assert await world.statuses() == {"a": "seen" if shows else "lost"}


async def test_two_servers_hand_a_message_over_once(world: MessageWorld):
    await world.say("a")
    others = [world.new_delivery() for _ in range(3)]
    await asyncio.gather(*(world.steps(one) for one in [world.delivery, *others]))
    assert world.agent.got == ["a"]
    world.agent.shows["a"] = "seen"
    await asyncio.gather(*(world.steps(one) for one in [world.delivery, *others]))
    assert await world.statuses() == {"a": "seen"}
    told = [event.name for event in await world.board.plates.events(world.id)]
    assert [told.count(name) for name in (names.HANDED, names.DELIVERED, names.SEEN)] == [1, 1, 1]
