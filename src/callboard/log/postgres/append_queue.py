"""The queue of appends: what arrives while a group is being committed becomes the next group."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from callboard.log.appending import AppendRequest, Committed, take_group, tell

T = TypeVar("T")

_MOST_EVENTS = 512
_MOST_BYTES = 1_048_576


class _Commit(Protocol):
    async def __call__(self, group: Sequence[AppendRequest], /) -> Committed: ...


class AppendQueue:
    """Commits appends in groups, in order, and runs other work between them."""

    def __init__(self, commit: _Commit, committed: Callable[[dict[str, int]], None]) -> None:
        self._commit = commit
        self._committed = committed
        self._loop = asyncio.get_running_loop()
        self._requests: list[AppendRequest] = []
        self._jobs: deque[tuple[Callable[[], Awaitable[None]], Callable[[], object]]] = deque()
        """Each with a function that cancels the task waiting for it."""
        self._task: asyncio.Task[None] | None = None

    def append(self, request: AppendRequest) -> None:
        """Write in the next commit; the request's future is done when it is on disk."""
        self._requests.append(request)
        self._start()

    def run(self, job: Callable[[], Awaitable[T]]) -> asyncio.Future[T]:
        """Run a job when it is its turn; appends wait meanwhile."""
        future: asyncio.Future[T] = self._loop.create_future()

        async def do() -> None:
            try:
                tell(future, await job())
            except Exception as error:
                tell(future, error)

        self._jobs.append((do, future.cancel))
        self._start()
        return future

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._work())

    async def _work(self) -> None:
        # Alternate, so that in a busy log neither appends nor jobs keep the other waiting.
        while self._requests or self._jobs:
            if self._jobs:
                await self._jobs.popleft()[0]()
            group, self._requests = take_group(self._requests, _MOST_EVENTS, _MOST_BYTES)
            if group:
                await self._write(group)

    async def _write(self, group: Sequence[AppendRequest]) -> None:
        try:
            outcomes, changed = await self._commit(group)
        except asyncio.CancelledError:
            for request in group:
                request.future.cancel()
            raise
        for request, outcome in zip(group, outcomes, strict=True):
            tell(request.future, outcome)
        if changed:
            self._committed(changed)

    async def drain(self) -> None:
        """Wait until everything requested is written."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def abandon(self) -> None:
        """Drop everything, and cancel the tasks waiting for it."""
        if self._task is not None:
            self._task.cancel()
        for request in self._requests:
            request.future.cancel()
        for _, cancel in self._jobs:
            cancel()
        self._requests.clear()
        self._jobs.clear()
