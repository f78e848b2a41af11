"""Interactive sessions for programs that request one and watch what becomes of it."""

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
    """One requested session, from the call until it ends."""

    def __init__(self) -> None:
        self.id: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.ended: asyncio.Task[object] | None = None

    @property
    def known_id(self) -> str | None:
        """The record's id, once there is a record."""
        return self.id.result() if self.id.done() and not self.id.cancelled() else None


class HumanInteractive(Generic[T]):
    """Asks a person to decide together with an agent, one session at a time.

    The record outlives the process that made the request. After a restart, find it again by its id
    with `attach`, or by repeating the request with the same `key`.

    Args:
        board: A `Callboard` or a `Client`.
        session_id: The session that requests belong to; by default, the one whose agent is running.
        standalone: Requests belong to no session.
        result_type: The type to convert responses to, such as a pydantic model.
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
        """The result of the session if the status is `success`."""
        return self._data

    @property
    def error(self) -> Exception | None:
        """What went wrong if the status is `error`."""
        return self._error

    @property
    def session_id(self) -> str | None:
        """The id of the requested session, once it is recorded."""
        return self._id

    def request(
        self, prompt: str, *, key: str | None = None, **options: Unpack[InteractiveOptions]
    ) -> None:
        """Request a session without waiting: check `status` and `data`, or use `on_change`."""
        ended = self._ask(prompt, key, options)
        # `error` already has it.
        ended.add_done_callback(lambda done: done.cancelled() or done.exception())

    def request_async(
        self, prompt: str, *, key: str | None = None, **options: Unpack[InteractiveOptions]
    ) -> Awaitable[Result[T]]:
        """Request a session right away; await the result to wait until it ends.

        If you stop waiting, the session stays open; use `cancel` to withdraw it.
        """
        return asyncio.shield(self._ask(prompt, key, options))

    def attach(self, session_id: str) -> Awaitable[Result[T]]:
        """Watch a session that was requested earlier, by any process.

        Await the result to wait until it ends, which may already have happened.
        """

        async def asked() -> str:
            return (await self._human.get(session_id)).id

        ended = self._begin(asked(), self._result_type)
        ended.add_done_callback(lambda done: done.cancelled() or done.exception())
        return asyncio.shield(ended)

    def cancel(self) -> Awaitable[None]:
        """Withdraw the pending session, if there is one; await the result to wait for that."""
        return self._do(self._withdraw(self._request))

    def reset(self) -> Awaitable[None]:
        """Start over. A pending session is withdrawn."""
        request, self._request = self._request, None
        self._show("idle", None)
        return self._do(self._withdraw(request))

    def on_change(self, callback: "Callable[[HumanInteractive[T]], object]") -> Callable[[], None]:
        """Call this after every change of status, data, error or id; returns how to unsubscribe."""
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
        # Raise right away what can be checked right away.
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
            if self._request is request:  # Otherwise it has been reset.
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
        """Show how a request ended, if it is still current, and allow the next one."""
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
            with suppress(ConflictError):  # It has just ended, so that outcome counts.
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
