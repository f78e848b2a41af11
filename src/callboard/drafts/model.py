"""The base class for states."""

from pydantic import BaseModel

from callboard.drafts.response import HumanResponse


class State(BaseModel):
    """The state of a workflow. Derive from it, and give every field a default.

    The engine sets both fields when a person answers. They stay for the next phase's agent and
    `update`, and are reset before that phase asks or routes, so that it never routes on an old
    approval.
    """

    human_response: HumanResponse | None = None
    approved: bool | None = None
