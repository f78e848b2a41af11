"""The shell line that drops a hook into the spool: in hostile circumstances, and never heard."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard.board.hook_folders import full_marker, make_folders, spool_folder
from callboard.board.spool.files import Spool
from callboard.errors import ValidationError
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.settings.commands import spool_command

SHELLS = [
    words
    for words in (["sh"], ["bash"], ["bash", "--posix"], ["dash"], ["zsh"], ["busybox", "sh"])
    if shutil.which(words[0])
]
PAYLOAD = b'{"session_id": "s1"}'


def test_no_shell_is_left_out():
    """macOS has no busybox; everything else comes with it, or with `make system`."""
    names = {words[0] for words in SHELLS}
    assert names >= {"sh", "bash", "dash", "zsh"}
    assert "busybox" in names or sys.platform == "darwin"


@pytest.fixture(params=SHELLS, ids=" ".join)
def shell(request: pytest.FixtureRequest) -> list[str]:
    words: list[str] = request.param
    return [str(shutil.which(words[0])), *words[1:]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / 'it\'s a "$folder" {0}\n.hooks'
    make_folders(folder)
    return folder


def run(shell: list[str], folder: Path, payload: bytes = PAYLOAD, **more: Any) -> None:
    """Run the line to its end; all of its input is taken, it prints nothing, and it succeeds."""
    more.setdefault("env", {"PATH": os.environ["PATH"], "CLAUDE_PID": "4711"})
    agent = more.pop("agent", "claude")
    process = subprocess.Popen(
        [*shell, "-c", f"{spool_command(folder, agent)} # callboard"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )
    assert process.stdin is not None
    process.stdin.write(payload)  # Raises when nobody reads it.
    process.stdin.close()
    process.stdin = None
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, b"", b"")


def taken(folder: Path) -> list[tuple[str, int | None, bytes]]:
    reader = Spool(folder, FakeClock())
    found = [(one.hook.agent, one.hook.pid, one.hook.body) for one in reader.take(1000)]
    reader.close()
    return found


def test_the_payload_is_dropped_as_it_is(shell: list[str], folder: Path):
    payload = PAYLOAD + b"\x00\xff\r\n" * 100_000
    run(shell, folder, payload)
    (file,) = spool_folder(folder).iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert taken(folder) == [("claude", 4711, payload)]


@pytest.mark.parametrize("told", ["", "../../etc", "1 2", "x", "$(touch pwned)"])
def test_a_process_that_makes_no_sense_is_not_believed(shell: list[str], folder: Path, told: str):
    run(shell, folder, env={"PATH": os.environ["PATH"], "CLAUDE_PID": told})
    assert taken(folder) == [("claude", os.getpid(), PAYLOAD)]


def test_other_agents_are_known_by_who_started_the_shell(shell: list[str], folder: Path):
    run(shell, folder, agent="codex")
    assert taken(folder) == [("codex", os.getpid(), PAYLOAD)]


def test_a_full_spool_gets_no_more(shell: list[str], folder: Path):
    full_marker(folder).touch()
    run(shell, folder, PAYLOAD * 100_000)
    assert [one.name for one in spool_folder(folder).iterdir()] == [".full"]


def remove(folder: Path) -> None:
    shutil.rmtree(folder)


def file_instead(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("in the way")


@pytest.mark.parametrize("harm", [remove, file_instead])
def test_a_spool_that_is_not_there_is_no_matter(
    shell: list[str], folder: Path, harm: Callable[[Path], None]
):
    harm(folder)
    run(shell, folder, PAYLOAD * 100_000)


def as_somebody_else() -> None:
    """Root may write everywhere: only somebody else meets a folder that may not be written."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def test_a_spool_that_may_not_be_written_is_no_matter(shell: list[str], folder: Path):
    spool_folder(folder).chmod(0o500)
    run(shell, folder, PAYLOAD * 100_000, preexec_fn=as_somebody_else)
    spool_folder(folder).chmod(0o700)
    assert taken(folder) == []


def no_files_of_any_size() -> None:
    """As on a full disk: every write fails."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_a_disk_that_is_full_is_no_matter(shell: list[str], folder: Path):
    run(shell, folder, PAYLOAD * 100_000, preexec_fn=no_files_of_any_size)
    assert taken(folder) == []


def killed_by_the_first_byte() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_a_cat_that_is_killed_is_no_matter(shell: list[str], folder: Path):
    run(shell, folder, PAYLOAD * 100_000, preexec_fn=killed_by_the_first_byte)
    assert taken(folder) == []


def test_missing_programs_are_no_matter(shell: list[str], folder: Path, tmp_path: Path):
    run(shell, folder, env={"PATH": str(tmp_path)})


def test_a_hostile_environment_is_no_matter(shell: list[str], folder: Path):
    env = {"PATH": os.environ["PATH"], "CDPATH": "/:.", "IFS": "0123456789", "POSIXLY_CORRECT": "1"}
    run(shell, folder, env={**env, "ENV": "/nowhere", "BASH_ENV": "/nowhere", "CLAUDE_PID": "4711"})
    assert [payload for _, _, payload in taken(folder)] == [PAYLOAD]


def test_names_that_are_taken_are_left_alone(shell: list[str], folder: Path):
    line = f"read -r go; {spool_command(folder, 'claude')}"
    process = subprocess.Popen(
        [*shell, "-c", line], stdin=subprocess.PIPE, env={**os.environ, "CLAUDE_PID": "4711"}
    )
    stem = spool_folder(folder) / f"claude.4711.{process.pid}"
    whole, part = Path(f"{stem}.0.json"), Path(f"{stem}.1.part")
    whole.write_text("first")
    part.write_text("being written")
    process.communicate(b"go\n" + PAYLOAD, timeout=120)
    assert process.returncode == 0
    assert whole.read_text() == "first"
    assert part.read_text() == "being written"
    assert Path(f"{stem}.2.json").read_bytes() == PAYLOAD


def test_many_at_once_lose_nothing(shell: list[str], folder: Path):
    line = spool_command(folder, "claude")
    processes = [subprocess.Popen([*shell, "-c", line], stdin=subprocess.PIPE) for _ in range(40)]
    for number, process in enumerate(processes):
        process.communicate(str(number).encode(), timeout=20)
    assert {process.returncode for process in processes} == {0}
    assert sorted(payload for *_, payload in taken(folder)) == sorted(
        str(number).encode() for number in range(40)
    )


def test_a_name_that_is_none_is_refused(folder: Path):
    with pytest.raises(ValidationError):
        spool_command(folder, "claude; rm -rf /")
