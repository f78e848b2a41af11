"""Messages to an agent in the terminal, by key presses."""

from pathlib import Path

import pytest
from tests.unit.tui.scripted import ScriptedSource, message, plate
from tests.unit.tui.stage import Stage, staged
from textual.widgets import TextArea

from callboard.tui.messages import MessagesScreen
from callboard.vendors.steering import Reach

SIZES = [(40, 14), (80, 24), (150, 36)]


def source(status: str = "running") -> ScriptedSource:
    made = ScriptedSource([plate("shop", status)])
    made.written["shop"] = [
        message("m1", "Use the other table.", status="seen"),
        message("m2", "Run the tests first.", status="lost", note="The session has ended."),
        message("m3", "Then look at the docs,\nand mend them."),
        message("m4", "And commit it.", when="after_turn", by=None),
    ]
    return made


async def opened(stage: Stage) -> MessagesScreen:
    await stage.press("s")
    await stage.until(lambda: "Checking" not in stage.text)
    screen = stage.app.screen
    assert isinstance(screen, MessagesScreen)
    return screen


def draft(stage: Stage) -> str:
    return stage.app.screen.query_one(TextArea).text


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_queue_and_a_new_message(tmp_path: Path, size: tuple[int, int]):
    async with staged(source(), tmp_path, size) as stage:
        await opened(stage)
        await stage.type("Stop now")
        stage.matches(f"messages-{size[0]}x{size[1]}")
        assert len(stage.lines) == size[1]


async def test_a_message_is_sent_now_or_after_this_turn(tmp_path: Path):
    told = ScriptedSource([plate("shop")])
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        assert "Now · Delivered at the agent's next step." in stage.text
        await stage.type("One")
        await stage.press("ctrl+j")
        await stage.type("two")
        await stage.press("enter")
        await stage.until(lambda: told.written.get("shop"))
        assert draft(stage) == ""
        await stage.press("ctrl+t")
        assert "After this turn · Delivered when" in stage.text
        await stage.type("Three")
        await stage.press("enter")
        await stage.until(lambda: len(told.written["shop"]) == 2)
    assert [(one.text, one.when) for one in told.written["shop"]] == [
        ("One\ntwo", "now"),
        ("Three", "after_turn"),
    ]


async def test_an_empty_message_is_not_sent(tmp_path: Path):
    told = ScriptedSource([plate("shop")])
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        await stage.press("space", "enter")
        assert not told.written


async def test_its_receipts_follow(tmp_path: Path):
    told = source()
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        told.receive("shop", "m3", "held")
        await stage.until(lambda: "Waiting for the person at its terminal" in stage.text)
        told.receive("shop", "m3", "seen")
        await stage.until(lambda: stage.text.count("Seen by the model.") == 2)


async def test_a_queued_message_is_edited(tmp_path: Path):
    told = source()
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        await stage.type("kept")
        await stage.press("tab", "e")
        assert draft(stage) == "And commit it."
        assert "Editing a queued message · After this turn" in stage.text
        await stage.type(" Please.")
        await stage.press("ctrl+t", "enter")
        await stage.until(lambda: told.written["shop"][3].text == "And commit it. Please.")
        assert told.written["shop"][3].when == "now"
        assert draft(stage) == "kept"


async def test_editing_is_cancelled(tmp_path: Path):
    told = source()
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        await stage.press("tab", "e", "x", "escape")
        assert draft(stage) == ""
        assert isinstance(stage.app.screen, MessagesScreen)
        assert told.written["shop"][3].text == "And commit it."


async def test_queued_messages_are_moved_and_withdrawn(tmp_path: Path):
    told = source()
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        await stage.press("tab", "K")
        await stage.until(lambda: told.written["shop"][2].id == "m4")
        await stage.until(lambda: "After this turn" in stage.lines[5])
        await stage.press("K")
        assert [one.id for one in told.written["shop"]] == ["m1", "m2", "m4", "m3"]
        await stage.press("J")
        await stage.until(lambda: told.written["shop"][3].id == "m4")
        await stage.press("w")
        await stage.until(lambda: "Withdrawn." in stage.text)
        assert told.written["shop"][3].status == "withdrawn"


async def test_only_what_waits_can_be_changed(tmp_path: Path):
    told = source()
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        await stage.press("tab", "home", "e", "w", "J")
        assert draft(stage) == ""
        assert [one.status for one in told.written["shop"]] == ["seen", "lost", "queued", "queued"]


async def test_a_lost_message_is_written_again(tmp_path: Path):
    async with staged(source(), tmp_path) as stage:
        await opened(stage)
        await stage.type("Also this.")
        await stage.press("tab", "home", "down", "a")
        assert draft(stage) == "Also this.\n\nRun the tests first."
        await stage.press("tab", "home", "y")
        assert stage.app.clipboard == "Use the other table."


async def test_what_was_not_sent_is_kept(tmp_path: Path):
    async with staged(source(), tmp_path) as stage:
        await opened(stage)
        await stage.type("half a th")
        await stage.press("escape")
        await opened(stage)
        assert draft(stage) == "half a th"


async def test_why_it_cannot_be_reached(tmp_path: Path):
    told = source()
    told.reach = Reach(None, authority=False, note="A dialog is open in its terminal.")
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        assert "A dialog is open in its terminal. A message stays queued" in stage.text
        told.reach = Reach("terminal", authority=True)
        await stage.until(lambda: "Delivered at the agent's next step." in stage.text)
        assert "not as typed" not in stage.text


async def test_a_session_that_has_ended(tmp_path: Path):
    async with staged(source("closed"), tmp_path) as stage:
        await stage.press("c")
        await opened(stage)
        assert "This session has ended." in stage.text


async def test_an_interrupt_is_confirmed(tmp_path: Path):
    told = source()
    told.receive("shop", "m3", "handed")
    async with staged(told, tmp_path) as stage:
        await stage.press("i")
        await stage.until(lambda: "may be lost" in stage.text)
        stage.matches("interrupt")
        await stage.press("escape")
        assert not told.interrupted
        await stage.press("i")
        await stage.until(lambda: "may be lost" in stage.text)
        await stage.press("y")
        await stage.until(lambda: told.interrupted == ["shop"])


async def test_nothing_to_interrupt(tmp_path: Path):
    told = source("idle")
    async with staged(told, tmp_path) as stage:
        await stage.press("i")
        assert "Interrupt shop?" not in stage.text


async def test_what_could_deceive_is_made_visible(tmp_path: Path):
    told = ScriptedSource([plate("shop")])
    bad = "\x1b[2K\u202e [red]x[/red]"
    told.written["shop"] = [message("m1", bad, status="lost", note=bad, by=bad)]
    told.reach = Reach(None, authority=False, note=bad)
    async with staged(told, tmp_path, (150, 36)) as stage:
        await opened(stage)
        assert "\x1b" not in stage.text
        assert "\u202e" not in stage.text
        assert stage.text.count("\\x1b[2K\\u202e [red]x[/red]") == 4
