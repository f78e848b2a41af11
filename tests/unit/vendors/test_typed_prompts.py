"""Messages that are typed: into an idle, empty prompt box, and never into anything else."""

import asyncio
import errno
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from callboard.systems.processes import started_at
from callboard.terminals.link import ShownScreen
from callboard.vendors import typed_prompts
from callboard.vendors.claude.prompt_box import PASTES, read_box
from callboard.vendors.steering import Outgoing, Recipient, Sighting
from callboard.vendors.typed_prompts import TypedClient, TypedPrompts

RULE = "─" * 60
DIALOG = ["Do you want to proceed?", "❯ 1. Yes", "  2. No"]


@dataclass
class FakePane:
    """A client's terminal. on_paste, on_enter: what happens instead of the usual."""

    box: str = ""
    dialog: bool = False
    submitted: list[str] = field(default_factory=list[str])
    approved: int = 0
    serial: int = 0
    on_paste: Callable[["FakePane", str], None] | None = None
    before_key: Callable[["FakePane", str], None] | None = None

    def look(self) -> ShownScreen | None:
        if self.dialog:
            return ShownScreen([*DIALOG, RULE], (1, 0), self.serial, attached=False)
        first, *others = self.box.split("\n")
        rows = [RULE, f"❯ {first}".rstrip(), *(f"  {one}" for one in others), RULE]
        end = len(others) + 1, 2 + len((others or [first])[-1])
        return ShownScreen(rows, end, self.serial, attached=False)

    def paste(self, text: str, serial: int) -> bool:
        if serial != self.serial:
            return False
        self.serial += 1
        if self.on_paste is not None:
            self.on_paste(self, text)
        elif not self.dialog:
            self.box += text
        return True

    def press(self, key: str, serial: int) -> bool:
        if self.before_key is not None:
            self.before_key(self, key)
        if serial != self.serial:
            return False
        self.serial += 1
        if self.dialog:
            self.approved += key == "\r"
        elif key == "\r":
            self.submitted.append(self.box)
            self.box = ""
        elif key == "\x15":
            head, line_break, _ = self.box.rpartition("\n")
            self.box = head + line_break
        elif key == "\x7f":
            self.box = self.box[:-1]
        return True


IDLE = Recipient("claude", "s1", "/p", 1, "1", status="idle")
MESSAGE = Outgoing("m1", "Use the other table.\nThen test.", "now")


@pytest.fixture
def pane(monkeypatch: pytest.MonkeyPatch) -> FakePane:
    made = FakePane()
    monkeypatch.setattr(typed_prompts, "pane_of", lambda pid, start: made)
    monkeypatch.setattr(typed_prompts, "SHOWS_WITHIN", 0.2)
    return made


@pytest.fixture
def typing(tmp_path: Path) -> TypedPrompts:
    return TypedPrompts(TypedClient(read_box, PASTES, pause=0.0), tmp_path / "typed")


async def test_it_is_pasted_seen_and_submitted(typing: TypedPrompts, pane: FakePane):
    assert (await typing.reach(IDLE)).way == "terminal"
    assert (await typing.say(IDLE, MESSAGE)).result == "accepted"
    assert pane.submitted == [MESSAGE.text]
    assert (await typing.look(IDLE, MESSAGE)).status is None


@pytest.mark.parametrize("status", ["busy", "waiting", None])
async def test_only_while_it_is_idle(typing: TypedPrompts, pane: FakePane, status):
    recipient = Recipient("claude", "s1", "/p", 1, "1", status=status)
    assert (await typing.reach(recipient)).way is None
    assert (await typing.say(recipient, MESSAGE)).result == "untouched"
    assert (pane.box, pane.submitted) == ("", [])


async def test_not_over_a_draft(typing: TypedPrompts, pane: FakePane):
    pane.box = "what I was about to"
    assert "draft" in ((await typing.reach(IDLE)).note or "")
    assert (await typing.say(IDLE, MESSAGE)).result == "untouched"
    assert (pane.box, pane.submitted) == ("what I was about to", [])


