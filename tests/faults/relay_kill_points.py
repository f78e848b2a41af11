"""A server and a relay that kill themselves at a named step of a held permission.

The step is in the file that CALLBOARD_TEST_STEP names. It is removed first, so that the next
process goes past the same step.
"""

import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

VARIABLE = "CALLBOARD_TEST_STEP"
SERVER = "from tests.faults.relay_kill_points import serve; serve()"
RELAY = "from tests.faults.relay_kill_points import relay; relay()"


def reached(step: str) -> None:
    """Die here if it is this step's turn."""
    file = Path(os.environ[VARIABLE])
    if file.exists() and file.read_text() == step:
        file.unlink()
        os.kill(os.getpid(), signal.SIGKILL)


def around(owner: type, name: str, step: Callable[..., str | None]) -> None:
    """Reach `before …` and `after …` around a function; step: its name for these arguments."""
    original = getattr(owner, name)

    def call(*given: Any, **more: Any) -> Any:
        now = step(*given)
        if now is not None:
            reached(f"before {now}")
        result = original(*given, **more)
        if now is not None:
            reached(f"after {now}")
        return result

    setattr(owner, name, call)


def around_async(owner: type, name: str, steps: Callable[..., Sequence[str]]) -> None:
    original = getattr(owner, name)

    async def call(*given: Any, **more: Any) -> Any:
        now = steps(*given)
        for one in now:
            reached(f"before {one}")
        result = await original(*given, **more)
        for one in now:
            reached(f"after {one}")
        return result

    setattr(owner, name, call)


def serve() -> None:
    """`callboard serve`."""
    from callboard.__main__ import main
    from callboard.log.sqlite.log import SqliteLog
    from callboard.server.relay_intake import RelayIntake
    from callboard.server.relays import RelayStream

    around_async(SqliteLog, "append", lambda log, stream, events, *more: [e.name for e in events])
    around_async(
        RelayIntake, "take", lambda intake, source, items: [f"taking {i.kind}" for i in items]
    )
    chunks = RelayStream.chunks

    async def sent(stream: RelayStream) -> AsyncGenerator[bytes]:
        async for chunk in chunks(stream):
            step = "sending the decision" if b"event: decide" in chunk else "a heartbeat"
            reached(f"before {step}")
            yield chunk
            reached(f"after {step}")

    RelayStream.chunks = sent  # type: ignore[method-assign]
    sys.argv[0] = "callboard"
    sys.exit(main())


def relay() -> None:
    """The relay's process; its folder is the argument."""
    import callboard.relay.__main__ as process
    from callboard.relay.hooks import RelayHooks
    from callboard.relay.outbox import Outbox

    def first(outbox: Outbox, number: int) -> str | None:
        found = outbox.first(1, 1)
        return f"confirming {found[0].kind}" if found and found[0].number <= number else None

    around(Outbox, "add", lambda outbox, kind, *more: f"adding {kind}")
    around(Outbox, "remove_up_to", first)
    around(RelayHooks, "decide", lambda hooks, hold, output: "handing the decision over")
    sys.exit(process.main(sys.argv[1], "0.1.0"))
