"""The sessions of the demo, as files beside this one: one line an event, in order.

The first line tells whose session it is. The others are `{after, payload}`, seconds after the line
before; `say` tells what to look at; `ask` holds the hook open until somebody decides; `if` plays a
line only when it was decided so.
"""

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Line:
    """One hook that an agent calls."""

    after: float
    payload: dict[str, Any]
    say: str | None = None
    asks: bool = False
    only_if: str | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """What one agent does."""

    agent: str
    title: str
    lines: tuple[Line, ...]


def scripts() -> list[Script]:
    """Every session of the demo."""
    found = sorted(files("callboard.board.demo").iterdir(), key=lambda file: file.name)
    return [_read(file.read_bytes()) for file in found if file.name.endswith(".jsonl")]


def _read(content: bytes) -> Script:
    head, *lines = (orjson.loads(line) for line in content.splitlines())
    return Script(head["agent"], head["title"], tuple(_line(told) for told in lines))


def _line(told: dict[str, Any]) -> Line:
    return Line(
        after=told["after"],
        payload=told["payload"],
        say=told.get("say"),
        asks=told.get("ask", False),
        only_if=told.get("if"),
    )
