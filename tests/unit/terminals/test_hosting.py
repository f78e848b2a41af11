"""A program in a terminal of ours: people attach to it, leave it, and are cut off."""

import itertools
import json
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import psutil
import pytest
from tests.terminals import OwnTerminals, is_gone, until

from callboard.terminals import host_process
from callboard.terminals.frames import LARGEST, framed, worded
from callboard.terminals.hosting import TerminalHost
from callboard.terminals.link import screen_of, stop, type_into
from callboard.terminals.records import OwnTerminal
from callboard.vendors.client_programs import without_secrets

LEAVE = "\x1c"
NOBODY = 65534


@pytest.fixture
def terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnTerminals]:
    made = OwnTerminals.made_in(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(made.folder))
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(made.folder)


def say(own: OwnTerminal, text: str) -> None:
    assert type_into(own, f"say {text}\n")


def rows_of(own: OwnTerminal) -> int:
    found = screen_of(own)
    return 0 if found is None else len(found.lines)


def test_people_attach_and_leave_as_often_as_they_like(terminals: OwnTerminals):
    own = terminals.start()
    for number in range(5):
        person = terminals.attach(own)
        person.expect_exact("ready")
        person.send(f"say <{number}>\n")
        person.expect_exact(f"<{number}>")
        person.send(LEAVE)
        person.expect_exact("how: left 0.")
    host = psutil.Process(own.host_pid)
    until(lambda: len(host.net_connections("unix")) == 1, "only the socket that listens")
    assert host.num_fds() < 15
    assert host.memory_info().rss < 20 * 1024 * 1024


def test_one_terminal_at_a_time_unless_it_is_taken_over(terminals: OwnTerminals):
    own = terminals.start()
    first = terminals.attach(own)
    first.expect_exact("ready")
    second = terminals.attach(own)
    second.expect_exact("how: attached 0.")
    first.send("say still here\n")
    first.expect_exact("still here")
    third = terminals.attach(own, "--take")
    third.expect_exact("still here")
    first.expect_exact("how: taken 0.")
    third.send("exit 3\n")
    third.expect_exact("how: ended 3.")
    until(lambda: terminals.records == [], "the end of the process that kept it")


def test_the_program_has_the_size_of_the_persons_terminal(terminals: OwnTerminals):
    own = terminals.start()
    person = terminals.attach(own, rows=30, columns=100)
    person.expect_exact("ready")
    person.send("size\n")
    person.expect_exact("30x100")
    person.setwinsize(40, 120)
    until(lambda: rows_of(own) == 40, "the new size")
    person.send("size\n")
    person.expect_exact("40x120")
    for rows, columns in ((1, 1), (2, 2), (1, 500), (1000, 1000)):
        person.setwinsize(rows, columns)
        person.send("say \\u6f22\\u5b57e\\u0301\\n\n")
    person.setwinsize(24, 80)
    until(lambda: rows_of(own) == 24, "the last size")
    person.send("say \\x1b[2J\\x1b[Hafter all\n")
    person.expect_exact("after all")


def test_whoever_attaches_later_sees_the_same(terminals: OwnTerminals):
    own = terminals.start()
    say(own, r"\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[2J\x1b[3;5H\x1b[31m\u6f22\u5b57!\x1b[0m")
    terminals.shows(own, "漢字!")
    person = terminals.attach(own)
    person.expect_exact("\x1b[?1049h")
    person.expect_exact("漢字!".encode())
    person.expect_exact("\x1b[?2004h")
    person.expect_exact("\x1b[?25l")
    person.send(LEAVE)
    # Everything is undone, the second screen before anything is written on the first.
    person.expect_exact("\x1b[?1049l")
    person.expect_exact("\x1b[?2004l")
    person.expect_exact("\x1b[?25h")
    person.expect_exact("how: left 0.")


