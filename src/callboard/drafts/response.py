"""A person's answer as it appears in states."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class HumanResponse(BaseModel):
    """A person's answer, as routing and `on_answer` see it.

    Read it by attribute or by key: `response.value`, `response["value"]`,
    `response.get("outcome")`.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    value: Any = None
    approved: bool | None = None
    timed_out: bool = False
    """Whether the question timed out instead of being answered by a person."""
    outcome: str | None = None
    message: str | None = None
    """The reason that the person gave for rejecting, if any."""

    def __getitem__(self, key: str) -> Any:
        if key not in type(self).model_fields:
            raise KeyError(key)
        return getattr(self, key)

    def get(self, key: str, default: object = None) -> Any:
        """Return a field, or the default if there is no field of that name."""
        return self[key] if key in type(self).model_fields else default
