"""Tokens and money as people read them, and what the calls of a conversation took."""

import pytest

from callboard.display.amounts import dollars, short_count
from callboard.display.conversation import KnownItems, item_lines, usage_text
from callboard.vendors.conversation import ConversationItem, ConversationPage, TokenUsage


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0.0, "$0"),
        (0.0002, "<$0.001"),
        (0.0341, "$0.034"),
        (0.1, "$0.10"),
        (12.3, "$12.30"),
        (1234.5, "$1,234.50"),
    ],
)
def test_money(amount: float, shown: str):
    assert dollars(amount) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0"), (940, "940"), (1000, "1k"), (12_340, "12.3k"), (1_200_000, "1.2M"), (10**9, "1G")],
)
def test_counts(count: int, shown: str):
    assert short_count(count) == shown


def item(id: str, kind: str, usage: TokenUsage | None = None) -> ConversationItem:
    author = "person" if kind == "prompt" else "model"
    return ConversationItem(id, None, kind, author, "hi", usage=usage)  # pyright: ignore


def test_what_a_call_took():
    used = TokenUsage("opus", 1300, 840, 11_000, 0, cost=0.034)
    assert usage_text(used) == "opus · 12.3k in (11k cached), 840 out · $0.034"
    assert usage_text(TokenUsage(None, 5, 3)) == "5 in, 3 out"


def test_what_a_transcript_has_apart_belongs_to_the_message_before_it():
    used, other = TokenUsage("gpt", 5, 3, cost=0.5), TokenUsage("gpt", 7, 4)
    known = KnownItems()
    items = [item("p", "prompt"), item("a", "usage", other), item("m", "reply")]
    known.add(ConversationPage(items, None, "1"))
    assert [(one.id, one.usage) for one in known.items] == [("p", None), ("m", None)]
    known.add(ConversationPage([item("b", "usage", used)], None, "2"))
    assert [(one.id, one.usage) for one in known.items] == [("p", None), ("m", used)]
    shown = known.items[-1]
    assert item_lines(shown, full=True)[-1].text == "gpt · 5 in, 3 out · $0.50"
    assert len(item_lines(shown)) == 1


def test_an_item_is_read_from_the_page_that_it_came_with():
    known = KnownItems()
    known.add(ConversationPage([item("c", "reply")], "2", "3"))
    known.add_before(ConversationPage([item("b", "reply"), item("c", "reply")], "1", "2"))
    known.add(ConversationPage([item("d", "reply")], "3", "4"))
    assert [known.cursor_of(id) for id in "bcdx"] == ["2", "3", "4", "4"]
    known.add(ConversationPage([item("e", "reply")], None, "9", restarted=True))
    assert [known.cursor_of(id) for id in "be"] == ["9", "9"]
