"""A server that is killed before or after every write and every command, one run for each.

Afterwards another server takes over: the message arrives once, or is still queued.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.scripted_agent import MessageWorld

from callboard.board.plate_delivery import SHOWS_WITHIN
from callboard.errors import ConflictError
from callboard.events import plates as events
from callboard.testing.fake_clock import FakeClock

MOST = 60


class Killed(BaseException):
    """The server's process ended here."""


class Killing:
    """Ends the server at the n-th of the steps that others can see."""

    def __init__(self, at: int, after: bool) -> None:
        self.left = at
        self.after = after

    def around(self, step: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def killed(*given: Any, **more: Any) -> Any:
            self.left -= 1
            if self.left == 0 and not self.after:
                raise Killed
            done = await step(*given, **more)
            if self.left == 0:
                raise Killed
            return done

        return killed

    @property
    def happened(self) -> bool:
        return self.left <= 0


async def pass_time(world: MessageWorld, seconds: float) -> None:
    assert isinstance(world.clock, FakeClock)
    await world.clock.advance(seconds)


async def lived(
    folder: Path, monkeypatch: pytest.MonkeyPatch, way: str, killing: Killing
) -> MessageWorld:
    """A message is written, handed over and seen, while servers are killed."""
    world = MessageWorld(folder, FakeClock())
    world.agent.way = way
    await world.start("running" if way == "hook" else "idle")
    await world.say("a")
    hosts, log = world.board.hosts, world.board.log
    with monkeypatch.context() as patched:
        patched.setattr(hosts, "ask", killing.around(hosts.ask))
        patched.setattr(log, "append", killing.around(log.append))
        with suppress(Killed):
            await steered(world)
    await world.serve()
    await steered(world)
    return world


async def steered(world: MessageWorld) -> None:
    """What a server, and the agent, do until the message is seen."""
    for _ in range(4):
        await world.steps()
        world.agent.hook_runs()
        for text in world.agent.got:
            world.agent.shows[text] = "seen"
        await pass_time(world, 1)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("way", ["inbox", "app_server", "plugin", "hook"])
async def test_it_arrives_once_or_is_still_queued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, after: bool
):
    for at in range(1, MOST):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        killing = Killing(at, after)
        world = await lived(folder, monkeypatch, way, killing)
        (message,) = await world.messages()
        where = f"killed {'after' if after else 'before'} step {at}: {message}"
        assert world.agent.got in ([], ["a"]), where
        if world.agent.got:
            assert message.status == "seen", where
        else:
            assert message.status == "queued", where
        await world.board.close()
        if not killing.happened:
            assert at > 4  # Every step was tried.
            return
    raise AssertionError("It never ends.")


@pytest.mark.parametrize("after", [False, True])
async def test_withdrawn_from_a_hook_it_never_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
):
    """A server is killed while a person takes a message back; the agent gets it, or never."""
    for at in range(1, MOST):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        world = MessageWorld(folder, FakeClock())
        world.agent.way = "hook"
        await world.start("running")
        id = await world.say("a")
        await world.steps()
        killing = Killing(at, after)
        hosts, log = world.board.hosts, world.board.log
        with monkeypatch.context() as patched:
            patched.setattr(hosts, "ask", killing.around(hosts.ask))
            patched.setattr(log, "append", killing.around(log.append))
            with suppress(Killed, ConflictError):
                await world.board.messages.withdraw(world.id, id)
        await world.serve()
        for _ in range(3):
            await world.steps()
            await pass_time(world, SHOWS_WITHIN)
        (message,) = await world.messages()
        assert (message.status == "withdrawn") == (world.agent.mail == {}), (at, message)
        await world.hear(events.STOP({}))
        await world.board.close()
        if not killing.happened:
            return
    raise AssertionError("It never ends.")
