"""A Python that believes to run on a Mac: `python -m tests.as_mac FOLDER`.

/proc is hidden from everything but the stand-in for the Mac's C library. It runs a workflow, a
server and its client, and prints what happened, and which modules of `systems` were used.

`python -m tests.as_mac --run SCRIPT …` runs a script there instead, such as a hook or a relay.
"""

import asyncio
import errno
import fcntl
import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any

from tests.as_windows import work
from tests.darwin import FakeCalls, FakeQueues

F_FULLFSYNC = 51
_seeing: list[object] = []


class Seeing(FakeCalls):
    """What the kernel of a Mac sees without /proc, our stand-in sees with it."""

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        if not callable(found):
            return found

        def call(*given: Any) -> Any:
            _seeing.append(None)
            try:
                return found(*given)
            finally:
                _seeing.pop()

        return call


def _hide_proc(event: str, given: tuple[Any, ...]) -> None:
    if event not in ("open", "os.listdir", "os.scandir") or _seeing or not given:
        return
    path = os.fsdecode(given[0]) if isinstance(given[0], str | bytes | os.PathLike) else ""
    if path == "/proc" or path.startswith("/proc/"):
        raise FileNotFoundError(errno.ENOENT, "there is no /proc", path)


def become() -> None:
    """From here on, it is a Mac."""
    sys.platform = "darwin"
    fcntl.F_FULLFSYNC = F_FULLFSYNC  # pyright: ignore[reportAttributeAccessIssue]
    from callboard.systems import macos, open_files
    from callboard.systems.libproc import Libproc

    found = Libproc(Seeing())
    macos.libproc = lambda: found
    macos._queues = FakeQueues
    open_files._OPEN = Path("/no/proc/self/fd")  # pyright: ignore[reportConstantRedefinition]
    sys.addaudithook(_hide_proc)


def run(script: str, arguments: list[str]) -> None:
    """Run a script as Python itself does."""
    for module, name in ((signal, "sigwaitinfo"), (os, "pidfd_open")):
        if hasattr(module, name):
            delattr(module, name)
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    become()
    if sys.argv[1] == "--run":
        run(sys.argv[2], sys.argv[3:])
        sys.exit()
    from callboard.systems.current import system

    asyncio.run(work(Path(sys.argv[1])))
    loaded = sorted(one.rpartition(".")[2] for one in sys.modules if "callboard.systems." in one)
    print(system.__name__.rpartition(".")[2], "linux" in loaded)
