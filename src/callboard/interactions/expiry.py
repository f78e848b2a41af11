"""What the clock does to a question that nobody answered. It never refuses in a person's name."""

from typing import Any

from callboard.events import names
from callboard.state.visits import Asked


def ran_out(asked: Asked, now_ms: int) -> bool:
    """Whether the clock has closed the question, though nobody has recorded it yet."""
    closes = (asked.on_timeout or {}).get("action") in ("answer", "fail", "end")
    return closes and asked.deadline is not None and asked.deadline <= now_ms


def expire(asked: Asked, now_ms: int) -> tuple[str, dict[str, Any]]:
    """The event, as name and payload, that a passed deadline causes."""
    rule = asked.on_timeout or {"action": "wait"}
    match rule["action"]:
        case "escalate":
            after = rule.get("afterMs")
            payload: dict[str, Any] = {"id": asked.id, "to": rule["to"]}
            if after is not None:
                payload |= {"deadline": now_ms + after, "onTimeout": rule["then"]}
            return names.ESCALATED, payload
        case "answer":
            payload = {"id": asked.id, "timedOut": True, "value": rule["value"]}
            if "approved" in rule:
                payload["approved"] = rule["approved"]
            return names.EXPIRED, payload
        case "end":
            return names.EXPIRED, {"id": asked.id, "timedOut": True, "outcome": "timeout"}
        case "fail":
            return names.EXPIRED, {"id": asked.id, "timedOut": True, "fail": True}
        case _:
            return names.REMINDED, {"id": asked.id}