async def test_not_into_a_dialog(typing: TypedPrompts, pane: FakePane):
    pane.dialog = True
    assert (await typing.reach(IDLE)).way is None
    assert (await typing.say(IDLE, MESSAGE)).result == "untouched"
    assert (pane.approved, pane.submitted) == (0, [])


async def test_a_dialog_that_opens_just_before_the_paste(typing: TypedPrompts, pane: FakePane):
    """It swallows the paste. Enter would approve it, and is not pressed."""

    def swallow(pane: FakePane, text: str) -> None:
        pane.dialog = True

    pane.on_paste = swallow
    assert (await typing.say(IDLE, MESSAGE)).result == "unknown"
    assert (pane.approved, pane.submitted) == (0, [])
    pane.dialog = False  # Its person closes it. The box is empty, so nothing was submitted.
    assert (await typing.look(IDLE, MESSAGE)).status == "untouched"


async def test_a_dialog_that_opens_over_the_text(typing: TypedPrompts, pane: FakePane):
    def cover(pane: FakePane, text: str) -> None:
        pane.box, pane.dialog = text, True

    pane.on_paste = cover
    assert (await typing.say(IDLE, MESSAGE)).result == "unknown"
    assert (await typing.look(IDLE, MESSAGE)).status is None
    assert pane.approved == 0
    pane.dialog = False
    assert (await typing.look(IDLE, MESSAGE)).status == "untouched"
    assert (pane.box, pane.submitted) == ("", [])


async def test_a_dialog_that_opens_just_before_enter(typing: TypedPrompts, pane: FakePane):
    """What is printed meanwhile is noticed by whoever keeps the terminal."""

    def open_dialog(pane: FakePane, key: str) -> None:
        if key == "\r":
            pane.dialog = True
            pane.serial += 1

    pane.before_key = open_dialog
    assert (await typing.say(IDLE, MESSAGE)).result == "unknown"
    assert (pane.approved, pane.submitted) == (0, [])


async def test_what_a_person_types_meanwhile_is_not_submitted(typing: TypedPrompts, pane: FakePane):
    def type_before(pane: FakePane, text: str) -> None:
        pane.box = f"rm -rf {text}"

    pane.on_paste = type_before
    assert (await typing.say(IDLE, MESSAGE)).result == "unknown"
    assert pane.submitted == []
    assert pane.box.startswith("rm -rf")


async def test_text_that_shows_only_in_part_is_taken_out(typing: TypedPrompts, pane: FakePane):
    def cut_off(pane: FakePane, text: str) -> None:
        pane.box = text[:10]

    pane.on_paste = cut_off
    assert (await typing.say(IDLE, MESSAGE)).result == "untouched"
    assert (pane.box, pane.submitted) == ("", [])


async def test_a_screen_that_changed_is_not_typed_into(typing: TypedPrompts, pane: FakePane):
    shown = pane.look

    def change() -> ShownScreen | None:
        found = shown()
        pane.serial += 1
        return found

    pane.look = change  # type: ignore[method-assign]
    assert (await typing.say(IDLE, MESSAGE)).result == "untouched"
    assert (pane.box, pane.submitted) == ("", [])


async def test_a_long_paste_shows_as_a_sign(typing: TypedPrompts, pane: FakePane):
    def fold(pane: FakePane, text: str) -> None:
        pane.box = "[Pasted text #3 +29 lines]"

    pane.on_paste = fold
    assert (await typing.say(IDLE, MESSAGE)).result == "accepted"


@dataclass
class FrozenPane(FakePane):
    """A client that does nothing with its keys until it is thawed."""

    keys: list[str] = field(default_factory=list[str])
    thaws_at: int | None = None

    def press(self, key: str, serial: int) -> bool:
        self.keys.append(key)
        return True

    def look(self) -> ShownScreen | None:
        if self.keys and self.thaws_at is not None:
            self.thaws_at -= 1
            if self.thaws_at == 0:
                keys, self.keys = self.keys, []
                for key in keys:
                    super().press(key, self.serial)
        return super().look()


