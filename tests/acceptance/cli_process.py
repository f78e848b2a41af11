"""The `callboard` command as a process of its own, on a database of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pexpect
from tests.in_process import run_here

WORKFLOWS = '''
"""Workflows for the tests of the command line."""
import asyncio
import os
import time

from callboard import Approval, Choice, Phase, Retry, State, Text, Workflow


class Trip(State):
    city: str = ""
    plan: list[str] = []
    room: str = ""


def begin(state, given):
    state.city = given


def planner(state):
    print("the planner prints")
    return [f"see {state.city}", "eat"]


async def teller(state, ctx):
    await ctx.emit(Text("one night\\nfor two"))


def keep_plan(state, plan):
    state.plan = plan


def keep_room(state, output):
    state.room = output


def room(state, output):
    return Choice("Which room?", ["Single", "Double", "Suite"])


trip = Workflow(
    "trip",
    state=Trip,
    start=begin,
    phases=[
        Phase(
            "plan",
            agent=planner,
            update=keep_plan,
            human=Approval(lambda s: f"Go to {s.city}?\\n- " + "\\n- ".join(s.plan)),
            next=lambda s: "book" if s.approved else "plan",
            to=["book", "plan"],
        ),
        Phase("book", agent=teller, human=room, next="end"),
        Phase("end", terminal=True),
    ],
)


async def asker(state, ctx):
    sure, how = await asyncio.gather(ctx.ask("Sure?"), ctx.choose("How?", ["Fast", "Slow"]))
    return [sure, how]


both = Workflow("both", state=dict, phases=[Phase("ask", agent=asker, terminal=True)])


async def breaking(state):
    if not os.path.exists(os.environ["MENDED"]):
        raise ValueError("boom \\x1b[31m")
    return "mended"


broken = Workflow(
    "broken",
    state=dict,
    phases=[Phase("first", next="second"), Phase("second", agent=breaking, terminal=True)],
)


async def napping(state):
    print("napping", flush=True)
    await asyncio.sleep(float(os.environ.get("NAP", "60")))
    return "slept"


def blocking(state):
    print("blocking", flush=True)
    time.sleep(60)


async def hogging(state):
    print("hogging", flush=True)
    time.sleep(60)


hog = Workflow("hog", state=dict, phases=[Phase("hog", agent=hogging, terminal=True)])
nap = Workflow("nap", state=dict, phases=[Phase("nap", agent=napping, terminal=True)])
block = Workflow("block", state=dict, phases=[Phase("block", agent=blocking, terminal=True)])


async def flaky(state):
    raise ValueError("not yet")


patient = Workflow(
    "patient",
    state=dict,
    phases=[Phase("try", agent=flaky, retry=Retry(attempts=2, backoff=60), terminal=True)],
)
'''

SCRIPT = str(Path(sys.executable).with_name("callboard"))


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> list[Any]:
        """Its output, JSON line by line."""
        return [orjson.loads(line) for line in self.out.splitlines()]


class CallboardCommand:
    """Calls `callboard` in a folder that has `flows.py` and, in time, `t.db`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.children: list[Any] = []
        self.flows = folder / "flows.py"
        self.flows.write_text(WORKFLOWS, encoding="utf-8")
        self.env = {
            "PATH": f"{Path(SCRIPT).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder / "share"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "xterm-256color",
            "CALLBOARD_DB": "t.db",
            "LOGNAME": "ann",
            "MENDED": str(folder / "mended"),
            "PROMPT_TOOLKIT_NO_CPR": "1",
            **{name: os.environ[name] for name in os.environ if name.startswith("COVERAGE_")},
        }

    def __call__(self, *arguments: str, code: int = 0, **env: str) -> Done:
        """Run a command to its end, and check how it ended."""
        process = self.start(*arguments, **env)
        out, err = process.communicate(timeout=120)
        done = Done(process.returncode, out, err)
        assert done.code == code, done
        return done

    def here(self, *arguments: str, code: int = 0, **env: str) -> Done:
        """Run a command in this process, which is quicker, and check how it ended."""
        done = Done(*run_here(arguments, self.folder, {**self.env, **env}))
        for name in ("flows", "callboard_file_flows", "moved"):
            sys.modules.pop(name, None)
        assert done.code == code, done
        return done

    def start(self, *arguments: str, **env: str) -> "subprocess.Popen[str]":
        """Start a command, and let it run."""
        return subprocess.Popen(
            [SCRIPT, *arguments],
            cwd=self.folder,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def without_reader(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command whose output nobody reads."""
        reader, writer = os.pipe()
        os.close(reader)
        try:
            return subprocess.run(
                [SCRIPT, *arguments],
                cwd=self.folder,
                env=self.env,
                stdout=writer,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                timeout=120,
            )
        finally:
            os.close(writer)

    def terminal(self, *arguments: str, **env: str) -> Any:
        """Start a command in a terminal."""
        child = pexpect.spawn(
            SCRIPT,
            list(arguments),
            cwd=str(self.folder),
            env={**self.env, **env},
            encoding="utf-8",
            timeout=120,
            dimensions=(40, int(env.get("COLUMNS", "100"))),
        )
        self.children.append(child)
        return child

    def run(self, *arguments: str, code: int) -> str:
        """Run a workflow; returns its session's id."""
        return self.here("run", *arguments, "--json", code=code).json[0]["sessionId"]
