"""The context that agents and functions get: where they run, and how to ask people."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, Unpack, cast

from callboard.drafts.plain import with_fields
from callboard.engine.current_execution import folder, worktree
from callboard.engine.outputs import plain
from callboard.engine.ports import Item
from callboard.errors import QuestionTimedOut
from callboard.interactions.interactive import InteractiveOptions, rendered
from callboard.interactions.questions import Approval, Choice, Duration, OnTimeout, Rendered
from callboard.interactions.records import Interaction
from callboard.interactions.rendering import render
from callboard.interactions.results import InteractiveSessionResult, result_of
from callboard.state.visits import Asked, run_key

Given = TypeVar("Given")


class RunPlace(NamedTuple):
    """Which run of which session this is."""

    session_id: str
    workflow: str
    phase: str
    visit: int
    run: str
    attempt: int
    item: object
    item_index: int | None


class PhaseContext(NamedTuple):
    """The context of a phase's `before` and `after`."""

    session_id: str
    workflow: str
    phase: str
    visit: int
    """How often the phase has been entered, including this time."""
    which: str
    """`before` or `after`."""

    @property
    def key(self) -> str:
        """An idempotency key: always the same for this function in this visit, and unique."""
        return f"{self.session_id}:{run_key(self.phase, self.visit)}:{self.which}"


class RunRequests(Protocol):
    """What a context needs from the code that runs the agent."""

    @property
    def place(self) -> RunPlace:
        """Which run this is."""
        ...

    def recorded(self, key: str) -> tuple[bool, object]:
        """Whether an effect was recorded, and its result."""
        ...

    async def record(self, key: str, value: object) -> None:
        """Record an effect's result."""
        ...

    async def still_ours(self) -> None:
        """Raise OwnershipLost if another process has taken over."""
        ...

    async def ask(self, question: Rendered, key: str | None) -> Asked:
        """Ask a question, or find the one asked before, and wait until it is closed."""
        ...

    async def found(self, asked: Asked) -> Interaction:
        """The full record of a question."""
        ...

    async def take_back(self, key: str) -> None:
        """Withdraw the question with this key, if it is still open."""
        ...

    async def narrate(self, item: Item) -> None:
        """Record what the agent says or does."""
        ...

    async def emit(self, name: str, data: object) -> None:
        """Record a custom event of the agent."""
        ...


class Context:
    """The second argument of an agent: where it runs, and how to ask people and record effects."""

    def __init__(self, desk: RunRequests) -> None:
        self._desk = desk
        self._place = desk.place
        self._doing: dict[str, asyncio.Lock] = {}

    @property
    def session_id(self) -> str:
        """The session that this run belongs to."""
        return self._place.session_id

    @property
    def workflow(self) -> str:
        """The workflow's name."""
        return self._place.workflow

    @property
    def phase(self) -> str:
        """The phase's name."""
        return self._place.phase

    @property
    def visit(self) -> int:
        """How often the phase has been entered, including this time."""
        return self._place.visit

    @property
    def key(self) -> str:
        """An idempotency key: the same for every attempt at this run, and unique to it."""
        return f"{self._place.session_id}:{self._place.run}"

    @property
    def attempt(self) -> int:
        """The number of this attempt, from 1."""
        return self._place.attempt

    @property
    def item(self) -> Any:
        """The item of `for_each` that this run works on."""
        return with_fields(self._place.item)

    @property
    def index(self) -> int | None:
        """The item's position in the list, from 0."""
        return self._place.item_index

    async def ask(
        self,
        prompt: str,
        *,
        timeout: Duration | None = None,
        on_timeout: OnTimeout | None = None,
        assignees: Sequence[str] | None = None,
        key: str | None = None,
    ) -> bool:
        """Ask a person to approve or reject, and wait for the answer.

        If the process dies meanwhile, the agent runs again and this call returns the recorded
        answer. Use `key` to distinguish questions with the same text. With `assignees`, only these
        people and groups (`group:NAME`) may answer.
        """
        question = Approval(prompt, timeout, on_timeout or "wait", assignees)
        return bool((await self._ask(render(question, None), key)).approved)

    async def choose(  # noqa: PLR0913 - public API, nearly all by keyword
        self,
        prompt: str,
        options: Sequence[str],
        *,
        other: bool = False,
        timeout: Duration | None = None,
        on_timeout: OnTimeout | None = None,
        assignees: Sequence[str] | None = None,
        key: str | None = None,
    ) -> str:
        """Ask a person to choose an option, and wait; with `other`, they may enter any text."""
        question = Choice(prompt, options, other, timeout, on_timeout or "wait", assignees)
        return str((await self._ask(render(question, None), key)).value)

    async def interactive(
        self,
        prompt: str,
        *,
        within: Duration | None = None,
        assignees: Sequence[str] | None = None,
        key: str | None = None,
        **options: Unpack[InteractiveOptions],
    ) -> InteractiveSessionResult[Any]:
        """Ask a person to decide together with an agent, and wait for the outcome.

        This returns however the session ends: check `outcome` or `approved`. The options are those
        of `Interactive`; `within` is how long to wait; `assignees` and `key` work as in `ask`.
        """
        options.setdefault("cwd", folder())
        asked = await self._desk.ask(rendered(prompt, options, within, assignees), key)
        return result_of(await self._desk.found(asked), options.get("result_type"))

    async def put(self, question: Rendered, key: str) -> Interaction:
        """Ask a question of any type and wait until it is closed; for adapters of coding agents."""
        return await self._desk.found(await self._desk.ask(question, key))

    async def take_back(self, key: str) -> None:
        """Withdraw a question that no longer needs an answer."""
        await self._desk.take_back(key)

    def worktree(self, path: str | PathLike[str]) -> AbstractContextManager[Path]:
        """Work in this folder: interactive sessions requested inside the block start there."""
        return worktree(path)

    async def _ask(self, question: Rendered, key: str | None) -> Asked:
        asked = await self._desk.ask(question, key)
        if asked.status == "failed":
            raise QuestionTimedOut(
                f"Timed out without an answer: {asked.prompt}", question=asked.id
            )
        return asked

    async def emit(self, what: Item | str, data: object = None) -> None:
        """Record what is happening: Text, Thinking, ToolCall, ToolResult, or a name with data."""
        if isinstance(what, str):
            shown = plain(data, f"The data of ctx.emit({what!r})")
            await self._desk.emit(what, shown)
        else:
            await self._desk.narrate(what)

    async def once(self, key: str, effect: Callable[[], Awaitable[Given] | Given]) -> Given:
        """Do something only once, no matter how often this run is restarted; records the result.

        The process can still die between the effect and the record. If the other side can detect
        duplicates, pass it `ctx.key`.
        """
        async with self._doing.setdefault(key, asyncio.Lock()):
            known, value = self._desk.recorded(key)
            if not known:
                await self._desk.still_ours()
                result = effect()
                if inspect.isawaitable(result):
                    result = await result
                value = plain(result, f"What ctx.once({key!r}) gave")
                await self._desk.record(key, value)
            # The effect's result, as it will be read back from JSON.
            return cast("Given", with_fields(value))