async def test_enter_is_pressed_once_into_a_client_that_is_frozen(
    typing: TypedPrompts, monkeypatch: pytest.MonkeyPatch
):
    pane = FrozenPane()
    monkeypatch.setattr(typed_prompts, "pane_of", lambda pid, start: pane)
    monkeypatch.setattr(typed_prompts, "SHOWS_WITHIN", 0.2)
    said = await typing.say(IDLE, MESSAGE)
    assert (said.result, pane.keys) == ("unknown", ["\r"])
    assert (await typing.look(IDLE, MESSAGE)).status is None
    assert pane.keys == ["\r"]


async def test_a_client_that_thaws_late_is_not_given_it_again(
    typing: TypedPrompts, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(typed_prompts, "SHOWS_WITHIN", 0.2)
    for late in range(1, 8):
        pane = FrozenPane(thaws_at=late)
        monkeypatch.setattr(typed_prompts, "pane_of", lambda pid, start, pane=pane: pane)
        message = replace(MESSAGE, id=f"m{late}")
        said = await typing.say(IDLE, message)
        assert said.result in ("accepted", "unknown"), late
        assert (await typing.look(IDLE, message)).status is None
        while pane.keys:
            pane.look()
        assert pane.submitted == [MESSAGE.text], late


async def test_enter_that_was_said_to_have_failed(typing: TypedPrompts, pane: FakePane):
    """Its terminal did press it, and replied too late."""
    press = pane.press

    def reply_late(key: str, serial: int) -> bool:
        press(key, serial)
        return False

    pane.press = reply_late  # type: ignore[method-assign]
    assert (await typing.say(IDLE, MESSAGE)).result == "unknown"
    assert (await typing.look(IDLE, MESSAGE)).status is None
    assert (pane.box, pane.submitted) == ("", [MESSAGE.text])


async def test_a_person_presses_enter_before_us(typing: TypedPrompts, pane: FakePane):
    def submit(pane: FakePane, key: str) -> None:
        if key == "\r" and pane.box:
            pane.submitted.append(pane.box)
            pane.box = ""
            pane.serial += 1

    pane.before_key = submit
    assert (await typing.say(IDLE, MESSAGE)).result == "unknown"
    assert (await typing.look(IDLE, MESSAGE)).status is None
    assert pane.submitted == [MESSAGE.text]


async def test_a_client_that_shows_a_paste_late_is_not_given_it_again(
    typing: TypedPrompts, pane: FakePane
):
    def freeze(pane: FakePane, text: str) -> None:
        pane.serial -= 1

    pane.on_paste = freeze
    assert (await typing.say(IDLE, MESSAGE)).result == "unknown"
    assert (await typing.look(IDLE, MESSAGE)).status is None
    pane.box, pane.serial = MESSAGE.text, pane.serial + 1
    assert (await typing.look(IDLE, MESSAGE)).status is None
    assert pane.box == MESSAGE.text


async def test_enter_that_does_nothing_is_pressed_again(typing: TypedPrompts, pane: FakePane):
    presses = []

    def ignore_first(pane: FakePane, key: str) -> None:
        presses.append(key)
        if len(presses) == 1:
            pane.serial += 1

    pane.before_key = ignore_first
    assert (await typing.say(IDLE, MESSAGE)).result == "accepted"
    assert (presses, pane.submitted) == (["\r", "\r"], [MESSAGE.text])


async def test_who_learns_that_it_is_handed_over_finds_it_on_its_way(
    typing: TypedPrompts, pane: FakePane
):
    found: list[Sighting] = []

    def look_meanwhile() -> None:
        found.append(asyncio.run(typing.look(IDLE, MESSAGE)))

    assert (await typing.say(IDLE, MESSAGE, look_meanwhile)).result == "accepted"
    assert found == [Sighting(None)]


async def test_what_cannot_be_noted_was_never_typed(typing: TypedPrompts, pane: FakePane):
    def fail() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        await typing.say(IDLE, MESSAGE, fail)
    assert (pane.box, pane.submitted) == ("", [])
    assert (await typing.look(IDLE, MESSAGE)).status == "untouched"


def note_of(folder: Path) -> Path:
    (found,) = (folder / "typed").iterdir()
    return found


@pytest.mark.parametrize("has_text", [True, False])
async def test_a_crash_before_enter_leaves_it_queued(
    typing: TypedPrompts, pane: FakePane, tmp_path: Path, has_text: bool
):
    def die(pane: FakePane, text: str) -> None:
        pane.box = text if has_text else ""
        raise RuntimeError("killed")

    pane.on_paste = die
    with pytest.raises(RuntimeError):
        await typing.say(IDLE, MESSAGE)
    assert (await typing.look(IDLE, MESSAGE)).status is None  # It may still be typing.
    end_typing(tmp_path)
    assert (await typing.look(IDLE, MESSAGE)).status == "untouched"
    assert (pane.box, pane.submitted) == ("", [])


def end_typing(folder: Path) -> None:
    """The process that typed is gone."""
    note = note_of(folder)
    told = json.loads(note.read_bytes())
    assert told["stage"] == "pasted"
    note.write_text(json.dumps({**told, "pid": 2**22 - 1, "start": "0"}))


async def test_a_crash_before_the_paste_touches_no_draft(typing: TypedPrompts, pane: FakePane):
    """Nothing was pasted, so what is in the box is its person's, whatever it looks like."""
    for draft in ("[Pasted text #1 +30 lines]", "Use", ""):
        pane.box = draft
        assert (await typing.look(IDLE, MESSAGE)).status == "untouched"
        assert pane.box == draft


async def test_a_client_that_is_killed_before_enter_never_got_it(
    typing: TypedPrompts, pane: FakePane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def die(pane: FakePane, text: str) -> None:
        raise RuntimeError("killed")

    pane.on_paste = die
    with pytest.raises(RuntimeError):
        await typing.say(IDLE, MESSAGE)
    end_typing(tmp_path)
    monkeypatch.setattr(typed_prompts, "pane_of", lambda pid, start: None)
    here = Recipient("claude", "s1", "/p", os.getpid(), started_at(os.getpid()), status="idle")
    assert (await typing.look(here, MESSAGE)).status is None
    gone = Recipient("claude", "s1", "/p", 2**22 - 1, "0")
    assert (await typing.look(gone, MESSAGE)).status == "untouched"


async def test_a_client_that_is_killed_after_enter_may_have_got_it(
    typing: TypedPrompts, pane: FakePane, monkeypatch: pytest.MonkeyPatch
):
    assert (await typing.say(IDLE, MESSAGE)).result == "accepted"
    monkeypatch.setattr(typed_prompts, "pane_of", lambda pid, start: None)
    gone = Recipient("claude", "s1", "/p", 2**22 - 1, "0")
    assert (await typing.look(gone, MESSAGE)).status is None


async def test_without_a_note_that_enter_comes_next_it_is_not_pressed(
    typing: TypedPrompts, pane: FakePane, monkeypatch: pytest.MonkeyPatch
):
    """After a crash, the note from before would say that nothing was submitted."""
    write = typed_prompts.replace

    def fill_disk(path: Path, content: bytes) -> None:
        if b"entered" in content:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, content)

    monkeypatch.setattr(typed_prompts, "replace", fill_disk)
    assert (await typing.say(IDLE, MESSAGE)).result == "untouched"
    assert (pane.box, pane.submitted) == ("", [])


async def test_a_crash_after_enter_is_decided_by_evidence(
    typing: TypedPrompts, pane: FakePane, tmp_path: Path
):
    assert (await typing.say(IDLE, MESSAGE)).result == "accepted"
    told = json.loads(note_of(tmp_path).read_bytes())
    assert (told["stage"], told["start"]) == ("entered", started_at(os.getpid()))
    assert (await typing.look(IDLE, MESSAGE)).status is None


async def test_two_at_once_are_not_mixed(typing: TypedPrompts, pane: FakePane):
    other = Outgoing("m2", "Something else.", "now")
    await asyncio.gather(typing.say(IDLE, MESSAGE), typing.say(IDLE, other))
    assert set(pane.submitted) <= {MESSAGE.text, other.text}


async def test_interrupting(typing: TypedPrompts, pane: FakePane):
    assert not (await typing.interrupt(IDLE)).told
    assert (await typing.interrupt(Recipient("claude", "s1", "/p", 1, "1", status="busy"))).told
