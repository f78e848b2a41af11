"""`callboard demo board`: a board that moves, and whose questions can be answered."""

import asyncio
import re
import signal
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.acceptance.cli_process import SCRIPT

from callboard.board.demo.playing import PATIENCE, DemoHook, Player, Script, scripts
from callboard.events.plates import HOOK_HEARD
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.acp.conversation import is_said
from callboard.vendors.agents import VENDORS

# ---- what is played


def test_every_agent_and_every_kind_of_question_is_there():
    found = scripts()
    assert {script.agent for script in found} == {"acp", "claude", "codex", "gemini", "opencode"}
    asked = [line.payload["tool_name"] for script in found for line in script.lines if line.asks]
    assert sorted(map(str, asked)) == ["AskUserQuestion", "Bash", "ExitPlanMode"]


def test_every_line_is_understood():
    for script in scripts():
        for line in script.lines:
            report = VENDORS[script.agent].translate(line.payload)
            assert report is not None
            told = {signal.name for signal in report.signals}
            shows = report.signals[0].payload.get("todos") or is_said(line.payload)
            assert told != {HOOK_HEARD} or shows, line.payload
            assert line.asks == (report.request is not None)


class Board:
    """Takes what is played; holds what asks."""

    def __init__(self, answer: dict[str, Any] | None) -> None:
        self.answer = answer
        self.heard: list[dict[str, Any]] = []

    async def __call__(self, agent: str, payload: dict[str, Any]) -> dict[str, Any]:
        self.heard.append(payload)
        if "hold" not in payload["callboard"]:
            return {}
        if self.answer is None:
            await asyncio.Event().wait()
        return self.answer or {}


ASKING = Script(
    "claude",
    "x",
    (
        DemoHook(1, {"n": 1, "callboard": {}}),
        DemoHook(1, {"n": 2, "callboard": {}}, say="look", asks=True),
        DemoHook(
            1,
            {"n": 3, "callboard": {}, "tool_input": {"answers": 0}, "tool_response": {}},
            only_if="allow",
        ),
        DemoHook(1, {"n": 4, "callboard": {}}, only_if="deny"),
    ),
)


def decided(**decision: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"decision": decision}}


@pytest.mark.parametrize(
    ("answer", "played"),
    [
        (decided(behavior="allow"), [1, 2, 3]),
        (decided(behavior="deny"), [1, 2, 4]),
        ({}, [1, 2, 3]),
        (None, [1, 2, 3]),
    ],
)
async def test_what_is_decided_is_what_happens(answer: dict[str, Any] | None, played: list[int]):
    board, said = Board(answer), list[str]()
    clock = FakeClock(autojump=True)
    await Player(board, clock, 2.0, said.append).play([ASKING])
    assert [one["n"] for one in board.heard] == played
    assert said == ["look"]
    waited = PATIENCE if answer is None else 0
    assert clock.monotonic() == pytest.approx((3 + waited) / 2.0)


async def test_answers_are_told_as_they_were_given():
    board = Board(decided(behavior="allow", updatedInput={"answers": {"Which?": "That"}}))
    await Player(board, FakeClock(autojump=True), 1.0, print).play([ASKING])
    assert board.heard[-1]["tool_input"] == {"answers": {"Which?": "That"}}
    assert board.heard[-1]["tool_response"] == {"answers": {"Which?": "That"}}


# ---- the whole of it


class Demo:
    """The command, and its server as it told of it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []

    async def line(self, pattern: str) -> str:
        """The next line that looks like this."""
        assert self.process.stdout is not None
        while raw := await self.process.stdout.readline():
            self.lines.append(raw.decode())
            if found := re.search(pattern, self.lines[-1]):
                return found[found.re.groups and 1]
        raise AssertionError("it ended:\n" + "".join(self.lines))


async def start(*words: str) -> Demo:
    return Demo(
        await asyncio.create_subprocess_exec(
            sys.executable,
            SCRIPT,
            "demo",
            "board",
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    )


async def answer(http: httpx.AsyncClient, type: str, value: Any) -> None:
    while True:
        waiting = (await http.get("/interactions?status=pending")).json()["interactions"]
        for one in waiting:
            if one["type"] == type:
                told = await http.post(f"/interactions/{one['id']}/answer", json={"value": value})
                # 202 while the agent has not confirmed it.
                assert told.status_code in (200, 202)
                return


async def test_it_moves_and_does_what_it_is_told():
    demo = await start("--speed", "5")
    url = await demo.line(r"demo at (http\S+)")
    link = await demo.line(r"once\): (http\S+)")
    database = Path(await demo.line(r"board --db (\S+)"))
    token = database.with_name("demo.db.token").read_text().strip()
    async with httpx.AsyncClient(
        base_url=url, headers={"Authorization": f"Bearer {token}"}
    ) as http:
        async with httpx.AsyncClient() as browser:
            assert (await browser.get(link)).status_code in (302, 303)
        await answer(http, "permission", "no")
        await answer(http, "question", "SQLite")
        await answer(http, "plan", "yes")
        await demo.line("End of the recording")
        plates = (await http.get("/plates")).json()["plates"]
        gallery = next(one["plateId"] for one in plates if one["projectPath"].endswith("gallery"))
        items = (await http.get(f"/plates/{gallery}/conversation")).json()["items"]
    tools = ["tool"] * 3
    kinds = [one["kind"] for one in items]
    assert kinds == ["notice", "prompt", "reply", *tools, "reply", "usage"]
    assert items[4]["tool"]["edits"]
    assert items[-1]["usage"]["cost"] > 0
    assert any("shop got your denial" in line for line in demo.lines)
    by_name = {Path(plate["projectPath"]).name: plate for plate in plates}
    assert {name: plate["status"] for name, plate in by_name.items()} == {
        "shop": "idle",
        "billing": "idle",
        "handbook": "idle",
        "crawler": "closed",
        "legacy-api": "idle",
        "payments": "idle",
        "atlas": "closed",
        "notes": "idle",
        "gallery": "idle",
    }
    assert by_name["crawler"]["todoProgress"] == "3/3"
    assert by_name["shop"]["gitBranch"] == "coupons"
    demo.process.send_signal(signal.SIGINT)
    assert await demo.process.wait() == 0
    assert not database.parent.exists()


async def test_it_ends_by_itself_when_nobody_answers():
    demo = await start("--speed", "100", "--once")
    await demo.line("shop is done")
    assert await demo.process.wait() == 0
