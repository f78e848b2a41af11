"""What a machine tells about itself when a server asks."""

import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from callboard.board.hook_folders import installed_in, spool_folder
from callboard.clock import Clock
from callboard.events.json_values import Object, as_whole
from callboard.relay.command_table import Command
from callboard.relay.steering_commands import SteeringCommands, ways_here

if TYPE_CHECKING:
    from callboard.board.conversation_reading import ConversationReading

MOST_LINES: Final = 200
"""How many lines of the log are kept."""
_LONGEST_LINE: Final = 500


class LogTail(logging.Handler):
    """The last lines of a log, in memory.

    clean: removes what no one may read.
    """

    def __init__(self, clean: Callable[[str], str] = str) -> None:
        super().__init__(logging.INFO)
        self._clean = clean
        self._last: deque[logging.LogRecord | str] = deque(maxlen=MOST_LINES)
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line. It is written when someone reads it, unless it refers to much else."""
        self._last.append(self._line(record) if record.exc_info else record)

    def last(self, count: int) -> list[str]:
        """The newest lines, oldest first."""
        kept = [*self._last][-count:] if count > 0 else []
        return [one if isinstance(one, str) else self._line(one) for one in kept]

    def _line(self, record: logging.LogRecord) -> str:
        try:
            return self._clean(self.format(record))[:_LONGEST_LINE]
        except Exception:  # As every handler: a log never breaks what it is about.
            return record.name


class Machine:
    """This machine, as its relay or its server tells about it.

    hooks: the hooks folder. waiting: how many reports have not been sent yet.
    """

    def __init__(
        self, version: str, hooks: Path, clock: Clock, tail: LogTail, waiting: Callable[[], int]
    ) -> None:
        self._version = version
        self._hooks = hooks
        self._clock = clock
        self._tail = tail
        self._waiting = waiting
        self._conversations: ConversationReading | None = None

    @property
    def commands(self) -> dict[str, Command]:
        """What servers can ask for."""
        return {
            "check": Command(self._check),
            "log": Command(self._log, "read"),
            "transcript": Command(self._transcript, "read"),
            **SteeringCommands(ways_here(self._hooks)).commands,
            "start": Command(self._start, "start", changes=True),
            "stop": Command(self._stop, "start"),
        }

    async def _check(self, data: Object) -> Object:
        return {
            "version": self._version,
            "nowMs": self._clock.now_ms(),
            "waiting": self._waiting(),
            "spooled": spooled_in(self._hooks),
            "agents": sorted(set(installed_in(self._hooks))),
        }

    async def _log(self, data: Object) -> Object:
        return {"lines": self._tail.last(as_whole(data.get("lines")))}

    async def _transcript(self, data: Object) -> Object:
        if self._conversations is None:
            # It takes memory.
            from callboard.board.conversation_reading import ConversationReading

            self._conversations = ConversationReading()
        return await self._conversations.do(data)

    async def _start(self, data: Object) -> Object:
        from callboard.vendors.starting import AgentStarting  # It takes memory, too.

        told = await AgentStarting(self._hooks).start(data)
        return {**told, "reports": data.get("agent") in installed_in(self._hooks)}

    async def _stop(self, data: Object) -> Object:
        from callboard.vendors.starting import AgentStarting

        return await AgentStarting(self._hooks).stop(data)


def spooled_in(hooks: Path) -> int:
    """How many payloads are in the spool, as `board/hook_backlog.py` counts them.

    Not with that module, which takes half a megabyte.
    """
    spool = spool_folder(hooks)
    return sum(1 for place in ("*.json", "claimed/*/*.json") for _ in spool.glob(place))
