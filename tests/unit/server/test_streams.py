"""History, then live: read once, encoded once, nothing lost and nothing repeated."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message
from tests.lost_events import lose

from callboard.errors import HistoryChanged, StoreError
from callboard.events import names
from callboard.log.memory import MemoryLog
from callboard.log.protocol import Base, Writing
from callboard.server import frames
from callboard.server.event_stream import EventStream
from callboard.server.frames import HEARTBEAT, LARGEST_PAGE, Page, Pages
from callboard.server.memory import MemoryBudget
from callboard.server.pacing import ABORT
from callboard.server.settings import ServerSettings
from callboard.server.streams import StreamReader, Streams
from callboard.testing.log_suite_material import happened, several

PATIENCE = 5
QUICK = ServerSettings(page=4, write_every=0.0, heartbeat=60.0)


def ids(data: bytes) -> list[int]:
    """The places in a chunk of frames, each of which must be whole."""
    found: list[int] = []
    for one in data.decode().split("\n\n")[:-1]:
        if not one.startswith(":"):
            place, payload = one.split("\n")
            json.loads(payload.removeprefix("data: "))
            found.append(int(place.removeprefix("id: ")))
    return found


async def take(reader: StreamReader, count: int) -> list[int]:
    """The next places that a reader gets."""
    got: list[int] = []
    async with asyncio.timeout(PATIENCE), aclosing(reader.chunks()) as chunks:
        async for data in chunks:
            got += ids(data)
            if len(got) >= count:
                return got
    return got


@pytest.fixture
async def log() -> AsyncIterator[MemoryLog]:
    log = MemoryLog()
    yield log
    await log.close()


async def test_history_comes_first_then_what_happens(log: MemoryLog):
    await log.append("s", several(10))
    reading = asyncio.create_task(take(Streams(log, QUICK).session("s", 0), 13))
    await asyncio.sleep(0.01)
    for _ in range(3):
        await log.append("s", several(1))
    assert await reading == list(range(1, 14))


async def test_when_the_log_fails_the_reader_is_cut_off_and_can_return(
    log: MemoryLog, monkeypatch: pytest.MonkeyPatch
):
    await log.append("s", several(2))
    streams, sent, cut = Streams(log, QUICK), list[bytes](), list[bool]()
    first_part = asyncio.Event()

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))
        if b"id: 2" in sent[-1]:
            first_part.set()

    async def receive() -> Message:
        return await asyncio.Future()

    scope = {"type": "http", ABORT: lambda: cut.append(True)}
    writing = asyncio.create_task(EventStream(streams.session("s", 0))(scope, receive, send))
    async with asyncio.timeout(PATIENCE):
        await first_part.wait()

        async def fail(stream: str) -> int:
            raise StoreError

        with monkeypatch.context() as broken:
            broken.setattr(log, "head", fail)
            await log.append("s", several(1))
            await writing
    assert cut == [True]
    assert await take(streams.session("s", 2), 1) == [3]


async def test_when_another_server_takes_over_readers_have_to_return(log: MemoryLog):
    await log.append("s", several(5))
    streams = Streams(log, QUICK)
    one, everything = streams.session("s", 0), streams.everything(0)
    early = streams.session("s", 5)
    reading = [asyncio.create_task(take(reader, 9)) for reader in (one, everything)]
    await asyncio.sleep(0.01)
    lose(log, "s", 2)
    await log.append("s", several(7))
    assert await asyncio.gather(*reading) == [[1, 2, 3, 4, 5]] * 2
    # Its position was compared with the history before.
    assert await take(early, 1) == []
    assert await take(streams.session("s", 3), 7) == [4, 5, 6, 7, 8, 9, 10]
    with pytest.raises(HistoryChanged):
        await streams.session("s", 11).resume(None)


async def test_nothing_is_sent_past_a_lost_event(log: MemoryLog, monkeypatch: pytest.MonkeyPatch):
    """What is read while another server takes over may already be from there."""
    await log.append("s", several(5))
    reader, whole = Streams(log, QUICK).session("s", 5), log.head

    async def head(stream: str) -> int:
        monkeypatch.setattr(log, "head", whole)
        lose(log, "s", 2)
        await log.append("s", several(3))
        return await whole(stream)

    monkeypatch.setattr(log, "head", head)
    assert await take(reader, 1) == []


async def test_a_reader_goes_on_where_it_was(log: MemoryLog):
    await log.append("s", several(10))
    assert await take(Streams(log, QUICK).session("s", 7), 3) == [8, 9, 10]


async def test_the_stream_ends_after_the_end(log: MemoryLog):
    await log.append("s", [*several(5), happened(names.FAILED, {"error": {"code": "X"}})])
    assert await take(Streams(log, QUICK).session("s", 0), 100) == [1, 2, 3, 4, 5, 6]


async def test_each_event_is_encoded_once_for_all_readers(
    log: MemoryLog, monkeypatch: pytest.MonkeyPatch
):
    encoded: list[int] = []
    encode = frames.frame

    def counted(place, event):
        encoded.append(place)
        return encode(place, event)

    monkeypatch.setattr(frames, "frame", counted)
    await log.append("s", several(10))
    streams = Streams(log, QUICK)
    reading = [asyncio.create_task(take(streams.session("s", 0), 12)) for _ in range(20)]
    await asyncio.sleep(0.01)
    await log.append("s", several(2))
    assert await asyncio.gather(*reading) == [list(range(1, 13))] * 20
    assert sorted(encoded) == list(range(1, 13))


async def test_events_that_come_together_are_written_together(log: MemoryLog):
    streams = Streams(log, ServerSettings(write_every=0.05))
    await log.append("s", several(1))
    chunks: list[list[int]] = []

    async def read() -> None:
        async with aclosing(streams.session("s", 0).chunks()) as stream:
            async for data in stream:
                chunks.append(ids(data))
                if chunks[-1][-1] == 21:
                    return

    reading = asyncio.create_task(read())
    await asyncio.sleep(0.01)
    for _ in range(20):
        await log.append("s", several(1))
    async with asyncio.timeout(PATIENCE):
        await reading
    assert [place for chunk in chunks for place in chunk] == list(range(1, 22))
    assert len(chunks) < 10


async def test_silence_is_filled_with_comments(log: MemoryLog):
    await log.append("s", several(1))
    streams = Streams(log, ServerSettings(heartbeat=0.01))
    got: list[bytes] = []
    async with asyncio.timeout(PATIENCE), aclosing(streams.session("s", 1).chunks()) as chunks:
        async for data in chunks:
            got.append(data)
            if len(got) == 3:
                break
    assert got == [HEARTBEAT] * 3


async def test_closing_ends_everyone(log: MemoryLog):
    await log.append("s", several(2))
    streams = Streams(log, QUICK)
    reading = [asyncio.create_task(take(streams.session("s", 0), 100)) for _ in range(3)]
    await asyncio.sleep(0.01)
    streams.close()
    assert await asyncio.gather(*reading) == [[1, 2]] * 3
    assert streams.reading == 0


async def test_a_channel_lives_as_long_as_its_last_reader(log: MemoryLog):
    await log.append("s", several(3))
    streams = Streams(log, QUICK)
    await take(streams.session("s", 0), 3)
    assert streams.reading == 0
    assert not log.listeners


async def test_a_reader_that_takes_nothing_is_cut_off(log: MemoryLog):
    await log.append("s", several(1))
    streams = Streams(log, ServerSettings(patience=0.0))
    reader = streams.session("s", 0)
    cut = asyncio.Event()
    reader.cut_off = cut.set
    async with aclosing(reader.chunks()) as chunks:
        await anext(chunks)
        reader.buffered = lambda: 100
        async with asyncio.timeout(PATIENCE):
            await cut.wait()


async def test_a_reader_that_takes_a_little_is_left_alone(log: MemoryLog):
    reader = Streams(log, QUICK).session("s", 0)
    left = iter([100, 90, 90, 80, 90, 0, 90])
    reader.buffered = lambda: next(left)
    seen = [reader.takes_nothing_since(float(now)) for now in range(1, 8)]
    assert seen == [1, 2, 2, 4, 4, 6, 6]


async def test_an_end_of_the_parent_is_no_end_of_its_fork(log: MemoryLog):
    await log.append("parent", [*several(3), happened(names.CANCELLED)])
    await log.append("fork", several(2), Writing(expect=4, base=Base("parent", 4)))
    streams = Streams(log, QUICK)
    assert await take(streams.session("fork", 0), 6) == [1, 2, 3, 4, 5, 6]
    assert await take(streams.session("parent", 0), 100) == [1, 2, 3, 4]


async def test_a_session_that_another_process_deletes_ends_its_streams(log: MemoryLog):
    await log.append("s", several(3))
    reading = asyncio.create_task(take(Streams(log, QUICK).session("s", 0), 100))
    await asyncio.sleep(0.01)
    await log.delete("s")
    log.listeners.wake({"s": None})
    assert await reading == [1, 2, 3]


async def test_large_events_are_written_one_by_one(log: MemoryLog):
    large = happened("note", {"text": "x" * 200_000})
    await log.append("s", [large._replace(id=str(n)) for n in range(4)])
    sizes: list[int] = []
    async with aclosing(Streams(log, ServerSettings()).session("s", 0).chunks()) as chunks:
        async for data in chunks:
            sizes.append(len(ids(data)))
            if sum(sizes) == 4:
                break
    assert sizes == [1, 1, 1, 1]


async def test_everything_comes_by_the_global_sequence(log: MemoryLog):
    await log.append("a", several(3))
    await log.append("b", several(3))
    streams = Streams(log, QUICK)
    reading = asyncio.create_task(take(streams.everything(2), 6))
    await asyncio.sleep(0.01)
    await log.append("c", several(2))
    assert await reading == [3, 4, 5, 6, 7, 8]


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=20),
    st.integers(0, 30),
    st.integers(1, 7),
)
async def test_any_reader_sees_everything_after_its_place_once(
    appends: list[int], after: int, page: int
):
    log = MemoryLog()
    streams = Streams(log, ServerSettings(page=page, write_every=0.0))
    total = sum(appends)
    reading = asyncio.create_task(take(streams.session("s", after), max(total - after, 0)))
    for count in appends:
        await log.append("s", several(count))
        await asyncio.sleep(0)
    if total > after:
        assert await reading == list(range(after + 1, total + 1))
    else:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    await log.close()


def test_pages_are_forgotten_by_weight():
    pages = Pages(most_bytes=10, memory=MemoryBudget(1000))
    for number in range(5):
        page = Page(number, number + 1)
        page.size = 4
        pages.keep(("s", number, 1), page)
    assert [number for number in range(5) if pages.get(("s", number, 1))] == [3, 4]


@pytest.mark.parametrize("after", [0, 1, 6, 7])
async def test_large_events_are_read_a_few_at_a_time(log: MemoryLog, after: int):
    large = {"text": "x" * (LARGEST_PAGE // 2)}
    for number in range(8):
        await log.append("s", [happened("e", large if number % 4 else None)])
    read: list[int] = []
    log_read = log.read

    async def counted(*given: Any, **more: Any) -> Any:
        found = await log_read(*given, **more)
        read.append(sum(len(str(event.payload)) for event in found))
        return found

    log.read = counted  # type: ignore[method-assign]
    streams = Streams(log, ServerSettings(write_every=0.0))
    for _ in range(2):
        wanted = list(range(after + 1, 9))
        assert await take(streams.session("s", after), len(wanted)) == wanted
    assert max(read) < 2.1 * LARGEST_PAGE


async def test_what_many_readers_are_sent_is_held_once(log: MemoryLog):
    memory = MemoryBudget(100 * LARGEST_PAGE)
    await log.append("s", [happened("e", {"text": "x" * LARGEST_PAGE})])
    streams = Streams(log, ServerSettings(write_every=0.0, cache=0), memory)
    readers = [streams.session("s", 0).chunks() for _ in range(20)]
    for chunks in readers:
        await anext(chunks)
    assert memory.used < 3 * LARGEST_PAGE
    for chunks in readers:
        await chunks.aclose()
    assert memory.used < 2 * LARGEST_PAGE


async def test_nothing_is_kept_of_what_was_deleted(log: MemoryLog):
    await log.append("s", several(10))
    streams = Streams(log, QUICK)
    reading = [
        asyncio.create_task(take(reader, 100))
        for reader in (streams.session("s", 0), streams.everything(0))
    ]
    await asyncio.sleep(0.01)
    await log.delete("s")
    streams.forget("s")
    assert await reading[0] == list(range(1, 11))
    await log.append("t", several(1))
    assert await take(streams.everything(0), 1) == [await log.last_sequence()]
    streams.close()
    await reading[1]
