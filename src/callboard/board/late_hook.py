"""A payload from the spool. A relay reads it too, and has no room for what plates need."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LateHook:
    """A payload that a hook left in the spool because no server took it.

    at_ms: when that was. pid: the agent's process, if it is known.
    again: an earlier reader was interrupted, and may have recorded it.
    host: the host that its sender's token is limited to.
    """

    agent: str
    body: bytes
    at_ms: int
    pid: int | None = None
    again: bool = False
    host: str | None = None
