"""Tools with which an agent writes to others. A person approves each message first."""

from dataclasses import dataclass
from typing import Final

from callboard.board.approved_messages import LONGEST, approval_for
from callboard.board.plate import Plate
from callboard.board.protocol import Board
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, as_text
from callboard.events.payloads.messages import MessageTiming
from callboard.harness.mcp_tools import PersonTools, tool
from callboard.harness.protocol import Failed, Tool
from callboard.interactions.records import Interaction

ABOUT_SAY: Final = (
    "You can also write to other coding agents: list_agents names them, and say asks the person to "
    "approve your message before it is sent."
)
_WHENS: Final = ("now", "after_turn")


@dataclass(frozen=True, slots=True)
class SayTools:
    """The tools of one client. person: asks for the approval. client: its name, for the person."""

    board: Board
    person: PersonTools
    client: str

    def tools(self) -> list[Tool]:
        """All of the tools."""
        listing: dict[str, Json] = {"type": "object", "properties": {}}
        return [
            Tool("list_agents", _LIST, listing, lambda made: self.list_agents()),
            tool("say", _SAY, _SAY_FIELDS, self.say, required=("to", "text")),
            tool("check_message", _CHECK, {"id": _TEXT}, self.check_message),
        ]

    async def list_agents(self) -> dict[str, Json]:
        """The agents that can be written to: who and where they are, not what they do."""
        plates = await self.board.plates.all()
        return {"agents": [_told(one) for one in plates if one.status != "closed"]}

    async def say(self, given: Object) -> dict[str, Json]:
        """Ask the person to approve a message, and send it as soon as that is done."""
        to, text, when = (as_text(given.get(key)) for key in ("to", "text", "when"))
        if (when or "now") not in _WHENS:
            raise Failed(f"when must be one of {', '.join(_WHENS)}.")
        plate = await self.board.plates.get(to)
        timing = _timing(when)
        prompt, config = approval_for(self.client, plate.plate_id, text, timing)
        asked = await self.person.ask_for(prompt, config)
        return await self._outcome(await self.person.awaited(asked, given))

    async def check_message(self, given: Object) -> dict[str, Json]:
        """What became of one of this client's messages."""
        asked = await self.person.own(given.get("id"))
        return await self._outcome(await self.person.awaited(asked, given))

    async def _outcome(self, asked: Interaction) -> dict[str, Json]:
        said = as_object(as_object(asked.config).get("say"))
        if not said:
            raise Failed("That is the id of a question, not of a message. Use check_answer.")
        if asked.status == "pending":
            told = "The person has not approved it yet. Look later: check_message with this id."
            return {"id": asked.id, "status": "awaiting_approval", "message": told}
        answer = as_object(asked.response)
        if answer.get("approved") is not True:
            feedback = as_text(answer.get("message")) or None
            return {"id": asked.id, "status": "not_approved", "message": feedback}
        sent = await self.board.messages.say(
            as_text(said.get("plateId")),
            as_text(said.get("text")),
            when=_timing(said.get("when")),
            approval=asked.id,
        )
        return {"id": asked.id, "status": sent.status, "message": sent.note}


def _timing(given: Json) -> MessageTiming:
    return "after_turn" if given == "after_turn" else "now"


def _told(plate: Plate) -> dict[str, Json]:
    return {
        "id": plate.plate_id,
        "agent": plate.agent,
        "name": plate.name,
        "folder": plate.project_path,
        "branch": plate.git_branch,
        "host": plate.host_name or None,
        "status": plate.status,
    }


_LIST: Final = "List the coding agents that can be written to, with their ids."
_SAY: Final = (
    "Write to another coding agent. The person sees the whole message and decides whether it is "
    "sent, so write only what helps, and say why. The result has an id for check_message."
)
_CHECK: Final = "Find out what became of a message that you wrote, by its id."
_TEXT: Final = {"type": "string", "minLength": 1}
_SAY_FIELDS: Final[Object] = {
    "to": {**_TEXT, "description": "The agent's id, from list_agents."},
    "text": {**_TEXT, "maxLength": LONGEST, "description": "The message."},
    "when": {
        "type": "string",
        "enum": list(_WHENS),
        "description": "At the agent's next step, or after its turn. Default: now.",
    },
}
