"""What users derive their states from, and what a person's answer looks like in one."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class HumanResponse(BaseModel):
    """What a person answered, as routing and `on_answer` see it.

    Read it by attribute or by key: `response.value`, `response["value"]`,
    `response.get("outcome")`.
    """

    model_config = ConfigDict(frozen=True)

    value: Any = None
    approved: bool | None = None
    timed_out: bool = False
    """Whether the deadline answered, not a person."""
    outcome: str | None = None
    message: str | None = None
    """Why the person said no, if they said why."""

    def __getitem__(self, key: str) -> Any:
        if key not in type(self).model_fields:
            raise KeyError(key)
        return getattr(self, key)

    def get(self, key: str, default: object = None) -> Any:
        """Return a field, or the default where there is none of that name."""
        return self[key] if key in type(self).model_fields else default


class State(BaseModel):
    """The state of a workflow: derive from it, and give every field a default.

    The engine sets both fields when a person has answered. They stay for the next phase's agent
    and `update`, and are reset before that phase asks or routes, so that no old approval routes
    it.
    """

    human_response: HumanResponse | None = None
    approved: bool | None = None
