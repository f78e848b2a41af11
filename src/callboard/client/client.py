"""`Client`: a board on a server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, Self
from urllib.parse import quote

from callboard.board.human import Human
from callboard.board.replies import (
    CancelResult,
    PauseResult,
    ResumeResult,
    Started,
    StateAt,
)
from callboard.client.coding_agents import RemoteCodingAgents
from callboard.client.following import Following
from callboard.client.people import RemoteInbox, given
from callboard.client.statistics import RemoteStatistics
from callboard.client.tailing import PAGE, Reconnecting, Tail, history
from callboard.client.transport import Transport
from callboard.client.usage import RemoteUsage
from callboard.clock import SystemClock
from callboard.drafts import patch
from callboard.engine.current_execution import waiting_elsewhere
from callboard.engine.handler_questions import HandlerQuestions
from callboard.engine.observers import Observation
from callboard.engine.offers import WorkflowInfo, Workflows
from callboard.engine.operations import Forked
from callboard.engine.ports import Request
from callboard.engine.sessions import SessionInfo, SessionPage
from callboard.engine.workers import WorkerOverview
from callboard.engine.workflow import Workflow
from callboard.errors import (
    AlreadyAnswered,
    InteractionClosed,
    ServerUnreachable,
    ValidationError,
)
from callboard.events.envelope import Event
from callboard.handlers.custom import as_handler
from callboard.ids import short_id
from callboard.interactions.configs import KIND
from callboard.interactions.records import Interaction
from callboard.interactions.results import completion_of
from callboard.log.protocol import Lease
from callboard.state.fold import before_events, fold
from callboard.state.session import SessionView


class Client(RemoteCodingAgents):
    """A Callboard server.

    Args:
        url: The server's address. By default CALLBOARD_SERVER, else the server that is running on
            CALLBOARD_DB or on the default database, else port 2255 on this machine, which is sent
            only a token that you pass here.
        token: The access token. By default CALLBOARD_TOKEN, else, on this machine, the token file
            that the server created next to its database.
        via: The channel that the log records for answers from this client.
        timeout: How many seconds to wait for each response.
        reconnect: For how many seconds a stream tries to reconnect before it gives up.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        via: str = "python",
        timeout: float = 30.0,
        reconnect: float = 60.0,
    ) -> None:
        self._transport = Transport(url, token, via=via, timeout=timeout)
        super().__init__(self._transport)
        self._reconnect = reconnect
        self.url = self._transport.url
        self.clock = SystemClock()
        self.people = RemoteInbox(self._transport, self.clock, reconnect)
        self.human = Human(self.people)
        self.statistics = RemoteStatistics(self._transport)
        self.usage = RemoteUsage(self._transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections. Sessions continue on the server."""
        await self._transport.close()

    async def workflows(self) -> list[WorkflowInfo]:
        """The workflows that the server runs."""
        return Workflows.from_wire(await self._transport.get("/workflows")).workflows

    async def start(
        self,
        workflow: str | None = None,
        input: Any = None,
        *,
        session_id: str | None = None,
        title: str | None = None,
    ) -> str:
        """Start a session and return its id. The name is optional when there is one workflow."""
        body = given({"workflowId": workflow, "input": input, "sessionId": session_id})
        body |= given({"title": title})
        return Started.from_wire(await self._transport.post("/sessions", body)).session_id

    def run(  # noqa: PLR0913 - public API, all by keyword
        self,
        workflow: Workflow | str,
        input: Any = None,
        *,
        human_input: object | None = None,
        session_id: str | None = None,
        on_event: Callable[[Event], Any] | None = None,
        source: Mapping[str, str] | None = None,
        title: str | None = None,
    ) -> "RemoteExecution":
        """Start a session on the server and follow it; await the result.

        Questions go to `human_input` in this process. Only the workflow's name is sent: the server
        loads its own workflows, and `source` is ignored.
        """
        name = workflow if isinstance(workflow, str) else workflow.name
        chosen = session_id or short_id()

        async def work() -> SessionInfo:
            await self.start(name, input, session_id=chosen, title=title)
            return await self.drive(chosen, human_input=human_input, on_event=on_event)

        return RemoteExecution(chosen, work)

    async def drive(
        self,
        session_id: str,
        *,
        human_input: object | None = None,
        on_event: Callable[[Event], Any] | None = None,
    ) -> SessionInfo:
        """Follow a session until it waits, pauses or ends; its questions go to `human_input`.

        The server drives it. `on_event` is called with every event from the start of the session.
        """

        async def answer(asked: Request, value: Any) -> None:
            # Someone else may have answered first; the first answer counts.
            with suppress(AlreadyAnswered, InteractionClosed):
                if asked.type != KIND:
                    await self.answer(asked.id, value, via="handler")
                    return
                ended = completion_of(asked.config, value)
                await self.people.complete(
                    asked.id,
                    ended.outcome,
                    response=ended.response,
                    transcript=ended.transcript,
                    duration_ms=ended.duration_ms,
                    error=ended.error,
                    via="handler",
                )

        observation, news = Observation(None, on_event), asyncio.Event()
        questions = HandlerQuestions(
            as_handler(human_input), self.people.get, answer, news.set, ServerUnreachable
        )

        def tell(event: Event) -> None:
            if observation.wanted:
                observation.tell([event])

        try:
            async with waiting_elsewhere():
                return await Following(self, session_id, tell, questions, news).run()
        finally:
            await observation.finish()

    async def sessions(
        self, *, status: str | None = None, workflow: str | None = None, limit: int | None = None
    ) -> list[SessionInfo]:
        """The sessions, newest first."""
        found: list[SessionInfo] = []
        cursor: str | None = None
        while limit is None or len(found) < limit:
            most = PAGE if limit is None else min(limit - len(found), PAGE)
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
        return SessionPage.from_wire(answer)

    async def session(self, session_id: str) -> SessionInfo:
        """One session, with its open questions."""
        return SessionInfo.from_wire(await self._transport.get(_path(session_id)))

    async def lease(self, session_id: str) -> Lease:
        """Whether a living process drives a session. A server does not name the process."""
        info = await self.session(session_id)
        return Lease("server" if info.running else None, 0, info.position, info.running)

    async def workers(self, session_id: str | None = None) -> WorkerOverview:
        """Who drives which sessions, and the sessions that no running worker can drive."""
        found = await self._transport.get("/workers", sessionId=session_id)
        return WorkerOverview.from_wire(found)

    async def delete(self, session_id: str) -> None:
        """Permanently delete a session, cancelling it first if it is still open. Forks are kept."""
        await self._transport.delete(_path(session_id))

    async def view(self, session_id: str, at: int | None = None) -> SessionView:
        """Everything known about a session at a position, folded here from its events."""
        events = await self.events(session_id, limit=max(at or 0, 1) if at is not None else None)
        if at == 0:
            return before_events(session_id, events[0])
        if at is not None and not 0 < at <= len(events):
            raise ValidationError(
                f"Session {session_id} has positions 0 to {len(events)}, not {at}.",
                field="position",
                last_position=len(events),
            )
        return fold(events, SessionView(session_id=session_id))

    async def events(
        self, session_id: str, after: int = 0, limit: int | None = None
    ) -> list[Event]:
        """A session's events after a position."""
        return await history(self._transport, f"{_path(session_id)}/events", after, limit)

    async def export(self, session_id: str, *, format: str = "json") -> AsyncIterator[bytes]:
        """A session with its events and state as one `json` or `markdown` document, in chunks."""
        path = f"{_path(session_id)}/export"
        async with self._transport.download(path, {"format": format}) as pieces:
            async for piece in pieces:
                yield piece

    async def tail(self, session_id: str, after: int = 0) -> AsyncIterator[Event]:
        """A session's history, then its events as they come. Reconnects; ends with the session."""
        patience = Reconnecting(self.clock, self._reconnect)
        path = f"{_path(session_id)}/events"
        tail = Tail(self._transport, path, after, patience, ends=True)
        async with aclosing(tail.events()) as placed:
            async for _, event in placed:
                yield event

    async def tail_all(
        self, after: int | None = None, *, on_connect: Callable[[], None] | None = None
    ) -> AsyncIterator[tuple[int, Event]]:
        """The events of all sessions with their positions in the log; by default, only new ones.

        `on_connect` is called whenever a connection is made: nothing is missed between what you
        read after that call and the events from this stream.
        """
        patience = Reconnecting(self.clock, self._reconnect, on_connect)
        tail = Tail(self._transport, "/stream", after, patience)
        async with aclosing(tail.events()) as placed:
            async for one in placed:
                yield one

    async def state(self, session_id: str, at: int | None = None) -> Any:
        """The state at a position, as plain JSON."""
        answer = await self._transport.get(f"{_path(session_id)}/state", position=at)
        return StateAt.from_wire(answer).state

    async def diff(self, session_id: str, before: int, after: int) -> list[dict[str, Any]]:
        """What changed in the state between two positions, as a JSON Patch."""
        old = await self.state(session_id, before)
        return [dict(one) for one in patch.diff(old, await self.state(session_id, after))]

    async def inbox(self, session_id: str = "*") -> list[Interaction]:
        """The open questions of all sessions or of one, oldest first."""
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
        """Answer a question. The first answer counts; any later one raises AlreadyAnswered."""
        return await self.people.answer(interaction_id, value, approved=approved, by=by, via=via)

    async def pause(
        self,
        session_id: str,
        *,
        interrupt: bool = False,
        by: str | None = None,
        reason: str | None = None,
    ) -> bool:
        """Pause a session; False if it was paused or had already ended."""
        body = {"interrupt": interrupt, **given({"by": by, "reason": reason})}
        answer = await self._transport.post(f"{_path(session_id)}/pause", body)
        return PauseResult.from_wire(answer).was_paused

    async def resume(self, session_id: str, *, by: str | None = None) -> bool:
        """Resume a paused session; False if it was not paused, NotResumable if it has ended."""
        body = given({"by": by})
        answer = await self._transport.post(f"{_path(session_id)}/resume", body)
        return ResumeResult.from_wire(answer).was_resumed

    async def cancel(
        self, session_id: str, *, by: str | None = None, reason: str | None = None
    ) -> bool:
        """Cancel a session; False if it had already ended."""
        body = given({"by": by, "reason": reason})
        answer = await self._transport.post(f"{_path(session_id)}/cancel", body)
        return CancelResult.from_wire(answer).was_cancelled

    async def rename(
        self, session_id: str, title: str | None, *, by: str | None = None
    ) -> SessionInfo:
        """Change a session's title, even after it ended; None removes it."""
        body = {"title": title, **given({"by": by})}
        return SessionInfo.from_wire(await self._transport.patch(_path(session_id), body))

    async def fork(  # noqa: PLR0913 - public API, all by keyword
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
        """Fork a session: start a new one from a point in this one.

        `session` is the id of the new session. The server runs it unless `run` is False.
        """
        at = {"phase": phase, "occurrence": occurrence, "eventIndex": event_index}
        body = {"at": given({**at, "position": position}), "run": run}
        body |= given({"edits": edits and list(edits), "sessionId": session, "by": by})
        return Forked.from_wire(await self._transport.post(f"{_path(session_id)}/fork", body))

    async def retry(
        self,
        session_id: str,
        *,
        at: int | str | None = None,
        edits: Sequence[Mapping[str, Any]] | None = None,
        run: bool = True,
        by: str | None = None,
    ) -> Forked:
        """Retry a failed session: fork it at the phase that failed, or `at` a position or phase."""
        point = None if at is None else {"phase" if isinstance(at, str) else "position": at}
        body = {"run": run, **given({"at": point, "edits": edits and list(edits), "by": by})}
        return Forked.from_wire(await self._transport.post(f"{_path(session_id)}/retry", body))


class RemoteExecution:
    """A session started on a server. Await it to get the session's status when it stops."""

    def __init__(self, session_id: str, work: Callable[[], Any]) -> None:
        self.session_id = session_id
        self._work = work

    def __await__(self) -> Generator[Any, None, SessionInfo]:
        return self._work().__await__()


def _path(session_id: str) -> str:
    return f"/sessions/{quote(session_id, safe='')}"
