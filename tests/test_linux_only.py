"""Calls that only Linux has are found, and only those.

That our own code has none of them outside of its modules for Linux is what `make check` shows.
"""

import pytest
from tools import linux_only


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import os\nos.pidfd_open(1)\n", "pidfd_open"),
        ("from os import sched_getaffinity\n", "sched_getaffinity"),
        ("import select\nselect.epoll()\n", "epoll"),
        ("import os\nos.memfd_create('x')\n", "memfd_create"),
        ("import socket\nsocket.SO_PEERCRED\n", "SO_PEERCRED"),
        ("libc.inotify_init1(0)\n", "inotify_init1"),
        ("libc.prctl(1)\n", "prctl"),
        ("open('/proc/self/stat')\n", "/proc/"),
        ("path = f'/proc/{pid}/fd'\n", "/proc/"),
        ("path = b'/proc'\n", "/proc"),
        ("sock.bind('\\0callboard')\n", "an abstract socket"),
        ("sock.connect(f'\\0{name}')\n", "an abstract socket"),
        ("import os\nos.fsync(1)\n", "fsync"),
        ("import signal\nsignal.sigwaitinfo([1])\n", "sigwaitinfo"),
    ],
)
def test_what_only_linux_has_is_found(text: str, found: str):
    assert [one.name for one in linux_only.findings("board/x.py", text)] == [found]


@pytest.mark.parametrize(
    "text",
    [
        '"""Reads nothing from /proc/self."""\n',
        "# not os.pidfd_open\n",
        "path = '/processes/proc/x'\n",
        "sock.bind(('127.0.0.1', 0))\n",
        "wait = getattr(signal, 'sigwaitinfo', None)\n",
    ],
)
def test_nothing_else_is_found(text: str):
    assert linux_only.findings("board/x.py", text) == []


def test_plugins_are_read_as_well():
    assert linux_only.findings("vendors/x/plugin.js", 'readFileSync("/proc/self/stat")\n')


def test_an_exception_is_for_one_thing_and_is_still_needed():
    for where, (mark, reason) in linux_only.ALLOWED.items():
        assert len(reason.split()) >= 3
        text = (linux_only.SOURCE / where).read_text(encoding="utf-8")
        assert mark in text, f"{where} no longer needs it"
    other = "import os\nos.pidfd_open(1)\n"
    assert linux_only.findings("courier/processes.py", other)
    assert linux_only.findings("systems/linux.py", other) == []
