"""What an ACP agent's process reports: all of it, in order, many at once, and with an end."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from callboard.board.hook_folders import connection_file, full_marker, make_folders, spool_folder
from callboard.board.spool.files import Spool
from callboard.clock import SystemClock
from callboard.vendors.acp.reporting import BoardReports

MANY = 450


@dataclass
class Heard:
    """A server that reads the spool before each request, as ours does."""

    hooks: Path
    texts: list[str] = field(default_factory=list)
    requests: int = 0
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().partition("content-length:")[2].split()[0])
        body = await reader.readexactly(length)
        self.requests += 1
        self.read_spool()
        self.texts.append(json.loads(body)["text"])
        await self.may_answer.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    def read_spool(self) -> None:
        spool = Spool(self.hooks, SystemClock())
        for one in spool.take(10_000):
            self.texts.append(json.loads(one.hook.body)["text"])
            one.done()
        spool.close()


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    folder = tmp_path / "hooks"
    make_folders(folder)
    return folder


@pytest.fixture
async def heard(hooks: Path) -> AsyncIterator[Heard]:
    made = Heard(hooks)
    async with await asyncio.start_server(made.serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        connection_file(hooks).write_text(f"127.0.0.1:{port}\ntoken\n", encoding="utf-8")
        connection_file(hooks).chmod(0o600)
        yield made


async def test_many_reports_are_few_requests_and_in_order(hooks: Path, heard: Heard):
    reports = BoardReports(str(hooks), "/p", "s1")
    running = asyncio.create_task(reports.run())
    wanted = [str(number) for number in range(MANY)]
    for text in wanted:
        reports.add("notice", text=text)
    heard.may_answer.set()
    await reports.flush()
    assert heard.texts == wanted
    assert heard.requests <= 6
    reports.end()
    await running


async def test_one_report_is_sent_at_once_and_leaves_no_file(hooks: Path, heard: Heard):
    heard.may_answer.set()
    reports = BoardReports(str(hooks), "/p", "s1")
    running = asyncio.create_task(reports.run())
    reports.add("notice", text="only")
    await reports.flush()
    assert (heard.requests, heard.texts) == (1, ["only"])
    reports.end()
    await running


async def test_without_a_server_they_stay_in_order_in_the_spool(hooks: Path):
    reports = BoardReports(str(hooks), "/p", "s1")
    running = asyncio.create_task(reports.run())
    wanted = [str(number) for number in range(MANY)]
    for text in wanted:
        reports.add("notice", text=text)
    await reports.flush()
    reports.end()
    await running
    later = Heard(hooks)
    later.read_spool()
    assert later.texts == wanted


async def test_each_file_has_its_own_moment(hooks: Path, monkeypatch: pytest.MonkeyPatch):
    """The system's clock for files has ticks, in which many are written."""
    moments = iter(range(10**18, 2 * 10**18))
    monkeypatch.setattr("callboard.courier.delivery.time.time_ns", lambda: next(moments))
    reports = BoardReports(str(hooks), "/p", "s1")
    running = asyncio.create_task(reports.run())
    for text in "abc":
        reports.add("notice", text=text)
    reports.end()
    await running
    times = [one.stat().st_mtime_ns for one in spool_folder(hooks).glob("*.json")]
    assert len(set(times)) == 3
    assert all(10**18 <= one < 10**18 + 10**6 for one in times)


async def test_a_spool_that_cannot_be_written_loses_nothing(hooks: Path, heard: Heard):
    heard.may_answer.set()
    spool_folder(hooks).rename(hooks / "moved")
    heard.read_spool = lambda: None  # type: ignore[method-assign]
    reports = BoardReports(str(hooks), "/p", "s1")
    running = asyncio.create_task(reports.run())
    for text in "abc":
        reports.add("notice", text=text)
    await reports.flush()
    assert heard.texts == ["a", "b", "c"]
    reports.end()
    await running


KEEPING = """
import asyncio, socket, sys
from callboard.vendors.acp import hosted_agent
hosted_agent._SENT_WITHIN = 0.2
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[2])
listener.listen()
given = {"words": ["true"], "folder": "/", "hooks": sys.argv[1], "terminals": "/", "id": "a1"}
asyncio.run(hosted_agent.HostedAgent(given, listener).run())
"""


def test_with_a_full_spool_and_no_server_its_process_still_ends(hooks: Path, tmp_path: Path):
    full_marker(hooks).touch()
    words = [sys.executable, "-c", KEEPING, str(hooks), str(tmp_path / "s")]
    assert subprocess.run(words, timeout=30, check=False).returncode == 0
