"""Who has a log open, what each of them can drive, and who of them does what only one should do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from callboard.events.codec import dump_json, load_json
from callboard.events.json_values import as_list, as_object, as_text


@dataclass(frozen=True, slots=True)
class LoadedWorkflow:
    """A workflow that a process has loaded, and so can drive."""

    name: str
    version: str | None
    phases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """What a handle says about itself: its workflows, and its id in an engine's tables."""

    workflows: tuple[LoadedWorkflow, ...] = ()
    engine_worker: str | None = None

    def to_json(self) -> str:
        """The workflows as JSON."""
        told = [
            {"name": one.name, "version": one.version, "phases": list(one.phases)}
            for one in self.workflows
        ]
        return dump_json(told).decode()

    @classmethod
    def from_json(cls, text: str, engine_worker: str | None) -> "Description":
        """Read what `to_json` wrote; unknown fields of newer versions are ignored."""
        found = [as_object(one) for one in as_list(load_json(text))]
        loaded = [
            LoadedWorkflow(
                as_text(one.get("name")),
                as_text(one["version"]) if one.get("version") is not None else None,
                tuple(as_text(phase) for phase in as_list(one.get("phases"))),
            )
            for one in found
        ]
        return cls(tuple(loaded), engine_worker)


@dataclass(frozen=True, slots=True)
class OwnerInfo:
    """An open handle. `started_at` is in milliseconds, None if unknown."""

    id: str
    host: str
    pid: int
    started_at: int | None
    alive: bool
    described: Description

    def knows(self, workflow: str, phase: str) -> bool:
        """Whether this handle's process is alive and can drive this phase."""
        return self.alive and any(
            one.name == workflow and phase in one.phases for one in self.described.workflows
        )


class OwnerRegistry(Protocol):
    """The handles that are open on one log, in all processes."""

    def alive(self, owner: str) -> bool:
        """Whether an owner is alive, as far as is known without waiting."""
        ...

    def elected(self) -> bool:
        """Whether this handle should do what only one has to do.

        Only handles that ask are elected. None may be for a moment, and more than one if the log
        can't tell: what they do must not depend on it.
        """
        ...

    async def has_died(self, owner: str) -> bool:
        """Whether an owner is dead or frozen. Takes up to a few seconds if that isn't certain."""
        ...

    async def describe(self, described: Description) -> None:
        """Let others know what this handle can drive."""
        ...

    async def list(self) -> Sequence[OwnerInfo]:
        """Every open handle, and those of dead processes that were not removed yet."""
        ...
