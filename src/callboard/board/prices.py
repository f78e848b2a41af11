"""What models cost: list prices from a file that people can replace."""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

from callboard.disk.files import read
from callboard.errors import ValidationError
from callboard.events.json_values import Object, as_object, as_text, is_list
from callboard.vendors.conversation import ConversationItem, TokenUsage

VARIABLE: Final = "CALLBOARD_PRICES"
"""The environment variable with the path of a person's own prices."""

_LARGEST: Final = 1_048_576
_MOST_MODELS: Final = 5000
_MOST_FOUND: Final = 5000
"""Models whose prices are remembered."""
_LONGEST: Final = 200
_DEAREST: Final = 10**6
_PER: Final = 1_000_000
_FIELDS: Final = ("date", "source", "currency", "perTokens", "models")
_PRICE_FIELDS: Final = ("model", "input", "output", "cacheRead", "cacheWrite", "longCacheWrite")


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """US dollars for a million tokens. model: its name, in which `*` stands for anything.

    long_cache_write: for what the provider keeps for an hour rather than for some minutes.
    """

    model: str
    input: float
    output: float
    cache_read: float
    cache_write: float
    long_cache_write: float

    def cost(self, counts: Mapping[str, int]) -> float:
        """What so many tokens cost, by the columns of `token_usage`."""
        kept = counts["long_cache_write_tokens"]
        dollars = (
            counts["input_tokens"] * self.input
            + counts["output_tokens"] * self.output
            + counts["cache_read_tokens"] * self.cache_read
            + (counts["cache_write_tokens"] - kept) * self.cache_write
            + kept * self.long_cache_write
        )
        return dollars / _PER


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices of models; the first whose name matches counts. date: when they were valid.

    source: the file, or "" for the prices that come with Callboard.
    """

    date: str
    models: Sequence[ModelPrice]
    source: str = ""
    _found: dict[str, ModelPrice | None] = field(
        default_factory=dict[str, "ModelPrice | None"], compare=False, repr=False
    )

    def of(self, model: str) -> ModelPrice | None:
        """The price of a model; None if it is unknown."""
        # Reports ask for each of their rows, and matching a name with all patterns takes long.
        if model not in self._found:
            if len(self._found) >= _MOST_FOUND:
                self._found.clear()
            self._found[model] = self._match(model)
        return self._found[model]

    def _match(self, model: str) -> ModelPrice | None:
        # A provider may be part of the name: `anthropic/claude-…`, `us.anthropic.claude-…`.
        names = dict.fromkeys((model, model.rpartition("/")[2], model.rpartition("anthropic.")[2]))
        return next(
            (one for name in names for one in self.models if fnmatchcase(name, one.model)), None
        )


def load_prices(path: Path | None = None) -> PriceList:
    """The prices in a file, or those that apply without one; ValidationError if it is wrong.

    Without a path: those in `$CALLBOARD_PRICES`, in `callboard/prices.json` in the folder for
    settings, or those that come with Callboard.
    """
    chosen = path or _own()
    if chosen is None:
        return _shipped()
    try:
        data = read(chosen, _LARGEST)
    except OSError as error:
        raise _wrong(chosen, error.strerror or str(error)) from error
    return _parsed_once(data, str(chosen))


def _own() -> Path | None:
    if told := os.environ.get(VARIABLE):
        return Path(told)
    settings = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    usual = Path(settings).expanduser() / "callboard" / "prices.json"
    return usual if usual.is_file() else None


@lru_cache(4)
def _parsed_once(data: bytes, source: str) -> PriceList:
    return _parsed(data, source)


@cache
def _shipped() -> PriceList:
    return _parsed(resources.files("callboard.board").joinpath("prices.json").read_bytes(), "")


def _parsed(data: bytes, source: str) -> PriceList:
    try:
        told = as_object(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise _wrong(source, f"it is not JSON: {error}") from error
    _check_known(told, _FIELDS, "", source)
    if told.get("currency", "USD") != "USD":
        raise _wrong(source, "currency must be USD")
    if told.get("perTokens", _PER) != _PER:
        raise _wrong(source, f"perTokens must be {_PER}: prices are for a million tokens")
    models = told.get("models")
    if not is_list(models) or len(models) > _MOST_MODELS:
        raise _wrong(source, f"models must be a list of at most {_MOST_MODELS:,} prices")
    prices = [_price(as_object(one), f"models[{at}]", source) for at, one in enumerate(models)]
    return PriceList(_date(told, source), prices, source)


def _date(told: Object, source: str) -> str:
    date = as_text(told.get("date"))
    try:
        return datetime.strptime(date, "%Y-%m-%d").date().isoformat()  # noqa: DTZ007 - a date
    except ValueError:
        raise _wrong(
            source, "date must be the day on which the prices were valid, such as 2026-01-31"
        ) from None


def _check_known(told: Object, known: Collection[str], where: str, source: str) -> None:
    # A price under a name that is misspelled would be ignored.
    for key in told:
        if key not in known:
            raise _wrong(source, f"{where}{key[:_LONGEST]} is unknown; use {', '.join(known)}")


def _price(told: Object, where: str, source: str) -> ModelPrice:
    _check_known(told, _PRICE_FIELDS, f"{where}.", source)
    model = as_text(told.get("model"))
    if not model or len(model) > _LONGEST:
        raise _wrong(source, f"{where}.model must be a name of at most {_LONGEST} characters")
    given = _number(told, "input", where, source)
    written = _number(told, "cacheWrite", where, source, given)
    return ModelPrice(
        model,
        given,
        _number(told, "output", where, source),
        _number(told, "cacheRead", where, source, given),
        written,
        _number(told, "longCacheWrite", where, source, written),
    )


def _number(
    told: Object, key: str, where: str, source: str, otherwise: float | None = None
) -> float:
    value = told.get(key, otherwise)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _DEAREST:
        raise _wrong(source, f"{where}.{key} must be US dollars for a million tokens")
    return float(value)


def _wrong(source: object, why: str) -> ValidationError:
    return ValidationError(f"prices: {source} can't be used: {why}.", field="prices")


def with_costs(
    items: Sequence[ConversationItem], prices: Callable[[], PriceList]
) -> list[ConversationItem]:
    """The items, with list prices where the client doesn't say what a call cost.

    A conversation can be read although someone's own prices can't be.
    """
    if not any(one.usage is not None and not one.usage.cost for one in items):
        return [*items]
    try:
        known = prices()
    except ValidationError:
        return [*items]
    return [_with_cost(one, known) for one in items]


def _with_cost(item: ConversationItem, prices: PriceList) -> ConversationItem:
    usage = item.usage
    if usage is None or usage.cost:
        return item
    price = prices.of(usage.model or "")
    cost = None if price is None else round(price.cost(_counts(usage)), 6)
    return replace(item, usage=replace(usage, cost=cost))


def _counts(usage: TokenUsage) -> dict[str, int]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "long_cache_write_tokens": usage.long_cache_write_tokens,
    }
