"""What happens to a question when its deadline passes. It never rejects on a person's behalf."""

from callboard.events import names
from callboard.events.event_name import Entry
from callboard.events.payloads.people import InputEscalatedPayload, InputExpiredPayload
from callboard.state.visits import Asked


def ran_out(asked: Asked, now_ms: int) -> bool:
    """Whether the deadline has closed the question, even if that isn't recorded yet."""
    rule = asked.on_timeout
    closes = rule is not None and rule["action"] in ("answer", "fail", "end")
    return closes and asked.deadline is not None and asked.deadline <= now_ms


def expired(session: str) -> Entry:
    """The timeout of an interactive session, by its id."""
    return names.EXPIRED({"id": session, "timedOut": True, "outcome": "timeout"})


def expire(asked: Asked, now_ms: int) -> Entry:
    """The event for a passed deadline."""
    rule = asked.on_timeout or {"action": "wait"}
    if rule["action"] == "escalate":
        escalated = InputEscalatedPayload(id=asked.id, to=rule["to"])
        if asked.assignees is not None:
            escalated["assignees"] = list(dict.fromkeys([*asked.assignees, *rule["to"]]))
        if rule["afterMs"] is not None:
            escalated["deadline"] = now_ms + rule["afterMs"]
            escalated["onTimeout"] = rule["then"]
        return names.ESCALATED(escalated)
    if rule["action"] == "answer":
        payload = InputExpiredPayload(id=asked.id, timedOut=True, value=rule["value"])
        if "approved" in rule:
            payload["approved"] = rule["approved"]
        return names.EXPIRED(payload)
    if rule["action"] == "end":
        return expired(asked.id)
    if rule["action"] == "fail":
        return names.EXPIRED({"id": asked.id, "timedOut": True, "fail": True})
    return names.REMINDED({"id": asked.id})
