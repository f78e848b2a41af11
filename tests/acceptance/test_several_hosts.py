"""Several machines on one board: one of them is cut off, and the others go on."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.held_hooks import PATIENCE, bash, behavior, hook, living_agent
from tests.relays import printed
from tests.sites import HAS_NAMESPACES, Site, loopback_site, namespace_site

from callboard import Callboard


async def seen(board: Callboard, number: int, *, connected: bool) -> int:
    """When a host was last seen, once it is connected or not."""
    async with asyncio.timeout(PATIENCE):
        while True:
            for one in await board.hosts.list():
                if (one.name, one.connected) == (f"host-{number}", connected):
                    return one.seen_at
            await asyncio.sleep(0.05)


async def status(board: Callboard, number: int, wanted: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            plates = await board.plates.all()
            if (f"host-{number}", wanted) in [(one.host_name, one.status) for one in plates]:
                return
            await asyncio.sleep(0.05)


def own(payload: dict[str, Any], number: int) -> dict[str, Any]:
    return {**payload, "session_id": f"session-{number}"}


async def permission(site: Site, board: Callboard, number: int) -> None:
    """Asked on one machine, answered on the board."""
    held = await site.relays[number].hook(own(bash("PermissionRequest"), number), "--hold")
    async with asyncio.timeout(PATIENCE):
        while not (asked := await board.people.find(status="pending")):
            await asyncio.sleep(0.02)
    await board.answer(asked[0].id, approved=True)
    assert behavior(await printed(held)) == "allow"
    assert await printed(await site.relays[number].hook(own(bash("PostToolUse"), number))) is None
    await status(board, number, "running")


async def check(site: Site) -> None:
    last = len(site.relays) - 1
    async with Callboard.open(site.server.db) as board:
        for number, relay in enumerate(site.relays):
            start = own(hook("SessionStart", source="startup"), number)
            assert await printed(await relay.hook(start)) is None
            await status(board, number, "idle")
            await seen(board, number, connected=True)
        cut_at = time.time_ns() // 1_000_000
        site.cut(0)
        prompt = own(hook("UserPromptSubmit", prompt="alone"), 0)
        assert await printed(await site.relays[0].hook(prompt)) is None
        await permission(site, board, last)
        last_seen = await seen(board, 0, connected=False)
        assert cut_at - 5000 < last_seen < cut_at + 500
        assert await seen(board, 0, connected=False) == last_seen
        await seen(board, last, connected=True)
        await status(board, 0, "idle")
        site.heal(0)
        await seen(board, 0, connected=True)
        await status(board, 0, "running")
        await permission(site, board, 0)


async def test_one_of_two_hosts_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with living_agent(monkeypatch), loopback_site(tmp_path, 2) as site:
        await check(site)


THREE = (
    pytest.param(namespace_site, id="in namespaces, over TLS")
    if HAS_NAMESPACES
    else pytest.param(loopback_site, id="on loopback, as only root on Linux has namespaces")
)


@pytest.mark.long
@pytest.mark.parametrize("made", [THREE])
async def test_the_cable_of_one_of_three_hosts_is_pulled(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    made: Callable[[Path, int], AbstractAsyncContextManager[Site]],
):
    async with living_agent(monkeypatch), made(tmp_path, 3) as site:
        await check(site)
