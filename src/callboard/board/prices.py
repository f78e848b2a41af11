"""What models cost: list prices from a file that people can replace."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from callboard.disk.files import read
from callboard.errors import ValidationError
from callboard.events.json_values import Object, as_object, as_text, is_list

VARIABLE: Final = "CALLBOARD_PRICES"
"""The environment variable with the path of a person's own prices."""

_LARGEST: Final = 1_048_576
_MOST_MODELS: Final = 5000
_LONGEST: Final = 200
_DEAREST: Final = 10**6
_PER: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """US dollars for a million tokens. model: its name, in which `*` stands for anything."""

    model: str
    input: float
    output: float
    cache_read: float
    cache_write: float

    def cost(self, counts: Mapping[str, int]) -> float:
        """What so many tokens cost, by the columns of `token_usage`."""
        dollars = (
            counts["input_tokens"] * self.input
            + counts["output_tokens"] * self.output
            + counts["cache_read_tokens"] * self.cache_read
            + counts["cache_write_tokens"] * self.cache_write
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

    def of(self, model: str) -> ModelPrice | None:
        """The price of a model; None if it is unknown."""
        # A provider may be part of the name: `anthropic/claude-…`.
        names = (model, model.rpartition("/")[2])
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
    return _parsed(data, str(chosen))


def _own() -> Path | None:
    if told := os.environ.get(VARIABLE):
        return Path(told)
    settings = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    usual = Path(settings).expanduser() / "callboard" / "prices.json"
    return usual if usual.is_file() else None


@cache
def _shipped() -> PriceList:
    return _parsed(resources.files("callboard.board").joinpath("prices.json").read_bytes(), "")


def _parsed(data: bytes, source: str) -> PriceList:
    try:
        told = as_object(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise _wrong(source, f"it is not JSON: {error}") from error
    models = told.get("models")
    if not is_list(models) or len(models) > _MOST_MODELS:
        raise _wrong(source, f"models must be a list of at most {_MOST_MODELS:,} prices")
    prices = [_price(as_object(one), f"models[{at}]", source) for at, one in enumerate(models)]
    return PriceList(as_text(told.get("date"))[:_LONGEST], prices, source)


def _price(told: Object, where: str, source: str) -> ModelPrice:
    model = as_text(told.get("model"))
    if not model or len(model) > _LONGEST:
        raise _wrong(source, f"{where}.model must be a name of at most {_LONGEST} characters")
    given = _number(told, "input", where, source)
    return ModelPrice(
        model,
        given,
        _number(told, "output", where, source),
        _number(told, "cacheRead", where, source, given),
        _number(told, "cacheWrite", where, source, given),
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
