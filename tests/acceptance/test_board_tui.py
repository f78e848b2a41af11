"""The board in the terminal against a real server: what is shown there, and what is done there."""

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import TOKEN, Server, serving
from textual.pilot import Pilot

from callboard import Callboard
from callboard.client.client import Client
from callboard.clock import SystemClock
from callboard.events import plates
from callboard.tui.app import BoardApp
from callboard.tui.source import Source
from callboard.vendors.reports import Report

FLOWS = Path(__file__).parent.parent / "server_flows.py"
WITHIN = 90


@dataclass
class Stage:
    """A board in a terminal of this process, beside a server in one of its own."""

    app: BoardApp
    pilot: Pilot[None]
    server: Server

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def shows(self, *texts: str) -> None:
        await self.until(lambda: all(text in self.text for text in texts))

    async def until(self, claim: Callable[[], object]) -> None:
        try:
            async with asyncio.timeout(WITHIN):
                while not claim():
                    await self.pilot.pause(0.02)
        except TimeoutError:
            raise AssertionError(self.text) from None

    @property
    def text(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    async def hook(self, event: str, session: str = "shop", **more: Any) -> httpx.Response:
        """What a hook of Claude Code sends."""
        payload = {"hook_event_name": event, "session_id": session, "cwd": f"/tmp/{session}"}
        async with self.server.client() as client:
            return await client.post("/hooks/claude", json=payload | more, timeout=WITHIN)


@asynccontextmanager
async def staged(tmp_path: Path, size: tuple[int, int] = (100, 40)) -> AsyncGenerator[Stage]:
    async with serving(tmp_path / "t.db", FLOWS) as server:
        client = Client(server.url, TOKEN, via="tui", reconnect=0)
        source = Source(client, "ann")
        app = BoardApp(source, SystemClock(), tmp_path / "board.json", server.url)
        async with client, app.run_test(size=size, notifications=True) as pilot:
            yield Stage(app, pilot, server)


async def begin(stage: Stage, session: str = "shop") -> None:
    await stage.hook("SessionStart", session, source="startup")
    await stage.hook("UserPromptSubmit", session, prompt="fix the cart")


async def test_a_session_from_its_start_to_its_end(tmp_path: Path):
    async with staged(tmp_path) as stage:
        await stage.shows("No agents yet")
        await begin(stage)
        await stage.shows("● running", "fix the cart")
        await stage.hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
        await stage.shows("Bash: fix the cart")
        await stage.hook("Stop", last_assistant_message="All tests pass.")
        await stage.shows("✓ done", "All tests pass.", "1 needs you")
        await stage.hook("SessionEnd", reason="prompt_input_exit")
        await stage.shows("Press c to show closed sessions")
        await stage.press("c")
        await stage.shows("× closed")


HELD: dict[str, Any] = {
    "tool_name": "Bash",
    "tool_input": {"command": "make clean", "description": "Clean up"},
    "callboard": {"hold": "hold-1"},
}


QUESTION: dict[str, Any] = {
    "question": "Which?",
    "header": "W",
    "multiSelect": False,
    "options": [{"label": "Left"}, {"label": "Right"}],
}
ASKED: dict[str, Any] = {
    "tool_name": "AskUserQuestion",
    "tool_input": {"questions": [QUESTION]},
    "callboard": {"hold": "hold-3"},
}


async def decided(held: "asyncio.Task[httpx.Response]") -> dict[str, Any]:
    """What the agent is told."""
    return (await held).json()["hookSpecificOutput"]["decision"]


async def test_what_is_held_is_allowed_refused_and_answered_from_the_board(tmp_path: Path):
    async with staged(tmp_path) as stage:
        await begin(stage)
        held = asyncio.create_task(stage.hook("PermissionRequest", **HELD))
        await stage.shows("! approve", "$ make clean")
        await stage.press("y")
        await stage.shows("Allow?", "$ make clean")
        await stage.press("enter")
        assert (await decided(held))["behavior"] == "allow"
        await stage.shows("→ answered", 'answered by admin (as "ann") via tui')
        await stage.hook("PostToolUse", **{key: HELD[key] for key in ("tool_name", "tool_input")})
        await stage.shows("● running", "Delivered: Claude Code is running it.")
        again: dict[str, Any] = {**HELD, "callboard": {"hold": "hold-2"}}
        held = asyncio.create_task(stage.hook("PermissionRequest", **again))
        await stage.shows("! approve")
        await stage.press("n")
        await stage.press(*"no")
        await stage.press("enter")
        refused = await decided(held)
        assert (refused["behavior"], refused["message"]) == ("deny", "no")
        await stage.shows("→ answered", "answered (denied: no), not")
        held = asyncio.create_task(stage.hook("PermissionRequest", **ASKED))
        await stage.shows("? asks", "2 Right")
        await stage.press("enter")
        await stage.shows("asks  a number")
        await stage.press("2")
        assert (await decided(held))["updatedInput"]["answers"] == {"Which?": "Right"}


async def test_the_first_answer_wins_and_the_second_is_told(tmp_path: Path):
    async with staged(tmp_path) as stage:
        await begin(stage)
        held = asyncio.create_task(stage.hook("PermissionRequest", **HELD))
        await stage.shows("! approve")
        await stage.press("y")
        async with stage.server.client() as client:
            first = {"value": False, "by": "bob"}
            assert (await client.post("/interactions/hold-1/answer", json=first)).is_success
        # By the stream, or by the server's refusal: whichever is first, the person is told.
        await stage.press("enter")
        await stage.shows("Already answered")
        assert (await decided(held))["behavior"] == "deny"


async def test_a_workflow_that_asks_stands_beside_the_agents(tmp_path: Path):
    async with staged(tmp_path) as stage:
        await begin(stage)
        async with stage.server.client() as client:
            begun = await client.post("/sessions", json={"workflowId": "trip", "input": "Rome"})
            session = begun.json()["sessionId"]
            await stage.shows("trip/plan", "Go to Rome?")
            await stage.press("g", "y", "enter")
            await stage.shows("Go to Rome?", "Answered: yes")
            await stage.until(lambda: len(stage.app.mirror.rows) == 1)
            async with asyncio.timeout(WITHIN):
                while (await client.get(f"/sessions/{session}")).json()["status"] != "completed":
                    await asyncio.sleep(0.05)
            answered = (await client.get("/interactions")).json()["interactions"][0]
            assert (answered["answeredBy"], answered["answeredAs"]) == ("admin", "ann")
            assert answered["via"] == "tui"


async def test_pinned_named_seen_and_dismissed_at_the_server(tmp_path: Path):
    async with staged(tmp_path) as stage:
        await begin(stage)
        await begin(stage, "docs")
        await stage.hook("Stop", "docs", last_assistant_message="done")
        await stage.shows("✓ done", "● running")
        await stage.press("j", "p")
        await stage.until(lambda: _row(stage, "shop").pinned)
        await stage.press("n", *"cart", "enter")
        await stage.shows("shop/cart")
        await stage.press("k")
        await stage.until(lambda: not _row(stage, "docs").unseen)
        await stage.press("d")
        await stage.until(lambda: len(stage.app.mirror.rows) == 1)
        async with stage.server.client() as client:
            (left,) = (await client.get("/plates")).json()["plates"]
        assert (left["name"], left["pinned"]) == ("cart", True)


def _row(stage: Stage, title: str) -> Any:
    return next(row for row in stage.app.mirror.rows if row.title.startswith(title))


async def test_a_server_that_is_killed_and_comes_back(tmp_path: Path):
    async with staged(tmp_path) as stage:
        await begin(stage)
        await stage.shows("● running")
        await stage.server.kill()
        await stage.shows("Stale since", "● running")
        await stage.server.restart()
        await stage.hook("Stop", last_assistant_message="meanwhile")
        await stage.shows("✓ done", "meanwhile")
        await stage.until(lambda: "Stale since" not in stage.text)


async def test_a_thousand_plates(tmp_path: Path):
    async with Callboard.open(tmp_path / "t.db") as board:
        prompt = plates.PROMPT_SUBMIT({"prompt": "go"})
        reports = [
            Report("claude", f"s{number}", (prompt,), project_path=f"/p/project-{number}")
            for number in range(1000)
        ]
        await asyncio.gather(*(board.plates.hear(report) for report in reports))
    async with staged(tmp_path) as stage:
        await stage.shows("1000 running")
        await stage.hook("StopFailure", "s500", error="rate_limit", cwd="/p/project-500")
        await stage.shows("1 needs you · 999 running", "rate_limit")
        await stage.press("G", "g", "pagedown")
        await stage.press("slash", *"project-777", "enter")
        await stage.until(lambda: len(stage.app._list._rows) == 1)
        assert "project-777" in stage.text


# ---------------------------------------------------------------------- in a real terminal


class Tmux:
    """A tmux of its own."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "tmux.sock")

    def __call__(self, *words: str) -> str:
        command = ["tmux", "-S", self._socket, "-f", "/dev/null", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    async def until(self, pane: str, claim: Callable[[str], object]) -> str:
        shown = ""
        try:
            async with asyncio.timeout(WITHIN):
                while not claim(shown := self("capture-pane", "-p", "-t", pane)):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(shown) from None
        return shown


@pytest.fixture
def tmux(tmp_path: Path) -> Any:
    assert shutil.which("tmux"), "tmux is not installed: make system"
    found = Tmux(tmp_path)
    yield found
    subprocess.run(["tmux", "-S", str(tmp_path / "tmux.sock"), "kill-server"], check=False)


def _board(tmp_path: Path, server: Server, **more: str) -> str:
    """The command line: what a shell would add to the environment, is said in it."""
    env = {
        "HOME": str(tmp_path),
        "PATH": f"{tmp_path / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "CALLBOARD_TOKEN": TOKEN,
        "CALLBOARD_SERVER": server.url,
        **more,
    }
    words = [f"{name}={value}" for name, value in env.items()]
    return shlex.join(["env", *words, "callboard", "board"])


async def test_in_tmux_it_goes_to_a_pane_and_resumes_a_session(tmp_path: Path, tmux: Tmux):
    claude = tmp_path / "bin" / "claude"
    claude.parent.mkdir()
    claude.write_text('#!/bin/sh\necho "CLIENT $* in $PWD"\nread answer\n', encoding="utf-8")
    claude.chmod(0o755)
    (tmp_path / "shop").mkdir()
    async with serving(tmp_path / "t.db", FLOWS) as server:
        board = _board(tmp_path, server)
        tmux("new-session", "-d", "-s", "s", "-x", "100", "-y", "30", board)
        tmux("new-window", "-d", "-t", "s:", "-n", "agent", "sleep 1000")
        pane = tmux("list-panes", "-t", "s:agent", "-F", "#{pane_id}").strip()
        async with server.client() as client:
            hook = {"session_id": "abc-1", "cwd": str(tmp_path / "shop")}
            where = {"callboard": {"tmux_pane": pane}}
            start = {"hook_event_name": "SessionStart", "source": "startup"}
            await client.post("/hooks/claude", json=hook | start | where)
            await tmux.until("s:0", lambda shown: "shop" in shown)
            tmux("send-keys", "-t", "s:0", "t")
            async with asyncio.timeout(WITHIN):
                while "agent" not in tmux("display-message", "-p", "-t", "s", "#{window_name}"):
                    await asyncio.sleep(0.05)
            end = {"hook_event_name": "SessionEnd", "reason": "other"}
            await client.post("/hooks/claude", json=hook | end)
        await tmux.until("s:0", lambda shown: "Press c to show closed sessions" in shown)
        tmux("send-keys", "-t", "s:0", "c")
        await tmux.until("s:0", lambda shown: "× closed" in shown)
        tmux("send-keys", "-t", "s:0", "r")
        shown = await tmux.until("s:0", lambda shown: "CLIENT" in shown)
        assert f"CLIENT --resume abc-1 in {tmp_path / 'shop'}" in shown.replace("\n", "")
        tmux("send-keys", "-t", "s:0", "Enter")
        await tmux.until("s:0", lambda shown: "× closed" in shown)
        tmux("send-keys", "-t", "s:0", "q")
        async with asyncio.timeout(WITHIN):
            while "callboard" in tmux("list-windows", "-t", "s", "-F", "#{pane_current_command}"):
                await asyncio.sleep(0.05)


async def test_it_calls_by_sound_and_on_the_desktop_when_it_was_told_to(tmp_path: Path, tmux: Tmux):
    (tmp_path / "bin").mkdir()
    for name in ("pw-play", "notify-send"):
        player = tmp_path / "bin" / name
        player.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/{name}.heard\n', encoding="utf-8")
        player.chmod(0o755)
    (tmp_path / "ping.wav").write_bytes(b"RIFF")
    liked = tmp_path / ".config" / "callboard" / "board.json"
    liked.parent.mkdir(parents=True)
    liked.write_text(f'{{"sound": "{tmp_path}/ping.wav", "desktop": true}}', encoding="utf-8")
    async with serving(tmp_path / "t.db", FLOWS) as server:
        board = _board(tmp_path, server, DISPLAY=":7")
        tmux("new-session", "-d", "-s", "s", "-x", "80", "-y", "24", board)
        await tmux.until("s:0", lambda shown: "No agents yet" in shown)
        async with server.client() as client:
            told = {"session_id": "s", "project_path": "/p/shop", "event_type": "stop"}
            await client.post("/events", json=told | {"error": "rate_limit\x1b[31m"})
        await tmux.until("s:0", lambda shown: "✗ error" in shown)
        heard = [tmp_path / "pw-play.heard", tmp_path / "notify-send.heard"]
        async with asyncio.timeout(WITHIN):
            while not all(one.exists() and one.read_text().endswith("\n") for one in heard):
                await asyncio.sleep(0.05)
        assert heard[0].read_text() == f"{tmp_path}/ping.wav\n"
        said = heard[1].read_text()
        assert "shop: error" in said
        assert "rate_limit\\x1b[31m" in said


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
async def test_it_ends_when_it_is_told_to(tmp_path: Path, tmux: Tmux, how: signal.Signals):
    async with serving(tmp_path / "t.db", FLOWS) as server:
        board = _board(tmp_path, server)
        tmux("new-session", "-d", "-s", "s", "-x", "80", "-y", "24", board)
        await tmux.until("s:0", lambda shown: "No agents yet" in shown)
        pid = int(tmux("list-panes", "-t", "s", "-F", "#{pane_pid}"))
        os.kill(pid, how)
        async with asyncio.timeout(WITHIN):
            while Path(f"/proc/{pid}").exists():
                await asyncio.sleep(0.05)
