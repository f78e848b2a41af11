"""Interactive sessions for programs that ask for one and watch what becomes of it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Generic, Literal, TypeVar, Unpack, cast

from callboard.board.human import Human
from callboard.board.protocol import Board
from callboard.engine.current_execution import asks, chosen_session
from callboard.errors import ConflictError, InteractiveFailed, InteractivePending
from callboard.interactions.interactive import InteractiveOptions, config_of
from callboard.interactions.records import Interaction
from callboard.interactions.results import InteractiveSessionResult, result_of

T = TypeVar("T")
R = TypeVar("R")
Status = Literal["idle", "pending", "success", "error"]
Result = InteractiveSessionResult[T]

_log = logging.getLogger(__name__)


class _Request:
    """One session that was asked for, from the call to its end."""

    def __init__(self) -> None:
        self.id: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.ended: asyncio.Task[object] | None = None

    @property
    def known_id(self) -> str | None:
        """The record's id, as soon as there is a record."""
        return self.id.result() if self.id.done() and not self.id.cancelled() else None


class HumanInteractive(Generic[T]):
    """Asks a person to decide together with an agent, one session at a time.

    The record outlives the caller that asked. A process that comes back finds it by its id with
    `attach`, or by the `key` it was asked for under.

    Args:
        board: A `Callboard` or a `Client`.
        session_id: The session that what is asked for belongs to; else the one whose agent is
            running.
        standalone: It belongs to no session.
        result_type: What responses are made into, such as a pydantic model.
    """

    def __init__(
        self,
        board: Board,
        session_id: str | None = None,
        *,
        standalone: bool = False,
        result_type: type[T] | None = None,
    ) -> None:
        self._human = Human(board.people)
        self._where = session_id
        self._standalone = standalone
        self._result_type: object = result_type
        self._status: Status = "idle"
        self._data: Result[T] | None = None
        self._error: Exception | None = None
        self._id: str | None = None
        self._request: _Request | None = None
        self._callbacks: list[Callable[[HumanInteractive[T]], object]] = []
        self._tasks: set[asyncio.Task[object]] = set()

    @property
    def status(self) -> Status:
        """`idle`, `pending`, `success` or `error`."""
        return self._status

    @property
    def data(self) -> Result[T] | None:
        """How the session ended, when the status is `success`."""
        return self._data

    @property
    def error(self) -> Exception | None:
        """What went wrong, when the status is `error`."""
        return self._error

    @property
    def session_id(self) -> str | None:
        """The id of the session that was asked for, as soon as it is recorded."""
        return self._id

    def request(
        self, prompt: str, *, key: str | None = None, **options: Unpack[InteractiveOptions]
    ) -> None:
        """Ask, and do not wait: look at `status` and `data`, or listen with `on_change`."""
        ended = self._ask(prompt, key, options)
        # What went wrong stands in `error`.
        ended.add_done_callback(lambda done: done.cancelled() or done.exception())

    def request_async(
        self, prompt: str, *, key: str | None = None, **options: Unpack[InteractiveOptions]
    ) -> Awaitable[Result[T]]:
        """Ask at once; awaiting what this returns waits for the session's end.

        Anyone who gives up waiting does not take the session back: `cancel` does.
        """
        return asyncio.shield(self._ask(prompt, key, options))

    def attach(self, session_id: str) -> Awaitable[Result[T]]:
        """Watch a session that was asked for before, by whatever process.

        Awaiting what this returns waits for its end, which may have come already.
        """

        async def asked() -> str:
            return (await self._human.get(session_id)).id

        ended = self._begin(asked(), self._result_type)
        ended.add_done_callback(lambda done: done.cancelled() or done.exception())
        return asyncio.shield(ended)

    def cancel(self) -> Awaitable[None]:
        """Take the pending session back, if there is one; awaiting this waits until it is."""
        return self._do(self._withdraw(self._request))

    def reset(self) -> Awaitable[None]:
        """Start over. What is still pending is taken back: no one waits for it any more."""
        request, self._request = self._request, None
        self._show("idle", None)
        return self._do(self._withdraw(request))

    def on_change(self, callback: "Callable[[HumanInteractive[T]], object]") -> Callable[[], None]:
        """Call this after every change of status, data, error or id; returns how to stop."""
        self._callbacks.append(callback)

        def undo() -> None:
            with suppress(ValueError):
                self._callbacks.remove(callback)

        return undo

    def _ask(
        self, prompt: str, key: str | None, options: InteractiveOptions
    ) -> asyncio.Task[Result[T]]:
        if self._request is not None:
            raise InteractivePending
        if self._result_type is not None:
            options.setdefault("result_type", self._result_type)
        # What can be told to be wrong at once is raised at once.
        where = chosen_session(self._where, standalone=self._standalone)
        config_of(options)
        asking = self._human.request_interactive(
            prompt, session_id=where, standalone=self._standalone, key=key, **options
        )
        return self._begin(asking, options.get("result_type"))

    def _begin(
        self, asking: Coroutine[object, None, str], result_type: object
    ) -> asyncio.Task[Result[T]]:
        if self._request is not None:
            asking.close()
            raise InteractivePending
        request = self._request = _Request()
        asks(request.id)
        self._show("pending", request)
        request.ended = ended = self._do(self._follow(request, asking, result_type))
        return ended

    async def _follow(
        self, request: _Request, asking: Coroutine[object, None, str], result_type: object
    ) -> Result[T]:
        try:
            request.id.set_result(await asking)
            if self._request is request:  # Else it was reset meanwhile.
                self._show("pending", request)
            ended = await self._human.ended(request.id.result())
            data = cast("Result[T]", _checked(ended, result_type))
        except Exception as error:
            request.id.cancel()
            self._finish(request, error=error)
            raise
        self._finish(request, data)
        return data

    def _finish(
        self, request: _Request, data: Result[T] | None = None, error: Exception | None = None
    ) -> None:
        """Show how a request ended, if it still counts; then another may be made."""
        if self._request is request:
            self._request = None
            self._show("success" if error is None else "error", request, data, error)

    def _show(
        self,
        status: Status,
        request: _Request | None,
        data: Result[T] | None = None,
        error: Exception | None = None,
    ) -> None:
        self._status, self._data, self._error = status, data, error
        self._id = request.known_id if request is not None else None
        for callback in tuple(self._callbacks):
            try:
                callback(self)
            except Exception:
                _log.exception("a callback of on_change failed")

    async def _withdraw(self, request: _Request | None) -> None:
        if request is None or request.ended is None:
            return
        await asyncio.wait({request.id})
        id = request.known_id
        if id is not None:
            with suppress(ConflictError):  # It has ended just now: then that counts.
                await self._human.cancel_interactive(id)
        await asyncio.wait({request.ended})

    def _do(self, work: Coroutine[object, None, R]) -> asyncio.Task[R]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _checked(ended: Interaction, result_type: object) -> Result[object]:
    result = result_of(ended, result_type)
    if result.outcome == "failed":
        raise InteractiveFailed(result.error or "Session failed", interaction_id=ended.id)
    return result
