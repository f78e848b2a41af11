"""States of every type, for the tests beside."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import BaseModel
from typing_extensions import TypedDict

from callboard.drafts.draft import Changed, change
from callboard.drafts.model import State
from callboard.drafts.patch import apply, same
from callboard.drafts.shape import StateType


class Task(BaseModel):
    title: str = "task"
    done: bool = False
    notes: list[str] = []
    parent: "Task | None" = None

    def note(self, text: str) -> int:
        self.notes.append(text)
        return len(self.notes)

    @property
    def loud(self) -> str:
        return self.title.upper()


class Work(State):
    title: str = "work"
    count: int = 0
    tasks: list[Task] = []
    best: Task | None = None
    index: dict[str, list[int]] = {}
    tags: set[str] = set()
    free: Any = None


@dataclass
class Plan:
    name: str = "plan"
    steps: list[int] = dataclasses.field(default_factory=list[int])
    task: Task = dataclasses.field(default_factory=Task)
    human_response: dict[str, Any] | None = None
    approved: bool | None = None

    def longer(self) -> int:
        self.steps.append(len(self.steps))
        return len(self.steps)


@dataclass(slots=True)
class Slotted:
    count: int = 0
    steps: list[int] = dataclasses.field(default_factory=list[int])


class Row(TypedDict, total=False):
    name: str
    cells: list[int]
    human_response: dict[str, Any] | None
    approved: bool | None


class Stage:
    """A live state under change, every change of it checked."""

    def __init__(self, tp: Any, factory: Callable[[], Any] | None = None) -> None:
        self.type = StateType(tp, name="test")
        self.live: Any = self.type.initial()[0]
        if factory is not None:
            self.live = self.type.kind.renew(factory(), "", inside=False)[0]

    @property
    def wire(self) -> Any:
        return self.type.dump(self.live)

    def change(self, function: Callable[[Any], Any]) -> Changed:
        before = self.wire
        changed = change(self.type, self.live, function)
        assert same(self.wire, before)
        self.live = changed.live
        assert same(apply(before, changed.patches), self.wire)
        assert self.type.load(self.wire) == self.live
        assert bool(changed.patches) is (orjson.dumps(before) != orjson.dumps(self.wire))
        return changed

    def patches(self, function: Callable[[Any], Any]) -> list[tuple[Any, ...]]:
        return [tuple(patch.values()) for patch in self.change(function).patches]
