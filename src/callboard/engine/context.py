"""What an agent is reported its place, and how it asks people and records effects."""

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
    """What a phase's `before` and `after` are reported their place."""

    session_id: str
    workflow: str
    phase: str
    visit: int
    """How often the phase has been entered, this time included."""
    which: str
    """`before` or `after`."""

    @property
    def key(self) -> str:
        """The same for this function in this visit, and for no other: an idempotency key."""
        return f"{self.session_id}:{run_key(self.phase, self.visit)}:{self.which}"


class RunRequests(Protocol):
    """What a context needs from the caller that runs the agent."""

    @property
    def place(self) -> RunPlace:
        """Which run it is."""
        ...

    def recorded(self, key: str) -> tuple[bool, object]:
        """Whether an effect was recorded, and what it gave."""
        ...

    async def record(self, key: str, value: object) -> None:
        """Record what an effect gave."""
        ...

    async def still_ours(self) -> None:
        """Raise OwnershipLost when another process has taken over."""
        ...

    async def ask(self, question: Rendered, key: str | None) -> Asked:
        """Put a question, or find the one put before, and wait for its end."""
        ...

    async def found(self, asked: Asked) -> Interaction:
        """All that is known of a question."""
        ...

    async def take_back(self, key: str) -> None:
        """Close the question of this key, if it is still open."""
        ...

    async def narrate(self, item: Item) -> None:
        """Record what the agent says or does."""
        ...

    async def emit(self, name: str, data: object) -> None:
        """Record an event of the agent's own."""
        ...


class Context:
    """An agent's second argument."""

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
        """How often the phase has been entered, this time included."""
        return self._place.visit

    @property
    def key(self) -> str:
        """The same for every attempt at this run and for no other: an idempotency key."""
        return f"{self._place.session_id}:{self._place.run}"

    @property
    def attempt(self) -> int:
        """Which attempt this is, from 1."""
        return self._place.attempt

    @property
    def item(self) -> Any:
        """The item of `for_each` that this run is about."""
        return with_fields(self._place.item)

    @property
    def index(self) -> int | None:
        """The item's place in the list, from 0."""
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
        """Ask a person for yes or no, and wait.

        If the process dies meanwhile, the agent runs again and this call returns the recorded
        answer. `key` tells questions apart whose texts are alike. With `assignees`, only these
        people and groups (`group:NAME`) may answer.
        """
        question = Approval(prompt, timeout, on_timeout or "wait", assignees)
        return bool((await self._ask(render(question, None), key)).approved)

    async def choose(  # noqa: PLR0913 - the public face, nearly all by keyword
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
        """Ask a person to choose, and wait; with `other`, any text is an answer."""
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
        """Ask a person to decide together with an agent, and wait for how that ends.

        However it ends, it is a result: look at `outcome`, or at `approved`. The options are
        those of `Interactive`; `within` is how long to wait, `assignees` and `key` as in `ask`.
        """
        options.setdefault("cwd", folder())
        asked = await self._desk.ask(rendered(prompt, options, within, assignees), key)
        return result_of(await self._desk.found(asked), options.get("result_type"))

    async def put(self, question: Rendered, key: str) -> Interaction:
        """Put a question of any type, and wait for its end: for adapters of coding agents."""
        return await self._desk.found(await self._desk.ask(question, key))

    async def take_back(self, key: str) -> None:
        """Take a question back that no one waits for any more."""
        await self._desk.take_back(key)

    def worktree(self, path: str | PathLike[str]) -> AbstractContextManager[Path]:
        """Work in this folder: interactive sessions asked for within start there."""
        return worktree(path)

    async def _ask(self, question: Rendered, key: str | None) -> Asked:
        asked = await self._desk.ask(question, key)
        if asked.status == "failed":
            raise QuestionTimedOut(
                f"Timed out without an answer: {asked.prompt}", question=asked.id
            )
        return asked

    async def emit(self, what: Item | str, data: object = None) -> None:
        """Tell what is happening: Text, Thinking, ToolCall, ToolResult, or a name with data."""
        if isinstance(what, str):
            shown = plain(data, f"The data of ctx.emit({what!r})")
            await self._desk.emit(what, shown)
        else:
            await self._desk.narrate(what)

    async def once(self, key: str, effect: Callable[[], Awaitable[Given] | Given]) -> Given:
        """Do something once, however often this run is started: what it gave is recorded.

        Between the effect and its record the process can still die; give the effect `ctx.key`
        where the other side can use it to tell a repetition.
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
            # What the effect gave, as JSON gives it back.
            return cast("Given", with_fields(value))
