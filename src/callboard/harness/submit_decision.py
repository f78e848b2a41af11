"""The tool `submit_decision`, as an MCP server in the agent's session.

It checks a decision and keeps it in the session's folder, but only if the client showed the person
its dialog for that exact call. A decision is recorded when the session ends.
"""

from typing import TYPE_CHECKING, Final

from callboard.clock import Clock, SystemClock
from callboard.errors import CallboardError, ValidationError
from callboard.events.json_values import as_object
from callboard.harness.confirmation import DecisionCall, is_used, was_asked, was_proposed
from callboard.harness.confirmation_hook import fingerprint
from callboard.harness.folders import Attempt
from callboard.harness.outcomes import check_decision, form_of, tool_schema
from callboard.harness.protocol import Failed, McpCall, Tool, serve
from callboard.interactions.records import Interaction

if TYPE_CHECKING:
    from callboard.events.envelope import Json
    from callboard.interactions.outcomes import Form

NAME: Final = "submit_decision"
HOOK_WITHIN: Final = 10.0
"""Seconds. The client runs its hook alongside the dialog, and a fast person may answer first."""

_LOOK_AGAIN: Final = 0.05
_ABOUT: Final[dict["Form", str]] = {
    "approval": "whether it is approved or rejected",
    "selection": "which of the options was chosen",
    "freeform": "their answer, in words",
    "structured": "their answer, as the schema has it",
}
_KEPT: Final = (
    "The decision is kept. It is recorded when the person leaves this session (/exit); until then "
    "another call replaces it."
)
_UNCONFIRMED: Final = (
    "The decision is not kept: the person has not confirmed it. The client did not ask them about "
    "this call. Call the tool again with the same decision, so that they are asked. If you get "
    "this message again, tell the person that they will be asked in their terminal when they leave "
    "this session (/exit)."
)


async def serve_decision(attempt: Attempt) -> None:
    """Offer the tool on standard input and output until the agent disconnects."""
    asked = attempt.asked
    if asked is None:
        raise ValidationError(f"There is no session in {attempt.folder}.", field="folder")
    tool = decision_tool(asked, attempt, SystemClock())
    await serve("callboard-decision", lambda _: [tool])


def decision_tool(asked: Interaction, attempt: Attempt, clock: Clock) -> Tool:
    """The tool for one session."""
    config = as_object(asked.config)

    async def submit(made: McpCall) -> "dict[str, Json]":
        if "decision" not in made.arguments:
            raise Failed("There is no `decision` in the call. Call it again with one.")
        if len(made.arguments) > 1:
            raise Failed("There is more than `decision` in the call. Call it again without that.")
        decision = made.arguments["decision"]
        try:
            await check_decision(asked, decision)
            call = await _confirmed(made, attempt, clock)
            if call is None:
                attempt.keep_proposal(decision, made.id)
                raise Failed(_UNCONFIRMED)
            attempt.observe(call)
            attempt.keep_decision(decision, call.id)
        except CallboardError as error:
            raise Failed(f"{error.message} Fix that and call the tool again.") from error
        except OSError as error:
            raise Failed(f"The decision cannot be kept: {error.strerror}.") from error
        return {"kept": True, "message": _KEPT}

    about = (
        f"Submit what the person has decided: {_ABOUT[form_of(config)]}. Only when they have "
        "decided, and never in their place; they are shown the call and confirm it."
    )
    return Tool(NAME, about, tool_schema(config), submit)


async def _confirmed(made: McpCall, attempt: Attempt, clock: Clock) -> DecisionCall | None:
    """The call, if the client asked the person about it and it wasn't counted before."""
    session = attempt.session
    if made.id is None or session is None:
        return None
    call = DecisionCall(session, made.id, fingerprint(made.arguments))
    until = clock.monotonic() + HOOK_WITHIN
    while not was_asked(seen := attempt.seen, call):
        if not was_proposed(seen, call) or clock.monotonic() >= until:
            return None
        await clock.sleep(_LOOK_AGAIN)
    return None if is_used(seen, call) else call
