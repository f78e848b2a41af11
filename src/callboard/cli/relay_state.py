"""How the relay of this machine is, as it says itself, and as its folder shows."""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from callboard.board.hook_backlog import backlog_in
from callboard.cli.format import ago
from callboard.clock import SystemClock
from callboard.courier.wire import Refused, Timeouts, ask, read_connection
from callboard.display.amounts import counted
from callboard.errors import CallboardError
from callboard.events.json_values import Object, as_object, as_whole
from callboard.events.moments import from_ms
from callboard.relay.hooks import STATE
from callboard.relay.outbox import Outbox
from callboard.relay.settings import hooks_of, read_settings

_WITHIN = 2.0


@dataclass(frozen=True, slots=True)
class RelayState:
    """The relay of a paired machine.

    waiting: how many reports the server doesn't have yet. delivered_at: when the server got the
    last one, since the relay was started. problem: why the server can't be reached.
    """

    server: str
    running: bool
    connected: bool
    waiting: int
    delivered_at: int | None
    problem: str | None

    def to_wire(self) -> Object:
        """The state as JSON."""
        told = asdict(self)
        return {**told, "deliveredAt": told.pop("delivered_at")}


def relay_state(folder: Path) -> RelayState | None:
    """The state of a machine's relay; None if the machine is not paired."""
    try:
        server = read_settings(folder).server
    except CallboardError:
        return None
    told = _asked(folder)
    at = as_whole(told.get("deliveredAt"))
    problem = told.get("problem")
    return RelayState(
        server,
        running=bool(told),
        connected=told.get("connected") is True,
        waiting=Outbox(folder / "outbox").count() + backlog_in(hooks_of(folder)).hooks,
        delivered_at=at or None,
        problem=problem if isinstance(problem, str) else None,
    )


def is_running(folder: Path) -> bool:
    """Whether the relay of this folder responds."""
    return bool(_asked(folder))


def describe(relay: RelayState) -> str:
    """The state in a sentence."""
    if not relay.running:
        said = f"The relay to {relay.server} is not running"
    elif relay.connected:
        said = f"The relay is connected to {relay.server}"
    else:
        why = f": {relay.problem}" if relay.problem else ""
        said = f"The relay can't reach {relay.server}{why}"
    said += f"; {counted(relay.waiting, 'report')} waiting" if relay.waiting else ""
    if relay.delivered_at is not None:
        last = ago(from_ms(relay.delivered_at), from_ms(SystemClock().now_ms()))
        said += f"; last delivery {last}"
    return f"{said}."


def _asked(folder: Path) -> Object:
    """What a running relay says."""
    server = read_connection(str(hooks_of(folder)))
    if server is None:
        return {}
    with suppress(OSError, ValueError, Refused):
        return as_object(json.loads(ask(server, STATE, b"{}", Timeouts(_WITHIN))))
    return {}
