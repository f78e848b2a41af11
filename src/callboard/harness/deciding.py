"""The tool `submit_decision`, as an MCP server in the agent's session.

It checks a decision and keeps it in the session's folder. The person has confirmed it then, in the
agent's own dialog; it is recorded when the session ends.
"""

from typing import TYPE_CHECKING, Any, Final

from callboard.errors import CallboardError, ValidationError
from callboard.harness.folders import Attempt
from callboard.harness.outcomes import check_decision, form_of, tool_schema
from callboard.harness.protocol import Failed, Tool, serve
from callboard.interactions.records import Interaction
from callboard.vendors.fields import as_object

if TYPE_CHECKING:
    from callboard.harness.outcomes import Form

NAME: Final = "submit_decision"

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


async def serve_decision(attempt: Attempt) -> None:
    """Offer the tool on standard input and output, until the agent leaves."""
    asked = attempt.asked
    if asked is None:
        raise ValidationError(f"There is no session in {attempt.folder}.", field="folder")
    tool = decision_tool(asked, attempt)
    await serve("callboard-decision", lambda _: [tool])


def decision_tool(asked: Interaction, attempt: Attempt) -> Tool:
    """The tool for one session."""
    config = as_object(asked.config)

    async def submit(given: dict[str, Any]) -> dict[str, Any]:
        if "decision" not in given:
            raise Failed("There is no `decision` in the call. Call it again with one.")
        try:
            check_decision(asked, given["decision"])
            attempt.keep_decision(given["decision"])
        except CallboardError as error:
            raise Failed(f"{error.message} Put that right and call the tool again.") from error
        except OSError as error:
            raise Failed(f"The decision cannot be kept: {error.strerror}.") from error
        return {"kept": True, "message": _KEPT}

    about = (
        f"Submit what the person has decided: {_ABOUT[form_of(config)]}. Only when they have "
        "decided, and never in their place; they are shown the call and confirm it."
    )
    return Tool(NAME, about, tool_schema(config), submit)
