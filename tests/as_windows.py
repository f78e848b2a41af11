"""A Python that has only what it has on Windows, as far as Callboard could tell.

`python -m tests.as_windows work FOLDER` runs a workflow with a question on SQLite, answers it
through a server, and prints what happened; `imports` lists the modules that can't be imported, and
`commands` says what some commands say. Libraries are imported first: they are not what is tested.
"""

import asyncio
import ctypes
import errno
import fcntl
import importlib
import os
import pkgutil
import select
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import types
from contextlib import suppress
from functools import partial
from pathlib import Path

import click
import fastapi
import httpx
import orjson
import prometheus_client
import psutil
import pydantic
import questionary
import rich.console

LIBRARIES = (asyncio, select, sqlite3, ssl, subprocess, tempfile, click, fastapi, httpx, orjson)
MORE = (prometheus_client, psutil, pydantic, questionary, rich.console)
for _name in (
    *("platformdirs.unix", "uvicorn.lifespan.on", "uvicorn.loops.auto"),
    "uvicorn.protocols.http.auto",
):
    importlib.import_module(_name)

MODULES = ("fcntl", "posix", "termios", "resource", "pty", "tty", "pwd", "grp", "uvloop")
OF_OS = (
    *("register_at_fork", "fork", "uname", "geteuid", "getuid", "fchmod", "killpg", "setsid"),
    *("O_NOFOLLOW", "O_CLOEXEC", "O_DIRECTORY", "O_NONBLOCK", "pread", "pwrite", "openpty"),
    *("WNOHANG", "WUNTRACED", "WCONTINUED", "posix_spawnp", "getpgid", "mkfifo"),
)
SIGNALS = ("SIGINT", "SIGTERM", "SIGABRT", "SIGFPE", "SIGILL", "SIGSEGV")


def hide() -> None:
    """Take away what Windows doesn't have, and refuse what it refuses."""
    sys.modules["msvcrt"] = _byte_locks(fcntl)
    for name in MODULES:
        sys.modules[name] = None  # pyright: ignore[reportArgumentType] - not importable
    for name in OF_OS:
        delattr(os, name)
    for name in dir(signal):
        if name in ("pthread_sigmask", "sigwait", "sigwaitinfo", "setitimer") or (
            name.startswith("SIG") and name[3:4].isalpha() and name not in SIGNALS
        ):
            delattr(signal, name)
    kept = {name: int(getattr(signal, name)) for name in SIGNALS}
    signal.Signals = __import__("enum").IntEnum("Signals", kept)  # pyright: ignore
    # The event loop of this system needs it, as that of Windows doesn't.
    socket.socketpair = partial(socket.socketpair, socket.AF_UNIX)
    del socket.AF_UNIX
    os.environ["USERNAME"] = "ada"  # There, it is always set.
    ctypes.CDLL = _NoLibrary  # pyright: ignore
    _refuse()
    sys.platform = "win32"


class _NoLibrary:
    def __init__(self, name: object, *given: object) -> None:
        raise TypeError("argument of type 'NoneType' is not iterable")


def _byte_locks(locks: types.ModuleType) -> types.ModuleType:
    """A `msvcrt` with real locks, each on one byte of a file."""
    made = types.ModuleType("msvcrt")
    made.LK_UNLCK, made.LK_NBLCK = 0, 2  # pyright: ignore[reportAttributeAccessIssue]

    def locking(opened: int, mode: int, count: int) -> None:
        assert count == 1
        assert os.lseek(opened, 0, os.SEEK_CUR) > 1_000_000, "others could not read the file"
        locks.flock(opened, locks.LOCK_UN if mode == 0 else locks.LOCK_EX | locks.LOCK_NB)

    made.locking = locking  # pyright: ignore[reportAttributeAccessIssue]
    return made


def _refuse() -> None:
    really_open, really_rename, really_unlink = os.open, os.rename, os.unlink

    def check_closed(path) -> None:
        for one in Path("/proc/self/fd").iterdir():
            is_it = False
            with suppress(OSError):
                is_it = one.readlink() == Path(path).resolve()
            if is_it:
                raise PermissionError(errno.EACCES, "it is open", path)

    def opened(path, flags, mode=0o777, *, dir_fd=None):
        assert dir_fd is None, "no folder can be open"
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "it is a folder", path)
        return really_open(path, flags, mode)

    def rename(source, target, **given):
        assert not given
        if Path(target).exists():
            raise FileExistsError(errno.EEXIST, "it exists", target)
        check_closed(source)
        really_rename(source, target)

    def unlink(path, *, dir_fd=None):
        assert dir_fd is None
        if Path(path).exists():
            check_closed(path)
        really_unlink(path)

    os.open, os.rename, os.unlink = opened, rename, unlink  # pyright: ignore


def import_all() -> list[str]:
    """The modules that can't be imported."""
    import callboard

    failed: list[str] = []
    for found in pkgutil.walk_packages(callboard.__path__, "callboard."):
        try:
            importlib.import_module(found.name)
        except (ImportError, AttributeError):
            failed.append(found.name.removeprefix("callboard."))
    return failed


async def work(folder: Path) -> None:
    """A workflow that asks, a server that shows the question, an answer, and the end."""
    from tests.server_flows import trip

    from callboard.app import Callboard
    from callboard.client.client import Client
    from callboard.server.running import bind, here, serve
    from callboard.server.settings import ServerSettings
    from callboard.server.wiring import prepare

    database = folder / "callboard.db"
    settings, stopping = ServerSettings(port=0), asyncio.Event()
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with Callboard.open(database, [trip]) as board:
        app, service = prepare(board, settings, database)
        with bind(settings) as listening:
            url = here(listening).url
            serving = asyncio.create_task(
                serve(app, service, listening, lambda address: ready.set_result(url), stopping)
            )
            serving.add_done_callback(lambda done: ready.done() or ready.cancel())
            async with (
                asyncio.timeout(120),
                Client(await ready, token=service.tokens.admin()) as client,
            ):
                started = await client.start("trip", "Porto")
                while not (asked := await client.inbox()):
                    await asyncio.sleep(0.01)
                await client.answer(asked[0].id, True)
                while (shown := await client.session(started)).status != "completed":
                    await asyncio.sleep(0.01)
                print("status:", shown.status)
            stopping.set()
            await serving


def say() -> None:
    """What commands say that don't work there."""
    from callboard.cli.main import run_command

    sys.stderr = sys.stdout
    for command in ("attend", "watch", "hooks"):
        run_command([command, "--anything"])


if __name__ == "__main__":
    hide()
    match sys.argv[1]:
        case "imports":
            print(*import_all())
        case "commands":
            say()
        case _:
            asyncio.run(work(Path(sys.argv[2])))
