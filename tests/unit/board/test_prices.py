"""Prices of models: those that come with Callboard, and a person's own."""

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from callboard.board.prices import ModelPrice, PriceList, load_prices, with_costs
from callboard.errors import ValidationError
from callboard.vendors.conversation import ConversationItem, TokenUsage

PRICES = {
    "date": "2026-01-31",
    "models": [
        {"model": "opus-*", "input": 10, "output": 100, "cacheRead": 1, "cacheWrite": 20},
        {"model": "plain", "input": 2, "output": 4},
    ],
}


def test_the_prices_that_come_with_callboard():
    shipped = load_prices()
    assert shipped.source == ""
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", shipped.date)
    for model in (
        "claude-sonnet-4-5-20250929",
        "anthropic/claude-sonnet-4-5",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "gpt-5.2-codex",
        "gemini-2.5-pro",
    ):
        assert shipped.of(model) is not None, model
    assert shipped.of("model-of-tomorrow") is None


@pytest.mark.parametrize(
    "model",
    ["claude-opus-4-9", "claude-sonnet-4-9", "gpt-5.9", "gpt-4o-audio-preview", "gpt-5-pro"],
)
def test_a_model_without_a_price_does_not_get_that_of_another(model: str):
    assert load_prices().of(model) is None


def test_every_price_that_comes_with_callboard_is_used():
    told = json.loads(resources.files("callboard.board").joinpath("prices.json").read_bytes())
    assert "genai-prices" in told["source"]
    shipped = load_prices()
    for one in shipped.models:
        name = re.sub(r"\[(.).*?\]", r"\1", one.model).replace("*", "")
        assert shipped.of(name) is one, one.model


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"models": {}}, "models must be a list"),
        ({"date": "last week"}, "date must be the day .* such as 2026-01-31"),
        ({"date": None}, "date must be"),
        ({"currency": "EUR"}, "currency must be USD"),
        ({"perTokens": 1000}, "perTokens must be 1000000"),
        ({"price": []}, "price is unknown; use date, source"),
        ({"models": [{}]}, r"models\[0\]\.model must be a name"),
        ({"models": [{"model": "m", "input": "1"}]}, r"models\[0\]\.input must be US dollars"),
        ({"models": [{"model": "m", "input": 1}]}, r"models\[0\]\.output must be US dollars"),
        ({"models": [{"model": "m", "input": 1, "output": -1}]}, "output must be US dollars"),
        (
            {"models": [{"model": "m", "input": 1, "output": 1, "cache_read": 1}]},
            r"models\[0\]\.cache_read is unknown; use model, input",
        ),
    ],
)
def test_prices_that_are_wrong(tmp_path: Path, wrong: dict[str, Any], says: str):
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({**PRICES, **wrong}), encoding="utf-8")
    with pytest.raises(ValidationError, match=says) as refused:
        load_prices(file)
    assert refused.value.field == "prices"
    assert str(file) in refused.value.message


def test_a_file_that_is_no_json(tmp_path: Path):
    file = tmp_path / "prices.json"
    file.write_text("{", encoding="utf-8")
    with pytest.raises(ValidationError, match="it is not JSON"):
        load_prices(file)


def test_prices_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "callboard" / "prices.json"
    file.parent.mkdir()
    file.write_text(json.dumps(PRICES), encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_prices().source == str(file)
    monkeypatch.setenv("CALLBOARD_PRICES", str(tmp_path / "none.json"))
    with pytest.raises(ValidationError, match="No such file"):
        load_prices()


def test_a_file_that_is_changed_is_read_again(tmp_path: Path):
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(PRICES), encoding="utf-8")
    before = load_prices(file).of("plain")
    file.write_text(json.dumps({**PRICES, "models": []}), encoding="utf-8")
    assert before is not None
    assert load_prices(file).of("plain") is None


def test_a_model_is_matched_with_the_patterns_once(monkeypatch: pytest.MonkeyPatch):
    matched = list[str]()

    def matches(name: str, pattern: str) -> bool:
        matched.append(name)
        return name == pattern

    monkeypatch.setattr("callboard.board.prices.fnmatchcase", matches)
    known = PriceList("2026-01-31", [ModelPrice("m", 1, 1, 1, 1, 1)])
    assert [known.of(model) for model in ("other",) * 3] == [None] * 3
    assert [known.of("m") for _ in range(3)] == [known.models[0]] * 3
    assert matched == ["other", "m"]


# ---------------------------------------------------------------------- messages


def message(id: str, usage: TokenUsage | None) -> ConversationItem:
    return ConversationItem(id, None, "reply", "model", "hi", usage=usage)


def test_messages_have_list_prices_unless_the_client_says_what_they_cost(tmp_path: Path):
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(PRICES), encoding="utf-8")
    items = [
        message("a", TokenUsage("opus-4", 1000, 1000, 1000, 1000)),
        message("b", TokenUsage("opus-4", 1000, 1000, cost=0.5)),
        message("c", TokenUsage("other", 1000)),
        message("d", None),
        message("e", TokenUsage(None, 1000)),
    ]
    found = with_costs(items, lambda: load_prices(file))
    assert [one.usage.cost if one.usage else 0 for one in found] == [0.131, 0.5, None, 0, None]


def test_messages_can_be_read_without_prices():
    def wrong() -> PriceList:
        raise ValidationError("prices: wrong", field="prices")

    items = [message("a", TokenUsage("opus-4", 1))]
    assert with_costs(items, wrong) == items
