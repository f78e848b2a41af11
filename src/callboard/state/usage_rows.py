"""One event with tokens → changes to the rows of `token_usage`."""

from collections.abc import Mapping
from typing import Final

from callboard.events import usage
from callboard.events.envelope import Event, Json
from callboard.events.payloads.usage import UsageCountedPayload
from callboard.events.rows import Cell, Put

HOUR_MS: Final = 3_600_000
NANOS: Final = 1_000_000_000
"""Parts of a US dollar in which costs are stored, so that sums are exact."""

_MOST_TOKENS: Final = 10**12
"""More than anything can use, and small enough that sums always fit."""
_MOST_DOLLARS: Final = 10**6
_COUNTS: Final[Mapping[str, str]] = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_tokens": "cacheReadTokens",
    "cache_write_tokens": "cacheWriteTokens",
    "long_cache_write_tokens": "longCacheWriteTokens",
    "calls": "calls",
}


def counted(payload: UsageCountedPayload, event: Event) -> list[Put]:
    """A session's running totals: they replace those that were known."""
    agent, session = payload["agent"], payload["sessionId"]
    return [
        Put(
            "token_usage",
            {
                # Without the plate: a session that is resumed in another terminal is still one.
                "id": f"{agent}:{session}:{one['hour']}:{one['model']}",
                "stream": event.session_id,
                "source": "plate",
                "session": session,
                "agent": agent,
                "project": payload["project"],
                "hour": one["hour"],
                "model": one["model"],
                **_counts({**one}),
                **_cost(one.get("cost")),
            },
        )
        for one in payload["totals"]
    ]


def of_run(told: Mapping[str, Json], event: Event) -> list[Put]:
    """What a run of a workflow's agent has used."""
    counts = _counts({"calls": told.get("requests", told.get("turns")), **told})
    cost = _cost(told.get("costUsd"))
    if not any(counts.values()) and not cost:
        return []
    model = told.get("model")
    row: dict[str, Cell] = {
        "id": event.id,
        "stream": event.session_id,
        "source": "run",
        "session": event.session_id,
        "hour": event.at_ms // HOUR_MS * HOUR_MS,
        "model": model if isinstance(model, str) else "",
    }
    return [Put("token_usage", {**row, **counts, **cost})]


def _counts(told: Mapping[str, Json]) -> dict[str, int]:
    return {column: count_of(told.get(key)) for column, key in _COUNTS.items()}


def _cost(dollars: Json) -> dict[str, int]:
    if not isinstance(dollars, int | float) or not 0 < dollars <= _MOST_DOLLARS:
        return {}
    return {"reported": 1, "cost": round(dollars * NANOS)}


def count_of(count: Json) -> int:
    """A number of tokens; 0 for anything else an agent reports."""
    return count if type(count) is int and 0 < count <= _MOST_TOKENS else 0


HANDLERS: Final = dict((usage.COUNTED.to(counted),))
