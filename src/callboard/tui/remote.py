"""A server as the source of the board, through the client that everyone can use."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from callboard.client.client import Client
from callboard.engine.sessions import SessionInfo
from callboard.errors import InteractionNotFound, PlateNotFound
from callboard.interactions.configs import KIND
from callboard.interactions.declining import declined
from callboard.interactions.outcomes import Completion
from callboard.interactions.records import Interaction
from callboard.interactions.results import completion_of
from callboard.tui.asking import Decline
from callboard.tui.rows import Plate, plate_of
from callboard.tui.source import Hear

_MOST_SESSIONS: Final = 500


class ServerSource:
    """A server behind a client. `by`: whose name is recorded with answers."""

    def __init__(self, client: Client, by: str | None = None) -> None:
        self._client = client
        self._by = by

    async def plates(self) -> Sequence[Plate]:
        """Every plate that is shown."""
        return await self._client.plates.all()

    async def plate(self, plate_id: str) -> Plate | None:
        """One plate; None when it is not shown any more."""
        try:
            plate = await self._client.plates.get(plate_id)
        except PlateNotFound:
            return None
        return None if plate.get("dismissed") else plate

    async def waiting(
        self, others: Collection[str] = ()
    ) -> tuple[Sequence[Interaction], Sequence[SessionInfo]]:
        """The questions that are open, and the sessions that wait for answers."""
        questions = await self._client.inbox()
        open_ones = {one.id for one in questions}
        for id in others:
            if id not in open_ones:
                with suppress(InteractionNotFound):
                    questions.append(await self._client.interaction(id))
        if all(plate_of(question) for question in questions):
            return questions, []
        return questions, await self._client.sessions(status="waiting", limit=_MOST_SESSIONS)

    async def follow(self, hear: Hear) -> None:
        """Tell what happens, for as long as the connection lasts; then raise why it ended."""
        async for _, event in self._client.tail_all(on_connect=lambda: hear(None)):
            hear(event)

    async def answer(self, question: Interaction, value: Any) -> Interaction:
        """Answer a question, or decline it; an interactive session is completed."""
        if isinstance(value, Decline):
            value = declined(question, value.message)
        elif question.type == KIND:
            value = completion_of(question.config, value)
        if not isinstance(value, Completion):
            return await self._client.answer(question.id, value, by=self._by)
        return await self._client.people.complete(
            question.id, value.outcome, response=value.response, error=value.error, by=self._by
        )

    async def change(self, plate_id: str, changes: Mapping[str, Any] | None) -> None:
        """Name a plate, pin it, mark it as seen; without changes, dismiss it."""
        if changes is None:
            await self._client.plates.dismiss(plate_id)
        else:
            await self._client.plates.change(plate_id, **changes)
