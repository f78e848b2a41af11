"""The conversation of an agent in the terminal, by key presses."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.unit.tui.scenes import one, permission
from tests.unit.tui.scripted import ScriptedConversation, ScriptedSource, ago, plate
from tests.unit.tui.stage import Stage, staged

from callboard.board.usage_sums import UsageSum
from callboard.events.moments import to_ms
from callboard.tui.conversation import ConversationScreen
from callboard.tui.conversation_view import ConversationView
from callboard.vendors.conversation import ConversationItem, FileEdit, TokenUsage, ToolRun

AT = to_ms(ago(minutes=5))


def prompt(id: str, text: str) -> ConversationItem:
    return ConversationItem(id, AT, "prompt", "person", text)


def reply(id: str, text: str) -> ConversationItem:
    return ConversationItem(id, AT, "reply", "model", text)


def call(id: str, name: str, **more: Any) -> ConversationItem:
    tool = replace(ToolRun(name, {}, None, None, "done", []), **more)
    return ConversationItem(id, AT, "tool", "model", "", tool)


DIFF = "@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 3\n"
CONVERSATION = (
    prompt("p1", "Mend the tests, please."),
    ConversationItem("t1", AT, "thinking", "model", "They could be wrong\nor slow."),
    reply("r1", "I'll run them first."),
    call("c1", "Bash", command="make test", result="2 failed\nsee above", status="failed"),
    call("c2", "Edit", edits=[FileEdit("/home/ann/shop/app.py", DIFF)], result="Updated."),
    call("c3", "Task", input={"description": "Look at the docs"}, subagent="abc"),
    ConversationItem("n1", AT, "notice", "client", "[Request interrupted by user]"),
)


def source(items: Sequence[ConversationItem] = CONVERSATION) -> ScriptedSource:
    made = ScriptedSource([plate("shop")])
    made.conversations["shop", None] = ScriptedConversation([*items])
    return made


async def opened(stage: Stage) -> ConversationScreen:
    await stage.press("h")
    await stage.until(lambda: "reading" not in stage.text)
    screen = stage.app.screen
    assert isinstance(screen, ConversationScreen)
    return screen


def selected(stage: Stage) -> str | None:
    item = stage.app.screen.query_one(ConversationView).selected
    return None if item is None else item.id


async def test_what_it_did(tmp_path: Path):
    async with staged(source(), tmp_path) as stage:
        await opened(stage)
        stage.matches("conversation")
        await stage.press("escape")
        assert not isinstance(stage.app.screen, ConversationScreen)


async def test_what_it_has_used(tmp_path: Path):
    used = TokenUsage("opus", 1300, 840, 11_000, cost=0.034, call="c1")
    told = source([prompt("p1", "Mend it"), replace(reply("r1", "Done."), usage=used)])
    told.usage["shop"] = UsageSum(400_000, 80_000, 700_000, 20_000, 9, 4.31, 0)
    async with staged(told, tmp_path, (100, 30)) as stage:
        await opened(stage)
        await stage.until(lambda: "2 messages · 1.2M tokens, $4.31" in stage.text)
        await stage.press("F")
        await stage.until(lambda: "opus · 12.3k in (11k cached), 840 out · $0.034" in stage.text)


async def test_everything_unfolded(tmp_path: Path):
    async with staged(source(), tmp_path, (80, 36)) as stage:
        await opened(stage)
        await stage.press("F")
        stage.matches("conversation-unfolded")
        await stage.press("F")
        assert "+a = 2" not in stage.text


async def test_one_call_unfolds(tmp_path: Path):
    async with staged(source(), tmp_path, (80, 36)) as stage:
        await opened(stage)
        await stage.press("k", "k", "enter")
        assert selected(stage) == "c2"
        assert "+a = 2" in stage.text
        await stage.press("enter")
        assert "+a = 2" not in stage.text


async def test_it_grows(tmp_path: Path):
    told = source()
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        told.conversations["shop", None].add(reply("r2", "All of them pass."))
        await stage.until(lambda: "All of them pass." in stage.text)
        assert selected(stage) == "r2"
        await stage.press("g")
        told.conversations["shop", None].add(reply("r3", "Anything else?"))
        await stage.until(lambda: "9 messages" in stage.text)
        assert selected(stage) == "p1"


async def test_a_call_ends(tmp_path: Path):
    running = call("c1", "Bash", command="make test", status="running")
    told = source([running])
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        assert "make test  (running)" in stage.text
        told.conversations["shop", None].add(call("c1", "", status="done", result="fine"))
        await stage.until(lambda: "running" not in stage.lines[3])
        await stage.press("enter")
        assert "fine" in stage.text


async def test_earlier_messages(tmp_path: Path):
    items = [prompt(f"p{number}", f"Message {number}.") for number in range(300)]
    async with staged(source(items), tmp_path) as stage:
        await opened(stage)
        assert "60 messages · earlier messages above" in stage.text
        await stage.press("g")
        await stage.until(lambda: "260 messages" in stage.text)
        assert selected(stage) == "p240"
        await stage.press("g")
        await stage.until(lambda: "300 messages" in stage.text)
        await stage.press("g")
        assert "Message 0." in stage.text


async def test_search(tmp_path: Path):
    items = [prompt(f"p{number}", f"Message {number}.") for number in range(300)]
    async with staged(source(items), tmp_path) as stage:
        await opened(stage)
        await stage.press("slash")
        await stage.type("message 7")
        await stage.press("enter")
        await stage.until(lambda: "match 1 of 11" in stage.text)
        assert selected(stage) == "p79"
        await stage.press("n")
        assert selected(stage) == "p78"
        await stage.press("N", "N")
        await stage.until(lambda: "match 11 of 11" in stage.text)
        assert selected(stage) == "p7"
        await stage.press("slash", "escape")
        assert isinstance(stage.app.screen, ConversationScreen)


async def test_a_subagent(tmp_path: Path):
    told = source()
    told.conversations["shop", "abc"] = ScriptedConversation([reply("x1", "The docs are old.")])
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        await stage.press("k", "o")
        await stage.until(lambda: "The docs are old." in stage.text)
        assert "shop › abc" in stage.text
        await stage.press("l")
        assert stage.app.clipboard == "callboard transcript 'shop#x1' --subagent abc"
        await stage.press("escape")
        assert "Look at the docs" in stage.text


async def test_a_message_that_is_cut(tmp_path: Path):
    whole = reply("r1", "All of it.")
    told = source([replace(whole, text="All", cut=True)])
    told.conversations["shop", None].whole["r1"] = whole
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        await stage.press("enter")
        await stage.until(lambda: "All of it." in stage.text)


async def test_an_earlier_message_is_read_from_where_it_is(tmp_path: Path):
    whole = reply("r0", "All of it.")
    later = [prompt(f"p{at}", "More.") for at in range(250)]
    told = source([replace(whole, text="All", cut=True), *later])
    told.conversations["shop", None].whole["r0"] = whole
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        while "earlier messages" in stage.text:
            await stage.press("g")
        await stage.press("g", "enter")
        await stage.until(lambda: "All of it." in stage.text)
    [cursor] = told.cursors
    assert int(cursor) < len(later)


async def test_copy(tmp_path: Path):
    async with staged(source(), tmp_path) as stage:
        await opened(stage)
        await stage.press("g", "y")
        assert stage.app.clipboard == "Mend the tests, please."
        await stage.press("l")
        assert stage.app.clipboard == "callboard transcript 'shop#p1'"


async def test_a_link_is_quoted_for_a_shell(tmp_path: Path):
    async with staged(source([reply("r'; make $HOME", "Done.")]), tmp_path) as stage:
        await opened(stage)
        await stage.press("l")
        words = ["callboard", "transcript", "shop#r'; make $HOME"]
        assert shlex.split(stage.app.clipboard) == words


async def test_all_of_a_message_that_is_cut_is_copied(tmp_path: Path):
    whole = reply("r1", "All of it.")
    told = source([replace(whole, text="All", cut=True)])
    told.conversations["shop", None].whole["r1"] = whole
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        await stage.press("y")
        await stage.until(lambda: stage.app.clipboard == "All of it.")


async def test_a_long_message_is_scrolled_through(tmp_path: Path):
    long = reply("r1", "\n".join(f"Line {number}." for number in range(50)))
    async with staged(source([prompt("p1", "Go."), long, prompt("p2", "On.")]), tmp_path) as stage:
        await opened(stage)
        await stage.press("g")
        seen = set[str]()
        for _ in range(10):
            seen |= {line.strip(" ▌▁▂▃▄▅▆▇█") for line in stage.lines}
            await stage.press("j")
        assert {f"Line {number}." for number in range(50)} <= seen


async def test_no_transcript_until_there_is_one(tmp_path: Path):
    told = ScriptedSource([plate("shop")])
    async with staged(told, tmp_path) as stage:
        await stage.press("h")
        await stage.until(lambda: "The transcript isn't there." in stage.text)
        told.conversations["shop", None] = ScriptedConversation([*CONVERSATION])
        await stage.until(lambda: "I'll run them first." in stage.text)
        assert "isn't there" not in stage.text


async def test_what_could_deceive_is_made_visible(tmp_path: Path):
    bad = "rm \x1b[2K\u202e [red]x[/red]"
    items = [prompt("p1", bad), call("c1", bad, command=bad, result=bad, status="failed")]
    async with staged(source(items), tmp_path) as stage:
        await opened(stage)
        assert "\x1b" not in stage.text
        assert "\u202e" not in stage.text
        assert stage.text.count("\\x1b[2K\\u202e [red]x[/red]") == 4


async def test_what_led_to_a_question_is_next_to_it(tmp_path: Path):
    told = one(plate("shop", "awaiting_approval", interactionId="q-shop"), permission())
    running = call("c9", "Bash", command="psql", status="running")
    told.conversations["shop", None] = ScriptedConversation([*CONVERSATION[:4], running])
    async with staged(told, tmp_path, (100, 40)) as stage:
        await stage.until(lambda: "Before it asked" in stage.text)
        assert "  > Mend the tests, please." in stage.text
        assert "Bash  $ make test  (failed)" in stage.text
        assert "$ psql" not in stage.text.partition("Before it asked")[2]
