"""The payloads of events about the tokens that agents use, and about the budget."""

from typing import NotRequired, TypedDict

from callboard.events.payloads.workflow import Authored


class CountedTokens(TypedDict):
    """The tokens of one model in one hour, in a session of a coding agent.

    These are running totals: a later event about the same session, hour and model replaces them.
    """

    hour: int
    """When the hour starts, in milliseconds since 1970 in UTC."""
    model: str
    """Empty if the client doesn't say."""
    inputTokens: int
    outputTokens: int
    cacheReadTokens: int
    cacheWriteTokens: int
    longCacheWriteTokens: NotRequired[int]
    """Those of `cacheWriteTokens` that the provider keeps for an hour, at a higher price."""
    calls: int
    """How often the model was called."""
    cost: NotRequired[float]
    """In US dollars, if the client says what calls cost."""


class UsageCountedPayload(TypedDict):
    """What a session of a coding agent has used so far, from its client's transcript."""

    sessionId: str
    agent: str
    project: str
    totals: list[CountedTokens]


class BudgetSetPayload(Authored):
    """Someone changed the budget."""

    daily: float | None
    """US dollars a day; null for no budget."""
    utcOffset: NotRequired[int]
    """When the day starts, in minutes east of UTC."""
    timeZone: NotRequired[str]
    """The name of the time zone, such as `Europe/Berlin`. Where it is known, it counts instead."""