def test_the_persons_terminal_is_as_before(terminals: OwnTerminals):
    own = terminals.start()
    person = terminals.attach(own)
    before = termios.tcgetattr(person.child_fd)
    person.expect_exact("ready")
    raw = termios.tcgetattr(person.child_fd)
    assert raw[3] & (termios.ICANON | termios.ECHO | termios.ISIG) == 0
    assert type_into(own, "exit 0\n")
    person.expect_exact("how: ended 0.")
    assert termios.tcgetattr(person.child_fd) == before


def test_a_terminal_that_is_killed_leaves_the_program_alone(terminals: OwnTerminals):
    own = terminals.start()
    for _ in range(3):
        person = terminals.attach(own)
        person.expect_exact("ready")
        os.kill(person.pid, signal.SIGKILL)
    person = terminals.attach(own)
    person.expect_exact("ready")
    assert not is_gone(own.pid)


def test_a_person_whose_terminal_does_not_read_delays_no_one(terminals: OwnTerminals):
    own = terminals.start()
    person = terminals.attach(own)
    person.expect_exact("ready")
    os.kill(person.pid, signal.SIGSTOP)
    person.send("flood 20000\n")
    assert type_into(own, "flood 20000\n")
    terminals.shows(own, "flooded")
    assert psutil.Process(own.host_pid).memory_info().rss < 30 * 1024 * 1024
    os.kill(person.pid, signal.SIGCONT)
    assert type_into(own, "say all of it\n")
    person.expect_exact("all of it")


def test_a_program_that_wants_to_stay_is_killed(terminals: OwnTerminals):
    own = terminals.start()
    assert type_into(own, "run import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n")
    say(own, "deaf")
    terminals.shows(own, "deaf")
    assert stop(own)
    until(lambda: is_gone(own.pid), "its end")
    until(lambda: terminals.records == [], "the end of the process that kept it")


def test_a_program_does_not_outlive_the_process_that_kept_it(terminals: OwnTerminals):
    own = terminals.start()
    person = terminals.attach(own)
    person.expect_exact("ready")
    os.kill(own.host_pid, signal.SIGKILL)
    person.expect_exact("how: lost 0.")
    until(lambda: is_gone(own.pid), "the end of the program")
    assert terminals.records == []
    assert list((terminals.folder / "callboard" / "terminals").iterdir()) == []


