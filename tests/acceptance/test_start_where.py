"""`callboard start` with a server elsewhere: the agent starts here, or where the person said."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.relays import RelayProcess
from tests.servers import TOKEN, Server, serving

PROGRAM = "#!/bin/sh\nexec sleep 600\n"
WORDS = ("start", "claude", "--json")


@dataclass
class Machine:
    """A home of its own, which is another machine as far as a server can tell."""

    folder: Path

    @property
    def env(self) -> dict[str, str]:
        programs = self.folder / "bin"
        programs.mkdir(parents=True, exist_ok=True)
        (programs / "claude").write_text(PROGRAM, encoding="utf-8")
        (programs / "claude").chmod(0o755)
        data = {"XDG_DATA_HOME": str(self.folder), "HOME": str(self.folder)}
        return {**os.environ, **data, "PATH": f"{programs}:{os.environ['PATH']}"}

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command in a folder that only this machine has."""
        folder = self.folder / "shop"
        folder.mkdir(parents=True, exist_ok=True)
        return subprocess.run(
            [sys.executable, "-m", "callboard", *words],
            cwd=folder,
            env={**self.env, "CALLBOARD_TOKEN": TOKEN},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def started(self, server: Server, *words: str) -> dict[str, Any]:
        done = self.run(*WORDS, *words, "--server", server.url)
        assert done.returncode == 0, done.stderr
        plate: dict[str, Any] = json.loads(done.stdout)["plate"]
        stopped = self.run("stop", plate["plateId"], "--server", server.url)
        assert stopped.returncode == 0, stopped.stderr
        return plate


@pytest.fixture
def ours(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "ours")


@pytest.fixture
def theirs(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "theirs")


@asynccontextmanager
async def server_of(machine: Machine) -> AsyncGenerator[Server]:
    async with serving(machine.folder / "t.db", env=machine.env) as server:
        yield server


async def test_a_server_on_this_machine_starts_it_here(ours: Machine):
    async with server_of(ours) as server:
        plate = ours.started(server)
        assert plate["projectPath"] == str(ours.folder / "shop")


async def test_without_a_relay_the_machine_has_to_be_named(ours: Machine, theirs: Machine):
    async with server_of(theirs) as server:
        done = ours.run(*WORDS, "--server", server.url)
        assert done.returncode == 2
        assert "--host HOST --cwd DIR" in done.stderr
        assert "callboard pair" in done.stderr
        async with server.client() as client:
            assert (await client.get("/plates")).json()["plates"] == []
        unknown = ours.run(*WORDS, "--resume", "s1", "--server", server.url)
        assert "--host HOST --cwd DIR" in unknown.stderr
        (ours.folder / "callboard" / "relay").mkdir(parents=True)
        (ours.folder / "callboard" / "relay" / "relay.json").write_text("{}", encoding="utf-8")
        acp = ours.run("start", "acp", "--server", server.url, "--", "sleep", "600")
        assert f"doesn't report to {server.url}" in acp.stderr
        there = ours.run(*WORDS, "--host", os.uname().nodename, "--server", server.url)
        assert "Give --cwd with --host" in there.stderr


async def test_a_machine_with_a_relay_starts_it_here(ours: Machine, theirs: Machine):
    async with server_of(theirs) as server:
        relay = RelayProcess(ours.folder, "ada-mac", environment=ours.env)
        try:
            await relay.pair(server, "", "--allow", "start")
            plate = ours.started(server)
            assert plate["hostName"] == "ada-mac"
            assert plate["projectPath"] == str(ours.folder / "shop")
        finally:
            await relay.stop()


@pytest.mark.long
async def test_a_machine_that_does_not_allow_it_is_told_how(ours: Machine, theirs: Machine):
    async with server_of(theirs) as server:
        relay = RelayProcess(ours.folder, "ada-mac", environment=ours.env)
        try:
            await relay.pair(server)
            done = ours.run(*WORDS, "--server", server.url)
            assert "callboard relay --allow start" in done.stderr
        finally:
            await relay.stop()
