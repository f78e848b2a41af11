"""Reports events to observers, in order; observers can't disturb the session."""

import asyncio
import inspect
import logging
from collections.abc import Callable

from callboard.events import names
from callboard.events.envelope import Event
from callboard.state.fold import apply
from callboard.state.session import SessionView

_log = logging.getLogger(__name__)

_METHODS: dict[str, tuple[str, Callable[[Event], tuple[object, ...]]]] = {
    names.STARTED: ("on_started", lambda e: (e.session_id,)),
    names.PHASE_ENTERED: (
        "on_phase_changed",
        lambda e: (e.payload["phase"], e.payload.get("fromPhase")),
    ),
    names.AGENT_STARTED: ("on_agent_started", lambda e: (e.payload,)),
    names.AGENT_COMPLETED: ("on_agent_completed", lambda e: (e.payload,)),
    names.TEXT_DELTA: ("on_text_delta", lambda e: (e.payload,)),
    names.THINKING_DELTA: ("on_thinking_delta", lambda e: (e.payload,)),
    names.TOOL_CALLED: ("on_tool_called", lambda e: (e.payload,)),
    names.TOOL_RESULT: ("on_tool_result", lambda e: (e.payload,)),
    names.REQUESTED: ("on_input_requested", lambda e: (e.payload,)),
    names.RECEIVED: ("on_input_received", lambda e: (e.payload,)),
    names.COMPLETED: ("on_completed", lambda e: (e.payload,)),
    names.FAILED: ("on_error", lambda e: (e.payload["error"],)),
}


class Observation:
    """Passes each event to `on_event` and to the observer's method for it, async or not.

    Errors that they raise are logged and otherwise ignored: observing never changes a session.
    """

    def __init__(self, observer: object | None, on_event: Callable[[Event], object] | None) -> None:
        self._observer = observer
        self._on_event = on_event
        self._view = SessionView()
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._pump: asyncio.Task[None] | None = None

    @property
    def wanted(self) -> bool:
        """Whether there is an observer or `on_event`."""
        return self._observer is not None or self._on_event is not None

    def tell(self, events: list[Event]) -> None:
        """Queue events for the observers."""
        for event in events:
            self._queue.put_nowait(event)
        if self._pump is None:
            self._pump = asyncio.create_task(self._run())

    async def finish(self) -> None:
        """Wait until the observers have received everything."""
        if self._pump is not None:
            self._queue.put_nowait(None)
            await self._pump
            self._pump = None

    async def _run(self) -> None:
        while (event := await self._queue.get()) is not None:
            if self._observer is not None:
                await self._call(getattr(self._observer, "on_event", None), event)
                await self._dispatch(event)
            await self._call(self._on_event, event)

    async def _dispatch(self, event: Event) -> None:
        apply(self._view, event)
        if event.name == names.INTENT:
            changed = getattr(self._observer, "on_state_changed", None)
            await self._call(changed, self._view.state, event.payload["patches"])
        if event.name in _METHODS:
            method, arguments = _METHODS[event.name]
            await self._call(getattr(self._observer, method, None), *arguments(event))

    async def _call(self, function: Callable[..., object] | None, *arguments: object) -> None:
        if function is None:
            return
        try:
            result = function(*arguments)
            if inspect.isawaitable(result):
                await result
        except Exception:
            _log.exception("An observer failed; the session continues")
