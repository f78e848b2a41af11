"""`Client`: the methods of `Callboard`, on a server."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from callboard.client.access import DEFAULT_URL
from callboard.client.following import Following, Questions
from callboard.client.offers import WorkflowInfo
from callboard.client.people import RemoteInbox, given
from callboard.client.plates import RemotePlates
from callboard.client.tailing import Listening, Patience, Stream, Tail
from callboard.client.transport import Transport
from callboard.clock import SystemClock
from callboard.engine.human import Human
from callboard.engine.observing import Observation
from callboard.engine.operations import Forked
from callboard.engine.ports import Request
from callboard.engine.sessions import SessionInfo, SessionPage
from callboard.engine.workflow import Workflow
from callboard.errors import ConflictError, ValidationError
from callboard.events.envelope import Event
from callboard.handlers.custom import as_handler
from callboard.ids import short_id
from callboard.interactions.configs import KIND
from callboard.interactions.records import Interaction
from callboard.interactions.results import completion_of
from callboard.log.protocol import Lease
from callboard.state import patch
from callboard.state.fold import apply
from callboard.state.session import SessionView

_PAGE = 1000
"""As many as a server gives at once."""


class Client:
    """A Callboard server, and what can be done there.

    Args:
        url: Where it is.
        token: What opens it. Without one: CALLBOARD_TOKEN, else on this machine the file that
            the server made beside its database.
        via: Through what answers come, as the log records it.
        timeout: Seconds that one answer of the server may take.
        reconnect: Seconds for which a stream tries to come back before it gives up.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str | None = None,
        *,
        via: str = "python",
        timeout: float = 30.0,
        reconnect: float = 60.0,
    ) -> None:
        self._transport = Transport(url, token, via=via, timeout=timeout)
        self._reconnect = reconnect
        self.url = self._transport.url
        self.clock = SystemClock()
        listening = Listening(self._transport, self.clock, reconnect)
        self.people = RemoteInbox(self._transport, listening)
        self.human = Human(self.people)
        self.plates = RemotePlates(self._transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; what was begun goes on at the server."""
        await self._transport.close()

    async def workflows(self) -> list[WorkflowInfo]:
        """The workflows that the server runs."""
        answer = await self._transport.get("/workflows")
        return [WorkflowInfo.from_wire(one) for one in answer["workflows"]]

    async def start(
        self,
        workflow: str | None = None,
        input: Any = None,
        *,
        session_id: str | None = None,
    ) -> str:
        """Begin a session; returns its id. The name may be left out when there is one workflow."""
        body = given({"workflowId": workflow, "input": input, "sessionId": session_id})
        return (await self._transport.post("/sessions", body))["sessionId"]

    def run(
        self,
        workflow: Workflow | str,
        input: Any = None,
        *,
        human_input: object | None = None,
        session_id: str | None = None,
        on_event: Callable[[Event], Any] | None = None,
        source: Mapping[str, str] | None = None,
    ) -> "RemoteExecution":
        """Begin a session there and follow it from here: something to await.

        Questions are put to `human_input` here. Where the server finds its workflows is its own
        affair: of a workflow only the name is sent, and `source` is not.
        """
        name = workflow if isinstance(workflow, str) else workflow.name
        chosen = session_id or short_id()

        async def work() -> SessionInfo:
            await self.start(name, input, session_id=chosen)
            return await self.drive(chosen, human_input=human_input, on_event=on_event)

        return RemoteExecution(chosen, work)

    async def drive(
        self,
        session_id: str,
        *,
        human_input: object | None = None,
        on_event: Callable[[Event], Any] | None = None,
    ) -> SessionInfo:
        """Follow a session until it waits, pauses or ends; its questions are asked here.

        The server carries it forward. `on_event` hears it from its beginning.
        """

        async def answer(asked: Request, value: Any) -> None:
            if asked.type != KIND:
                await self.answer(asked.id, value, via="handler")
                return
            told = asdict(completion_of(asked.config, value))
            await self.people.complete(asked.id, **told, via="handler")

        observation = Observation(None, on_event)
        questions = Questions(as_handler(human_input), answer, self.people.get)

        def tell(event: Event) -> None:
            if observation.wanted:
                observation.tell([event])

        try:
            return await Following(self, session_id, tell, questions).run()
        finally:
            await observation.finish()

    async def sessions(
        self, *, status: str | None = None, workflow: str | None = None, limit: int | None = None
    ) -> list[SessionInfo]:
        """The sessions, newest first."""
        found: list[SessionInfo] = []
        cursor: str | None = None
        while limit is None or len(found) < limit:
            most = _PAGE if limit is None else min(limit - len(found), _PAGE)
            page = await self.session_page(
                status=status, workflow=workflow, limit=most, cursor=cursor
            )
            found += page.sessions
            cursor = page.next_cursor
            if cursor is None:
                break
        return found

    async def session_page(
        self,
        *,
        status: str | None = None,
        workflow: str | None = None,
        parent: str | None = None,
        q: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> SessionPage:
        """One page of the sessions, newest first."""
        query = {"status": status, "workflow": workflow, "parent": parent, "q": q}
        answer = await self._transport.get("/sessions", **query, limit=limit, cursor=cursor)
        listed = [SessionInfo.from_wire(one) for one in answer["sessions"]]
        return SessionPage(listed, answer["nextCursor"])

    async def session(self, session_id: str) -> SessionInfo:
        """How one session stands, and what is open in it."""
        return SessionInfo.from_wire(await self._transport.get(_path(session_id)))

    async def lease(self, session_id: str) -> Lease | None:
        """Whether a living process drives a session; a server does not tell which."""
        info = await self.session(session_id)
        return Lease("server" if info.running else None, 0, info.position, info.running)

    async def delete(self, session_id: str) -> None:
        """Forget a session, cancelled first if it has not ended. Its forks stay whole."""
        await self._transport.delete(_path(session_id))

    async def view(self, session_id: str, at: int | None = None) -> SessionView:
        """Everything that is known of a session at a position, folded here from its events."""
        events = await self.events(session_id, limit=max(at or 0, 1) if at is not None else None)
        if at == 0:
            begun = events[0].payload
            state = begun.get("initialState")
            return SessionView(session_id=session_id, state=state, workflow=begun["workflow"])
        if at is not None and not 0 < at <= len(events):
            raise ValidationError(
                f"Session {session_id} has positions 0 to {len(events)}, not {at}.",
                field="position",
                last_position=len(events),
            )
        view = SessionView(session_id=session_id)
        for event in events:
            apply(view, event)
        return view

    async def events(
        self, session_id: str, after: int = 0, limit: int | None = None
    ) -> list[Event]:
        """A session's events after a position."""
        found: list[Event] = []
        while limit is None or len(found) < limit:
            most = _PAGE if limit is None else min(limit - len(found), _PAGE)
            path = f"{_path(session_id)}/events"
            answer = await self._transport.get(path, after=after, limit=most)
            found += [Event.from_wire(one) for one in answer["events"]]
            if answer.get("nextAfter") is None:
                break
            after = answer["nextAfter"]
        return found

    async def tail(self, session_id: str, after: int = 0) -> AsyncIterator[Event]:
        """History, then live, whatever happens to the connection; ends after the session's end."""
        stream = Stream(f"{_path(session_id)}/events", ends=True)
        async with aclosing(self._tail(stream, after)) as placed:
            async for _, event in placed:
                yield event

    async def tail_all(
        self, after: int | None = None, *, on_connect: Callable[[], None] | None = None
    ) -> AsyncIterator[tuple[int, Event]]:
        """The events of all sessions with their place in the log; from now on unless told.

        `on_connect` is called whenever a connection stands: what is looked at after that, and
        what comes, leave no gap.
        """
        stream = Stream("/stream", ends=False)
        async with aclosing(self._tail(stream, after, on_connect)) as placed:
            async for one in placed:
                yield one

    def _tail(
        self, stream: Stream, after: int | None, on_connect: Callable[[], None] | None = None
    ) -> AsyncGenerator[tuple[int, Event]]:
        patience = Patience(self.clock, self._reconnect, on_connect)
        return Tail(self._transport, stream, after, patience).events()

    async def state(self, session_id: str, at: int | None = None) -> Any:
        """The state at a position, as JSON holds it."""
        return (await self._transport.get(f"{_path(session_id)}/state", position=at))["state"]

    async def diff(self, session_id: str, before: int, after: int) -> list[dict[str, Any]]:
        """What changed in the state between two positions, as a JSON Patch."""
        old = await self.state(session_id, before)
        return patch.diff(old, await self.state(session_id, after))

    async def inbox(self, session_id: str = "*") -> list[Interaction]:
        """The questions that wait for a person, oldest first; of all sessions, or of one."""
        return await self.people.find(status="pending", session_id=session_id)

    async def interaction(self, interaction_id: str) -> Interaction:
        """One question, open or closed."""
        return await self.people.get(interaction_id)

    async def answer(
        self,
        interaction_id: str,
        value: Any = None,
        *,
        approved: bool | None = None,
        by: str | None = None,
        via: str | None = None,
    ) -> Interaction:
        """Answer a question. The first answer counts; a second is told so."""
        return await self.people.answer(interaction_id, value, approved=approved, by=by, via=via)

    async def pause(
        self,
        session_id: str,
        *,
        interrupt: bool = False,
        by: str | None = None,
        reason: str | None = None,
    ) -> bool:
        """Pause a session; whether that was new."""
        body = {"interrupt": interrupt, **given({"by": by, "reason": reason})}
        return (await self._transport.post(f"{_path(session_id)}/pause", body))["wasPaused"]

    async def resume(self, session_id: str, *, by: str | None = None) -> bool:
        """Let a paused session go on."""
        body = given({"by": by})
        return (await self._transport.post(f"{_path(session_id)}/resume", body))["wasResumed"]

    async def cancel(
        self, session_id: str, *, by: str | None = None, reason: str | None = None
    ) -> bool:
        """End a session for good; whether it had not ended already."""
        body = given({"by": by, "reason": reason})
        return (await self._transport.post(f"{_path(session_id)}/cancel", body))["wasCancelled"]

    async def fork(  # noqa: PLR0913 - the public face, all by keyword
        self,
        session_id: str,
        *,
        phase: str | None = None,
        occurrence: int | str | None = None,
        event_index: int | None = None,
        position: int | None = None,
        edits: Sequence[Mapping[str, Any]] | None = None,
        run: bool = True,
        session: str | None = None,
        by: str | None = None,
    ) -> Forked:
        """Begin a new session from a point of this one, which the server runs unless told not to.

        `session` is an id of your own choosing for the new one.
        """
        at = {"phase": phase, "occurrence": occurrence, "eventIndex": event_index}
        body = {"at": given({**at, "position": position}), "run": run}
        body |= given({"edits": edits and list(edits), "sessionId": session, "by": by})
        answer = await self._transport.post(f"{_path(session_id)}/fork", body)
        return Forked(
            session_id=answer["sessionId"],
            original_session_id=answer["originalSessionId"],
            events_copied=answer["eventsCopied"],
            position=answer["position"],
        )

    async def retry(self, session_id: str, *, run: bool = True, by: str | None = None) -> Forked:
        """Try a failed session again: a fork at the phase that failed."""
        info = await self.session(session_id)
        if info.status != "failed":
            raise ConflictError(
                f"Session {session_id} is {info.status}; only a failed one can be retried.",
                session_id=session_id,
            )
        return await self.fork(session_id, phase=info.phase, run=run, by=by)


class RemoteExecution:
    """A session that was begun on a server: awaiting it gives how it stands when it stops."""

    def __init__(self, session_id: str, work: Callable[[], Any]) -> None:
        self.session_id = session_id
        self._work = work

    def __await__(self) -> Generator[Any, None, SessionInfo]:
        return self._work().__await__()


def _path(session_id: str) -> str:
    return f"/sessions/{quote(session_id, safe='')}"
