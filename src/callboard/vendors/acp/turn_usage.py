"""What a turn of an agent took, as it says itself: by model, and with the cost if it knows it."""

from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, as_text, as_whole, objects

MOST_DOLLARS: Final = 10**6
"""More than any session costs."""
_DOLLARS: Final = "USD"
_MOST_MODELS: Final = 20


class TurnUsage:
    """Collects what the updates and the results of a turn say."""

    def __init__(self) -> None:
        self._cost = self._counted = 0.0
        """What the session has cost so far, and how much of that in earlier turns."""
        self._used: list[dict[str, Json]] = []

    def add_update(self, update: Object) -> None:
        """Take the cost of the session so far. Only dollars can be added up."""
        told = as_object(update.get("cost"))
        amount = told.get("amount")
        is_dollars = told.get("currency") in (_DOLLARS, None)
        if isinstance(amount, int | float) and 0 <= amount <= MOST_DOLLARS and is_dollars:
            self._cost = max(self._cost, float(amount))

    def add_result(self, result: Object) -> None:
        """Take what the result of a prompt says it took."""
        quota = as_object(as_object(result.get("_meta")).get("quota"))
        models = objects(quota.get("model_usage"))[:_MOST_MODELS]
        if models:
            self._used += [_of_model(one) for one in models]
        elif told := as_object(result.get("usage")) or as_object(quota.get("token_count")):
            self._used.append(_tokens(told))

    def taken(self) -> list[Json]:
        """What was collected since the last time. The cost is that of all its models together."""
        used, self._used = self._used, []
        cost = round(self._cost - self._counted, 9)
        self._counted = self._cost
        if cost > 0:
            used = used or [_tokens({})]
            share = cost / len(used)
            used = [one | {"cost": share} for one in used]
        return [*used]


def _of_model(told: Object) -> dict[str, Json]:
    model = as_text(told.get("model"))
    return _tokens(as_object(told.get("token_count"))) | ({"model": model} if model else {})


def _tokens(told: Object) -> dict[str, Json]:
    def count(*names: str) -> int:
        return next((number for name in names if (number := as_whole(told.get(name))) > 0), 0)

    return {
        "inputTokens": count("inputTokens", "input_tokens"),
        "outputTokens": count("outputTokens", "output_tokens")
        + count("thoughtTokens", "thought_tokens"),
        "cachedReadTokens": count("cachedReadTokens", "cached_read_tokens"),
        "cachedWriteTokens": count("cachedWriteTokens", "cached_write_tokens"),
    }
