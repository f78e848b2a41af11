"""Coding agents are started and resumed from the board."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from playwright.async_api import Browser, expect
from tests.browser.looks import faults, sideways
from tests.browser.people import at_a_browser
from tests.browser.transcripts import Transcript, put_on_board
from tests.servers import serving


def script_client(folder: Path) -> str:
    """A client that only runs; returns the PATH that has it first."""
    folder.mkdir()
    program = folder / "claude"
    program.write_text(
        f'#!/bin/sh\necho "$PWD $*" >> {folder}/started\necho $$ >> {folder}/pids\nexec sleep 600\n'
    )
    program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@asynccontextmanager
async def stopping(folder: Path) -> AsyncGenerator[None]:
    """End what was started in a folder: it would outlive its server."""
    try:
        yield
    finally:
        for pid in (int(one) for one in (folder / "bin" / "pids").read_text().split()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


async def test_an_agent_is_started_and_one_is_resumed(browser: Browser, tmp_path: Path):
    home = tmp_path / "claude"
    path = script_client(tmp_path / "bin")
    env = {"CLAUDE_CONFIG_DIR": str(home), "HOME": str(tmp_path), "PATH": path}
    async with (
        stopping(tmp_path),
        serving(tmp_path / "x.db", env=env) as server,
        at_a_browser(browser, server, bypass_csp=True) as person,
        server.client() as http,
    ):
        ended = Transcript(home)
        ended.prompt("Begin")
        plate = await put_on_board(server, ended, cwd=str(tmp_path))
        over = {"session_id": ended.session, "cwd": str(tmp_path), "hook_event_name": "SessionEnd"}
        await http.post("/hooks/claude", json=over)
        await person.visit("board")
        await person.button("Start an agent").click()
        dialog = person.page.get_by_role("dialog", name="Start an agent")
        await dialog.get_by_label("Folder").fill("no/such/folder")
        await dialog.get_by_role("button", name="Start", exact=True).click()
        await expect(dialog.get_by_role("alert")).to_contain_text("is not an absolute path")
        assert await faults(person.page) == []
        await dialog.get_by_label("Folder").fill(str(tmp_path))
        await dialog.get_by_label("Prompt").fill("Look around")
        await dialog.get_by_role("button", name="Start", exact=True).click()
        await person.page.wait_for_url("**/board/p*")

        await person.visit(f"board/{plate}")
        await person.sees("The session has ended.")
        await person.page.set_viewport_size({"width": 390, "height": 844})
        assert await sideways(person.page) <= 0
        await person.page.get_by_label("Message to Claude Code").fill("Go on")
        await person.button("Resume session").click()
        await expect(person.page.get_by_label("Message to Claude Code")).to_have_value("")
        await expect(person.button("Resume session")).to_have_count(0)
    words = (tmp_path / "bin" / "started").read_text().splitlines()
    assert words[0] == f"{tmp_path} -- Look around"
    assert words[1] == f"{tmp_path} --resume {ended.session} -- Go on"
