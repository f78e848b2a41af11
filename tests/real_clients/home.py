"""A home folder for a coding agent, with nothing in it but what the test put there."""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.in_process import run_here

ROOT = Path(__file__).parent.parent.parent
CLIENTS = ROOT / ".clients"
PROGRAMS = CLIENTS / "node_modules" / ".bin"
CALLBOARD = str(Path(sys.executable).with_name("callboard"))
LONGEST_RUN = 240


@dataclass(frozen=True)
class Done:
    """What a program left behind."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Home:
    """`folder` is the home, `project` a folder in it that agents work in."""

    folder: Path
    project: Path
    database: Path

    @classmethod
    def made_in(cls, folder: Path) -> "Home":
        home = cls(folder / "home", folder / "home" / "project", folder / "board" / "callboard.db")
        home.project.mkdir(parents=True)
        home.database.parent.mkdir(mode=0o700)
        return home

    @property
    def env(self) -> dict[str, str]:
        """All that a program here finds in its environment."""
        tools = Path(sys.executable).parent
        return {
            "PATH": f"{PROGRAMS}:{tools}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.folder),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "CALLBOARD_DB": str(self.database),
            **{name: os.environ[name] for name in os.environ if name.startswith("COVERAGE_")},
        }

    async def run(self, *command: str, env: Mapping[str, str] | None = None) -> Done:
        """Run a program to its end, in the project, with nobody at the keyboard."""
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.project,
            env={**self.env, **(env or {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(LONGEST_RUN):
                out, err = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode is not None
        return Done(process.returncode, out.decode(), err.decode())

    async def install_hooks(self, agent: str, *options: str) -> None:
        """Our hooks, for one agent, as a person would install them."""
        words = ("hooks", "install", f"--agent={agent}", *options)
        done = Done(*await asyncio.to_thread(run_here, words, self.project, self.env))
        assert done.code == 0, done


def installed(name: str) -> str:
    """The path of a client; a test that needs one that is missing fails, and is never skipped."""
    program = PROGRAMS / name
    assert program.exists(), f"{name} is not installed: make clients"
    return str(program)
