"""The workflows that a server offers, as it describes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class PhaseInfo:
    """A phase of a workflow that runs elsewhere."""

    name: str
    agent: str | None
    human: bool
    terminal: bool
    leads_to: tuple[str, ...] | None
    """Where it can lead; None when a function decides and nobody has said where to."""


@dataclass(frozen=True, slots=True)
class WorkflowInfo:
    """A workflow that runs elsewhere."""

    name: str
    version: str | None
    input_schema: Mapping[str, Any] | None
    phases: tuple[PhaseInfo, ...]

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """The workflow as a server describes it."""
        names = tuple(phase["name"] for phase in wire["phases"])
        targets: dict[str, list[str]] = {name: [] for name in names}
        for edge in wire["edges"]:
            targets[edge["from"]].append(edge["to"])
        return cls(
            name=wire["id"],
            version=wire.get("version"),
            input_schema=wire.get("inputSchema"),
            phases=tuple(
                PhaseInfo(
                    name=phase["name"],
                    agent=phase["agent"],
                    human=phase["human"],
                    terminal=phase["terminal"],
                    leads_to=_known(tuple(targets[phase["name"]]), names),
                )
                for phase in wire["phases"]
            ),
        )


def _known(targets: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...] | None:
    """A way to every phase is how a server says that it cannot tell."""
    return None if len(names) > 1 and targets == names else targets
