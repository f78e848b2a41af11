"""Any interleaving of cuts, crashes and repetitions delivers each payload once, and in order."""

import asyncio
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callboard.board.intake import Listener
from callboard.board.plates import Plates
from callboard.board.spool.files import Spool
from callboard.engine.inbox import Inbox
from callboard.errors import StoreBusy
from callboard.log.memory import MemoryLog
from callboard.relay.batches import HOOK, INCARNATION, unpacked
from callboard.relay.contact import ServerContact
from callboard.relay.http import HttpFailed, HttpReply
from callboard.relay.outbox import HookOrigin, Outbox
from callboard.relay.uplink import Uplink
from callboard.server.relay_intake import RelayIntake, RelaySource
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock

HOOKS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
FAULTS = ("none", "none", "cut before", "cut after", "busy", "store fails", "proxy page")

hook = st.tuples(
    st.just("hook"), st.sampled_from(HOOKS), st.integers(1, 3), st.sampled_from([11, 12, 13])
)
left_in_spool = st.tuples(
    st.just("spool"), st.sampled_from(HOOKS), st.integers(1, 3), st.sampled_from([11, 12, 13])
)
sending = st.tuples(st.just("send"), st.sampled_from(FAULTS), st.integers(1, 4))
crash = st.tuples(st.just("crash"))
delayed = st.tuples(st.just("repeat"), st.integers(0, 5))
steps = st.lists(st.one_of(hook, hook, left_in_spool, sending, crash, delayed), max_size=40)


class FailingLog(MemoryLog):
    """Refuses an append after so many more, as a database that is away does."""

    left: int | None = None

    async def append(self, *given: Any, **more: Any) -> Any:
        if self.left is not None:
            if self.left <= 0:
                raise StoreBusy
            self.left -= 1
        return await super().append(*given, **more)


@dataclass
class World:
    """A relay with its outbox and spool on disk, and servers that share a log."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    fault: str = "none"
    after: int = 0
    sent: list[tuple[bytes, str]] = field(default_factory=list)
    expected: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.log = FailingLog(project, self.clock)
        self.start_relay()

    def start_relay(self) -> None:
        """As after a crash: nothing is left but what is on disk. The server is another one, too."""
        self.outbox = Outbox(self.folder / "outbox")
        self.outbox.open()
        self.spool = Spool(self.folder / "hooks", self.clock)
        self.uplink = Uplink(self.outbox, self.post, ServerContact(self.clock), "mac")
        plates = Plates(self.log, self.clock)
        listener = Listener(plates, self.clock.now_ms)
        self.intake = RelayIntake(plates, listener, Inbox(self.log, self.clock))

    def payload(self, name: str, session: int, pid: int) -> bytes:
        number = len(self.expected)
        self.expected.append((f"s{session}", number))
        told = {"session_id": f"s{session}", "hook_event_name": name, "cwd": "/x", "tag": number}
        if name == "SessionStart":
            told["source"] = "startup"
        if "Tool" in name:
            told |= {"tool_name": "Bash", "tool_input": {"command": "ls"}}
        sender = {"pid": pid, "proc_start": "1", "sent_at": self.clock.now_ms() - 60_000 + number}
        return json.dumps({**told, "callboard": sender}).encode()

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> HttpReply:
        self.sent.append((body, headers[INCARNATION]))
        match self.fault:
            case "cut before":
                raise HttpFailed("cut")
            case "busy":
                return HttpReply(503, {})
            case "proxy page":
                return HttpReply(200, {}, b"<html>")
            case "store fails":
                self.log.left = self.after
            case _:
                pass
        try:
            number = await self.receive(body, headers[INCARNATION])
        except StoreBusy:
            return HttpReply(503, {})
        finally:
            self.log.left = None
        if self.fault == "cut after":
            raise HttpFailed("cut")
        return HttpReply(200, {}, json.dumps({"acknowledged": number}).encode())

    async def receive(self, body: bytes, incarnation: str) -> int:
        items = unpacked(body)
        await self.intake.take(RelaySource("host1234", "mac", incarnation), items)
        return items[-1].number

    async def step(self, name: str, *more: Any) -> None:
        match name:
            case "hook":
                self.outbox.add(HOOK, self.payload(*more), HookOrigin("claude", boot_id="b1"))
            case "spool":
                self.leave(self.payload(*more))
                for one in self.spool.take(10):
                    self.outbox.take_in(one, HookOrigin("claude", boot_id="b1"))
            case "send":
                self.fault, self.after = more
                await self.uplink.send()
            case "crash":
                self.spool.close()
                self.start_relay()
            case "repeat" if self.sent:
                # A request that a slow network delivers long after the relay gave up on it.
                await self.receive(*self.sent[more[0] % len(self.sent)])
            case _:
                pass

    def leave(self, body: bytes) -> None:
        folder = self.folder / "hooks" / "spool"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"claude.7.1.{len(self.expected):06}.json").write_bytes(body)

    async def recorded(self) -> list[list[tuple[str, int]]]:
        """The payloads on each plate, in the order of its stream."""
        found: list[list[tuple[str, int]]] = []
        for plate in await self.intake._plates.all(dismissed=True):
            raws = [one.payload.get("raw") for one in await self.log.read(plate.plate_id)]
            found.append([(one["session_id"], one["tag"]) for one in raws if one])  # type: ignore
        return found


async def play(world: World, plan: list[tuple[Any, ...]]) -> None:
    for one in plan:
        await world.step(*one)
    world.fault = "none"
    while len(world.outbox):
        await world.uplink.send()
    plates = await world.recorded()
    assert sorted(tag for plate in plates for tag in plate) == sorted(world.expected)
    for plate in plates:
        tags = [tag for _, tag in plate]
        assert tags == sorted(tags)


@given(steps)
def test_each_payload_is_recorded_once_and_in_order(plan):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(World(Path(folder)), plan))
