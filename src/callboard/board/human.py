"""Ask people: request interactive sessions, ask simple questions, complete and list them.

One class for databases and servers: `Callboard.human` and `Client.human`.
"""

from collections.abc import Sequence
from typing import Any, Unpack

from callboard.board.question_protocols import Questions
from callboard.engine.current_execution import chosen_session, current, folder, waiting_elsewhere
from callboard.engine.questions import closed
from callboard.events.json_values import Object, as_object
from callboard.interactions.configs import KIND
from callboard.interactions.interactive import InteractiveOptions, config_of
from callboard.interactions.questions import Duration, millis
from callboard.interactions.records import Interaction


class Human:
    """How programs ask people."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    async def request_interactive(
        self,
        prompt: str,
        config: Object | None = None,
        *,
        session_id: str | None = None,
        standalone: bool = False,
        assignees: Sequence[str] | None = None,
        key: str | None = None,
        **options: Unpack[InteractiveOptions],
    ) -> str:
        """Request an interactive session and return its id without waiting.

        It belongs to the session given here, else to the one whose agent is running. Outside of any
        session, this raises NoExecution unless `standalone` is set.

        Args:
            prompt: What is to be decided.
            config: The options as they are stored (camelCase, milliseconds), unchanged.
            session_id: The session that it belongs to.
            standalone: It belongs to no session.
            assignees: The only people, and groups as `group:NAME`, who may decide.
            key: A name that you choose. Another request with the same key finds the same session,
                even after a restart of the process.
            options: See `InteractiveOptions`.
        """
        where = chosen_session(session_id, standalone=standalone)
        if config is None:
            options.setdefault("cwd", folder())
        told = {**(config or {}), **config_of(options)}
        asked = await self._questions.ask(
            type=KIND,
            prompt=prompt,
            config=told,
            session_id=where,
            assignees=assignees,
            key=key,
        )
        return asked.id

    async def complete_interactive(  # noqa: PLR0913 - public API, nearly all by keyword
        self,
        interaction_id: str,
        outcome: str,
        response: object = None,
        *,
        transcript: str | None = None,
        duration: Duration | None = None,
        error: str | None = None,
        by: str | None = None,
    ) -> Interaction:
        """End an interactive session, which can end only once.

        The outcome is `completed` with a response, `cancelled`, `timeout` or `failed`. If several
        people have to decide, the session ends when all of them have; `by` says who this is.
        """
        return await self._questions.complete(
            interaction_id,
            outcome,
            response=response,
            transcript=transcript,
            duration_ms=None if duration is None else millis(duration),
            error=error,
            by=by,
        )

    async def cancel_interactive(self, interaction_id: str) -> Interaction:
        """Withdraw an interactive session that is still pending."""
        return await self._questions.cancel(interaction_id)

    async def list_pending(
        self, execution_id: str | None = None, *, type: str | None = None
    ) -> list[Interaction]:
        """The open questions, oldest first: of one session, or of all with `"*"`.

        Without an id, it is the session whose agent is running; outside of any session, the list is
        empty.
        """
        if execution_id is None:
            running = current()
            if running is None:
                return []
            execution_id = running.session_id
        return await self._questions.find(status="pending", session_id=execution_id, type=type)

    async def get(self, interaction_id: str) -> Interaction:
        """One question, open or closed."""
        return await self._questions.get(interaction_id)

    async def ended(self, interaction_id: str) -> Interaction:
        """Wait until a question is closed, by any process."""
        return await self._questions.ended(interaction_id)

    async def ask(  # noqa: PLR0913 - public API, nearly all by keyword
        self,
        prompt: str,
        options: Sequence[str] | None = None,
        input: bool = False,
        *,
        session_id: str | None = None,
        standalone: bool = False,
        assignees: Sequence[str] | None = None,
        key: str | None = None,
    ) -> Any:
        """Ask a simple question and wait: True or False, the option, or with `input` the text.

        `session_id`, `standalone`, `assignees` and `key` work as in `request_interactive`. Inside
        an agent, prefer `ctx.ask`, which survives a restart of the process by itself.
        """
        where = chosen_session(session_id, standalone=standalone)
        type = _type_of(options, input)
        asked = await self._questions.ask(
            type=type,
            prompt=prompt,
            options=options if type == "select" else None,
            session_id=where,
            assignees=assignees,
            key=key,
        )
        async with waiting_elsewhere():
            return _answer(await self._questions.ended(asked.id))


def _type_of(options: Sequence[str] | None, input: bool) -> str:
    if input:
        return "input"
    if options is None or [option.lower() for option in options] == ["yes", "no"]:
        return "confirmation"
    return "select"


def _answer(ended: Interaction) -> object:
    if ended.status in ("approved", "rejected"):
        return ended.status == "approved"
    if ended.status == "completed":
        return as_object(ended.response).get("value")
    raise closed(ended.id, f"was not answered: {ended.status}")
