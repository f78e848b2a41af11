"""A session that was kept in memory is exactly what loading it would give."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.random_flows import SESSION, Play, Spec, build, flows, moves

from callboard import Callboard
from callboard.engine.live import LiveSession
from callboard.engine.loading import load
from callboard.engine.warm import WarmSession
from callboard.state.session import SessionView

pytestmark = pytest.mark.timeout(300)


class WarmPlay(Play):
    """The same, in a few processes that live on, and drive by turns."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.turns: Iterator[int] = iter(())
        self.processes = [Callboard(self._open(), [self.workflow], self.clock) for _ in range(2)]

    async def _drive(self, crash: int | None) -> None:
        if crash or not await self.outside.log.head(SESSION):
            await super()._drive(crash)
        else:
            await self.processes[next(self.turns, 0)].recover()


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often a drive continued with what was kept, each time compared with loading it."""
    found: list[int] = []
    proceed = LiveSession._continue  # pyright: ignore[reportPrivateUsage]

    async def checked(self: LiveSession, warm: WarmSession) -> bool:
        before = repr(warm.view)
        continued = await proceed(self, warm)
        assert repr(warm.view) == before, "continuing changed what was kept"
        if continued:
            found.append(self.view.position)
            loaded = (await load(self.log, self.session_id, self.view.position)).view
            assert told(self.view) == told(loaded)
            state = self.workflow.state_type.load(loaded.state)
            assert self.state.read() == state
        return continued

    monkeypatch.setattr(LiveSession, "_continue", checked)
    return found


def told(view: SessionView) -> dict[str, Any]:
    """All of a view except the time of narration, which loading leaves out."""
    return {name: getattr(view, name) for name in view.__slots__ if name != "updated_at"}


@settings(max_examples=60)
@given(flows, moves, st.lists(st.integers(0, 1), max_size=30))
def check(phases: Sequence[Spec], ahead: Sequence[str], turns: Sequence[int]) -> None:
    play = WarmPlay(build(phases), ahead)
    play.turns = iter(turns)
    asyncio.run(play.history())


def test_what_was_kept_is_what_loading_gives(compared: list[int]) -> None:
    check()
    assert compared
