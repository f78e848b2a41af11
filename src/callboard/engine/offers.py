"""Describes workflows to clients that don't have their code."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from callboard.engine.workflow import Workflow
from callboard.events.envelope import Json
from callboard.events.shapes import Key, Shape, sent


@dataclass(frozen=True, slots=True)
class PhaseInfo(Shape):
    """A phase of a workflow."""

    name: str
    agent: str | None = None
    human: bool = False
    terminal: bool = False
    leads_to: tuple[str, ...] | None = None
    """The phases it can lead to; None if a function decides and `to` is not given."""
    limit: Annotated[str | None, "The limit of its agents, if it names one."] = None


@dataclass(frozen=True, slots=True)
class EdgeInfo(Shape):
    """A transition from one phase to another, and whether it is always taken or only sometimes."""

    source: Annotated[str, Key("from")]
    target: Annotated[str, Key("to")]
    taken: Literal["always", "sometimes"]


@dataclass(frozen=True, slots=True)
class WorkflowInfo(Shape):
    """A workflow that a server runs."""

    name: Annotated[str, Key("id")]
    version: str | None
    input_schema: Mapping[str, Json] | None
    phases: tuple[PhaseInfo, ...]
    input_name: Annotated[str | None, "What `start` calls its input; null without one."] = None
    input_about: Annotated[
        str | None, "The first paragraph of `start`'s docstring, if it takes an input."
    ] = None

    @classmethod
    def of(cls, workflow: Workflow) -> Self:
        """Describe a workflow."""
        phases = tuple(
            PhaseInfo(
                step.name,
                step.agent.name if step.agent else None,
                step.human is not None,
                step.phase.terminal,
                step.leads_to,
                step.phase.limit,
            )
            for step in workflow.steps.values()
        )
        return cls(
            workflow.name,
            workflow.version,
            workflow.input_schema,
            phases,
            workflow.input_name,
            workflow.input_about,
        )

    @sent
    def edges(self) -> list[EdgeInfo]:
        """The transitions between its phases; from one that may lead anywhere, to every phase."""
        names = tuple(phase.name for phase in self.phases)
        return [
            EdgeInfo(phase.name, target, "always" if phase.leads_to == (target,) else "sometimes")
            for phase in self.phases
            for target in (names if phase.leads_to is None else phase.leads_to)
        ]


@dataclass(frozen=True, slots=True)
class Workflows(Shape):
    """The workflows that a server runs."""

    workflows: list[WorkflowInfo]
