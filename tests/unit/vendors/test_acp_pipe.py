"""What an agent prints is read within bounds: small lines can become large objects."""

import asyncio
from typing import Any, cast

import pytest

from callboard.events.codec import MOST_VALUES
from callboard.vendors.acp.pipe import LARGEST, AgentPipe

GOOD = b'{"method":"after","id":1}\n'


async def read(line: bytes) -> tuple[dict[str, Any] | None, list[str]]:
    """The first message, and what was told, if an agent prints this line before a good one."""

    async def room() -> None: ...

    reader = asyncio.StreamReader()
    reader.feed_data(line + b"\n" + GOOD)
    reader.feed_eof()
    told: list[str] = []
    pipe = AgentPipe(reader, cast("asyncio.StreamWriter", None), room, told.append)
    return await pipe.receive(), told


def nested(depth: int) -> bytes:
    return b'{"method":"x","params":%s%s}' % (b"[" * depth, b"]" * depth)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"method":"x","params":[%s[]]}' % (b"[]," * MOST_VALUES), "50,000 values"),
        (nested(100), "100 levels"),
        (nested(900), "100 levels"),
        (nested(30_000), "not a message"),
        (nested(60_000), "50,000 values"),
        (b'{"method":"%s"}' % (b"x" * (LARGEST + 300_000)), "32 MB"),
    ],
    ids=["wide", "deep", "deeper", "deepest", "endless", "long"],
)
async def test_what_is_too_much_is_dropped_and_said(line: bytes, said: str):
    message, told = await read(line)
    assert message == {"method": "after", "id": 1}
    assert len(told) == 1
    assert said in told[0]


@pytest.mark.parametrize(
    "line", [nested(90), b'{"method":"x","params":"%s"}' % (b"[{," * 100_000)], ids=["deep", "text"]
)
async def test_what_is_usual_is_read(line: bytes):
    message, told = await read(line)
    assert message is not None
    assert (message["method"], told) == ("x", [])