def test_a_program_that_no_one_waits_for_anymore_does_not_run(terminals: OwnTerminals):
    """Who started it was told that it didn't start, and may start it again."""
    ran = terminals.folder / "ran"
    words = ["/bin/sh", "-c", f"touch {ran}; sleep 600"]
    given = {"terminals": str(terminals.folder / "t"), "id": "late", "agent": "claude"}
    told = json.dumps({**given, "folder": str(terminals.folder), "words": words}).encode()
    alive, held = os.pipe()  # Open as long as any of its processes runs.
    with subprocess.Popen(
        [sys.executable, "-I", "-S", host_process.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        pass_fds=[held],
    ) as process:
        os.close(held)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(told)
    ended, _, _ = select.select([alive], [], [], 10)
    os.close(alive)
    assert ended
    assert not ran.exists()
    assert not [*(terminals.folder / "t").iterdir()]


WITHOUT_PTYS = """
import json, os, sys
from callboard.terminals import starting_job
def none_left():
    raise OSError("out of pty devices")
os.openpty = none_left
try:
    starting_job.keep(json.loads(sys.argv[1]), print)
except OSError as error:
    print(error)
"""


def test_a_program_that_gets_no_terminal_leaves_nothing(terminals: OwnTerminals):
    folder = terminals.folder / "t"
    given = {"terminals": str(folder), "id": "none", "agent": "claude", "words": ["/bin/true"]}
    told = json.dumps({**given, "folder": str(terminals.folder)})
    words = [sys.executable, "-c", WITHOUT_PTYS, told]
    assert b"out of pty devices" in subprocess.run(words, check=True, capture_output=True).stdout
    assert list(folder.iterdir()) == []


class Talking:
    """A job that has ended; what it started prints for ever."""

    status = 0
    terminal = -1
    reads = 0

    def read(self) -> bytes:
        self.reads += 1
        assert self.reads < 1000, "it is read for ever"
        return b"more"


def test_what_a_program_left_behind_does_not_keep_its_terminal(monkeypatch: pytest.MonkeyPatch):
    seconds = itertools.count()
    monkeypatch.setattr("callboard.terminals.hosting.time.monotonic", lambda: next(seconds) / 100)
    with socket.socket(socket.AF_UNIX) as listener:
        assert TerminalHost(cast("Any", Talking()), listener, -1, lambda _: False).run() == 0


def test_a_program_that_is_suspended_runs_on(terminals: OwnTerminals):
    own = terminals.start()
    os.kill(own.pid, signal.SIGSTOP)
    say(own, "and on")
    terminals.shows(own, "and on")


@pytest.mark.parametrize(
    "sent",
    [
        b"\xff" * 4096,
        b"w\xff\xff\xff\xff",
        framed(b"w", b"{" * LARGEST),
        worded({"do": "attach", "rows": "many", "columns": None}),
        worded({"do": "attach", "rows": 24, "columns": 10**9}),
        worded({"do": "resize", "rows": 10**9, "columns": 10**9}),
        worded({"do": "type", "text": 5}),
        worded({"do": "type", "text": "x", "serial": "1"}),
        worded({"do": ["stop"]}),
        worded({}),
        framed(b"i", b"typed by no one\n"),
        framed(b"?", b"unknown"),
    ],
    ids=range(12),
)
def test_whatever_is_sent_the_terminal_stays(terminals: OwnTerminals, sent: bytes):
    own = terminals.start()
    with socket.socket(socket.AF_UNIX) as connected:
        connected.settimeout(1)
        connected.connect(own.socket)
        connected.sendall(sent)
        with suppress(TimeoutError, ConnectionError):
            connected.recv(65_536)
    say(own, "still here")
    assert all("typed by no one" not in line for line in terminals.shows(own, "still here"))


def test_a_program_that_asks_and_never_reads_takes_no_memory(terminals: OwnTerminals):
    """Of a terminal, what it is: each question is a few bytes, and so is the answer."""
    asks = "import os, tty\ntty.setraw(0)\nwhile True: os.write(1, b'\\x1b[c' * 1000)"
    own = terminals.start(asks)
    host = psutil.Process(own.host_pid)
    until(lambda: host.cpu_times().user > 0.5, "some work")
    before = host.memory_info().rss
    until(lambda: host.cpu_times().user > 2.5, "more work")
    assert host.memory_info().rss - before < 1_000_000


def connected_to(own: OwnTerminal, *requests: dict[str, Any]) -> socket.socket:
    connected = socket.socket(socket.AF_UNIX)
    connected.settimeout(2)
    connected.connect(own.socket)
    connected.sendall(b"".join(map(worded, requests)))
    return connected


def test_a_program_that_asks_and_reads_no_replies_is_cut_off(terminals: OwnTerminals):
    own = terminals.start()
    # Its program writes a full screen of the largest size.
    attach = {"do": "attach", "rows": 500, "columns": 500}
    with connected_to(own, attach):
        until(lambda: rows_of(own) == 500, "the size")
    assert type_into(own, "run print('x' * 250_000 + 'the end', flush=True)\n")
    terminals.shows(own, "the end")
    heard = 0
    with connected_to(own, *[{"do": "screen"}] * 100) as greedy, suppress(ConnectionError):
        while data := greedy.recv(1_048_576):
            heard += len(data)
    assert heard < 5_000_000
    say(own, "\\x1b[2Jstill here")
    terminals.shows(own, "still here")


def test_a_person_is_not_cut_off_for_what_is_unread(terminals: OwnTerminals):
    own = terminals.start()
    attach = {"do": "attach", "rows": 500, "columns": 500}
    with connected_to(own, attach) as person:
        until(lambda: rows_of(own) == 500, "the size")
        assert type_into(own, "run print('x' * 250_000 + 'the end', flush=True)\n")
        terminals.shows(own, "the end")
        person.sendall(worded({"do": "screen"}) * 100)
        person.sendall(framed(b"i", b"say \\x1b[2Jstill here\n"))
        heard = b""
        while b"still here" not in heard:
            data = person.recv(1_048_576)
            assert data, "the connection is closed"
            heard += data
    assert len(heard) < 10_000_000


def test_many_connections_are_not_taken(terminals: OwnTerminals):
    own = terminals.start()
    taken = [socket.socket(socket.AF_UNIX) for _ in range(60)]
    for one in taken:
        one.settimeout(1)
        with suppress(BlockingIOError):
            one.connect(own.socket)
    assert psutil.Process(own.host_pid).num_fds() < 60
    for one in taken:
        one.close()
    until(lambda: type_into(own, "say still here\n"), "a connection for programs")
    terminals.shows(own, "still here")


# ---------------------------------------------------------------------- who may


def test_only_its_user_can_reach_it(terminals: OwnTerminals):
    own = terminals.start()
    folder = Path(own.socket).parent
    for path, mode in ((folder, 0o700), (Path(own.socket), 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert stat.S_IMODE((folder / f"{own.id}.json").stat().st_mode) == 0o600
    if os.geteuid() != 0:
        return
    code = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    done = subprocess.run(
        ["/usr/bin/python3", "-c", code, own.socket],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert "PermissionError" in done.stderr


TRIES = (
    "from callboard.terminals.link import *; from callboard.terminals.records import *; "
    "own = own_terminals()[int(sys.argv[1])]; "
    "told = type_into(own, 'say by itself\\n'), stop(own); "
    "shown = screen_of(own); open(sys.argv[2], 'w').write(f'{told} {shown is not None}')"
)


@pytest.mark.parametrize("number", [0, 1], ids=["the first", "the second"])
def test_an_agent_cannot_type_into_a_terminal_of_ours(terminals: OwnTerminals, number: int):
    """It would answer its own dialogs, or those of another."""
    owns = sorted([terminals.start(), terminals.start()], key=lambda one: one.id)
    told = terminals.folder / "told"
    script = terminals.folder / "script.py"
    words = [sys.executable, "-c", f"import sys; {TRIES}", str(number), str(told)]
    script.write_text(f"import subprocess\nsubprocess.run({words!r})\n", encoding="utf-8")
    assert type_into(owns[0], f"run exec(open({str(script)!r}).read())\n")
    text = until(lambda: told.exists() and told.read_text(), "what it was told")
    assert text == "(False, False) False"
    say(owns[number], "still here")
    lines = terminals.shows(owns[number], "still here")
    assert all("by itself" not in line for line in lines)


def test_an_agent_gets_no_secrets_of_the_server(terminals: OwnTerminals):
    secrets = {
        "CALLBOARD_TOKEN": "cb_hidden",
        "CALLBOARD_DB": "postgresql://ann:hidden@db/x",
        "CALLBOARD_NOTIFY": "ntfys://hidden@ntfy.example/x",
        "NOTIFY_SOCKET": "/run/hidden",
        "LISTEN_FDS": "1",
        "PGPASSWORD": "hidden",
    }
    own = terminals.start(env=without_secrets({**os.environ, **secrets, "EDITOR": "ed"}))
    told = Path(f"/proc/{own.pid}/environ").read_text("utf-8").split("\0")
    entries = {name: value for name, _, value in (entry.partition("=") for entry in told)}
    assert secrets.keys() & entries.keys() == set()
    assert entries["EDITOR"] == "ed"
    host = Path(f"/proc/{own.host_pid}/environ").read_text("utf-8")
    assert "hidden" not in host
