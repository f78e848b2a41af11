"""The state of a delegated task: the request, the plan, and the progress."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from callboard.delegation.agent_files import AgentFile
from callboard.delegation.plan import Plan, PlannedPhase, turn
from callboard.drafts.model import State


class BoardPlace(BaseModel):
    """The board on which the agents are shown."""

    folder: str
    database: str


class Terms(BaseModel):
    """How to do a task.

    approve: whether a person has to approve the plan. timeout: how many seconds an attempt at a
    phase may take. allow: what agents may do without asking, as rules of the client.
    permission_mode: the client's permission mode. assignees: the only people and groups who may
    approve the plan, and decide about failures.
    """

    approve: Literal["ask", "auto"] = "ask"
    plan_only: bool = False
    timeout: float = Field(default=3600.0, gt=0)
    model: str | None = None
    allow: list[str] = []
    permission_mode: str = "default"
    assignees: list[str] | None = None
    board: BoardPlace | None = None


class Order(BaseModel):
    """What was requested: the workflow's input."""

    model_config = ConfigDict(extra="forbid")

    task: str = Field(min_length=1)
    cwd: str
    agents: list[AgentFile] = []
    terms: Terms = Terms()


class PhaseResult(BaseModel):
    """The result of a phase."""

    deliverables: list[str] = []
    context_for_next: str = ""


class PhaseRun(BaseModel):
    """One run of a phase: which phase, and in which visit of `work`."""

    id: str
    number: int
    """The visit, from 1."""


class Delegation(State):
    """The state of the workflow."""

    task: str = ""
    cwd: str = ""
    agents: list[AgentFile] = Field(default_factory=list[AgentFile])
    terms: Terms = Terms()
    plan: Plan | None = None
    remarks: list[str] = Field(default_factory=list[str])
    """What people said about earlier plans."""
    objection: str = ""
    """Why the plan that a person wrote was rejected."""
    turns: list[list[str]] = Field(default_factory=list[list[str]])
    """The phases that each visit of `work` was about, in order."""
    results: dict[str, PhaseResult] = Field(default_factory=dict[str, PhaseResult])
    failures: dict[str, str] = Field(default_factory=dict[str, str])
    """Why phases failed permanently, until a person has decided what to do."""
    retried: dict[str, int] = Field(default_factory=dict[str, int])
    """How often a person had a phase retried."""
    skipped: dict[str, str] = Field(default_factory=dict[str, str])
    """Phases that a person skipped, and why they had failed."""

    @property
    def agent_names(self) -> list[str]:
        """The names of the available agents."""
        return [agent.name for agent in self.agents]


def begin(state: Delegation, order: Order) -> None:
    """Store the request in the state."""
    given = Order.model_validate(order)
    state.task, state.cwd = given.task, given.cwd
    state.agents, state.terms = given.agents, given.terms


def the_plan(state: Delegation) -> Plan:
    """The plan, which must exist."""
    assert state.plan is not None
    return state.plan


def planned(state: Delegation, id: str) -> PlannedPhase:
    """One phase of the plan."""
    return the_plan(state).by_id[id]


def agent_of(state: Delegation, name: str) -> AgentFile | None:
    """The agent with this name; None for the general one."""
    return next((agent for agent in state.agents if agent.name == name), None)


def next_turn(state: Delegation) -> list[PhaseRun]:
    """The phases that can start now."""
    number = len(state.turns) + 1
    done = (*state.results, *state.skipped)
    return [PhaseRun(id=id, number=number) for id in turn(the_plan(state), done)]


def note_turn(state: Delegation, turn: PhaseRun) -> None:
    """Note that a run has ended, so that it can be found in the log again."""
    while len(state.turns) < turn.number:
        state.turns.append([])
    state.turns[turn.number - 1].append(turn.id)
