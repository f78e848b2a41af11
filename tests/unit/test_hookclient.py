"""The client of the hooks: delivers, or spools, and is never heard of."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hook_calls import SCRIPT, TOKEN, Client, HandServer, new_folder, quiet_end, spooled

from callboard.courier.delivery import MOST_BYTES
from callboard.courier.letters import LARGEST, Letter, quoted, with_member
from callboard.courier.processes import Process
from callboard.courier.wire import LARGEST_ANSWER

PAYLOAD = b'{"session_id": "s1", "hook_event_name": "Stop"}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return new_folder(tmp_path)


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> Iterator[Client]:
    (tmp_path / "project").mkdir()
    client = Client(folder, tmp_path / "project")
    yield client
    client.close()


@pytest.fixture
def server(folder: Path) -> Iterator[HandServer]:
    server = HandServer(folder)
    yield server
    server.close()


def test_it_takes_the_payload_to_the_server(client: Client, server: HandServer, folder: Path):
    process = client.start(PAYLOAD, env={"TMUX_PANE": "%7"})
    call = server.call()
    call.answer({})

    assert quiet_end(process) == b""
    assert call.head.startswith("POST /hooks/claude HTTP/1.1\r\n")
    assert f"Authorization: Bearer {TOKEN}\r\n" in call.head
    told = call.json
    sender = told.pop("callboard")
    assert told == json.loads(PAYLOAD)
    assert sender.pop("sent_at") > 1_700_000_000_000
    assert len(sender.pop("delivery")) == 24
    assert sender == {
        "pid": os.getpid(),
        "proc_start": Process(os.getpid()).start,
        "tmux_pane": "%7",
    }
    assert spooled(folder) == []


def test_an_answer_is_no_concern_of_a_hook_that_does_not_wait(client: Client, server: HandServer):
    process = client.start(PAYLOAD)
    server.call().answer({"decision": "block"})
    assert quiet_end(process) == b""


def test_without_a_server_it_goes_into_the_spool(client: Client, folder: Path):
    client.run(PAYLOAD)
    (body,) = spooled(folder)
    assert json.loads(body)["callboard"]["pid"] == os.getpid()
    (file,) = (folder / "spool").iterdir()
    assert file.name.startswith(f"claude.{os.getpid()}.")
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_a_dead_server_cannot_take_goes_into_the_spool(
    client: Client, server: HandServer, folder: Path
):
    server.close()
    client.run(PAYLOAD)
    assert len(spooled(folder)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 500 Oops\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: " + str(LARGEST_ANSWER + 1).encode() + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"X" * 200_000,
    ],
    ids=lambda raw: raw[:40].decode(),
)
def test_what_is_not_taken_goes_into_the_spool(
    client: Client, server: HandServer, folder: Path, answer: bytes
):
    process = client.start(PAYLOAD)
    server.call().say(answer)
    assert quiet_end(process) == b""
    assert len(spooled(folder)) == 1


def test_a_server_that_never_answers_is_not_waited_for(
    client: Client, server: HandServer, folder: Path
):
    process = client.start(PAYLOAD)
    call = server.call()
    assert quiet_end(process) == b""
    # The same delivery: the server may have heard it all the same.
    assert spooled(folder) == [call.body]
    assert call.json["callboard"]["delivery"]


def test_a_server_that_does_not_even_accept_is_not_waited_for(client: Client, folder: Path):
    server = HandServer(folder)
    process = client.start(b'{"text": "' + b"x" * 6_000_000 + b'"}')
    assert quiet_end(process) == b""
    server.close()
    assert len(spooled(folder)) == 1


@pytest.mark.parametrize("payload", [b"", b"no json", b"[1, 2]", b'"text"', b"{", b"\xff\xfe\x00"])
def test_what_is_no_object_is_passed_on_as_it_is(
    client: Client, server: HandServer, payload: bytes
):
    process = client.start(payload)
    call = server.call()
    call.answer({})
    assert quiet_end(process) == b""
    assert call.body == payload


def test_a_huge_payload_is_read_to_its_end_and_cut(client: Client, server: HandServer):
    process = client.start(None)
    assert process.stdin is not None
    process.stdin.write(b'{"text": "' + b"x" * (LARGEST + 3_000_000) + b'"}')
    process.stdin.close()
    process.stdin = None
    call = server.call()
    call.answer({})
    assert quiet_end(process) == b""
    assert len(call.body) == LARGEST


def test_a_full_spool_gets_no_more(client: Client, folder: Path):
    (folder / "spool" / ".full").touch()
    client.run(PAYLOAD)
    assert spooled(folder) == []


def test_a_spool_that_grows_too_large_is_marked(client: Client, folder: Path):
    for number in range(10_000):
        (folder / "spool" / f"claude.1.{number}.0.json").touch()
    client.run(PAYLOAD)
    assert (folder / "spool" / ".full").exists()


def test_a_spool_with_too_many_bytes_is_marked(client: Client, folder: Path):
    for number in range(3):
        with (folder / "spool" / f"claude.1.{number}.0.json").open("wb") as large:
            large.truncate(MOST_BYTES // 3)
    client.run(PAYLOAD)
    assert (folder / "spool" / ".full").exists()


def test_a_spool_with_room_is_not_marked(client: Client, folder: Path):
    with (folder / "spool" / "claude.1.1.0.json").open("wb") as large:
        large.truncate(MOST_BYTES // 2)
    client.run(PAYLOAD)
    assert not (folder / "spool" / ".full").exists()


def test_nothing_is_written_through_a_link(client: Client, folder: Path, tmp_path: Path):
    (folder / "spool").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (folder / "spool").symlink_to(tmp_path / "elsewhere")
    client.run(PAYLOAD)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_files_of_the_same_name_are_not_overwritten(client: Client, folder: Path):
    process = client.start(None)
    start = f"claude.{os.getpid()}.{process.pid}"
    (folder / "spool" / f"{start}.0.json").write_text("first")
    (folder / "spool" / f"{start}.1.part").write_text("being written")
    process.communicate(PAYLOAD)
    assert process.returncode == 0
    assert (folder / "spool" / f"{start}.0.json").read_text() == "first"
    assert (folder / "spool" / f"{start}.1.part").read_text() == "being written"
    (dropped,) = (folder / "spool").glob(f"{start}.????????????????.json")
    assert dropped.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "arguments", [[], ["/nowhere"], ["/nowhere", "../up"], ["/nowhere", "claude"], ["a", "b", "c"]]
)
def test_it_is_quiet_however_it_is_called(arguments: list[str]):
    done = subprocess.run(
        [sys.executable, "-I", "-S", SCRIPT, *arguments], input=PAYLOAD, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_it_is_quiet_without_input_and_output(folder: Path):
    words = f'"{sys.executable}" -I -S "{SCRIPT}" "{folder}" claude <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", words]).returncode == 0


@pytest.mark.parametrize("lines", ["", "nowhere\n", "127.0.0.1:99999\nt\n", ":1\nt\n", "a:b\nt\n"])
def test_a_connection_file_that_makes_no_sense_is_no_server(
    client: Client, folder: Path, lines: str
):
    (folder / "connection").write_text(lines)
    (folder / "connection").chmod(0o600)
    client.run(PAYLOAD)
    assert len(spooled(folder)) == 1


def test_a_connection_file_that_others_may_write_is_not_believed(
    client: Client, server: HandServer, folder: Path
):
    (folder / "connection").chmod(0o622)
    client.run(PAYLOAD)
    assert len(spooled(folder)) == 1


def test_a_connection_file_that_is_a_link_is_not_believed(
    client: Client, server: HandServer, folder: Path, tmp_path: Path
):
    (folder / "connection").rename(tmp_path / "real")
    (folder / "connection").symlink_to(tmp_path / "real")
    client.run(PAYLOAD)
    assert len(spooled(folder)) == 1


def test_another_agent_is_known_by_who_started_the_shell(
    client: Client, server: HandServer, folder: Path
):
    line = f'"{sys.executable}" -I -S "{SCRIPT}" "{folder}" codex; true'
    process = client.start(PAYLOAD, words=["sh", "-c", line])
    call = server.call()
    call.answer({})
    assert quiet_end(process) == b""
    assert call.json["callboard"]["pid"] == os.getpid()


def test_it_loads_nothing_that_takes_long(client: Client, folder: Path):
    words = [sys.executable, "-I", "-S", "-X", "importtime", SCRIPT, str(folder), "claude"]
    _, err = client.start(PAYLOAD, words=words).communicate(timeout=120)
    loaded = {line.rpartition("|")[2].strip() for line in err.decode().splitlines()}
    assert "callboard.courier.delivery" in loaded
    heavy = {"json", "socket", "re", "typing", "collections", "enum", "os", "signal", "callboard"}
    assert loaded & heavy == set()


# ---- what is known of the sender


def git(*words: str, cwd: Path) -> None:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    subprocess.run(["git", *identity, *words], cwd=cwd, check=True, capture_output=True)


def branch_in(client: Client, folder: Path, cwd: Path) -> str | None:
    client.cwd = cwd
    client.run(PAYLOAD)
    (file,) = (folder / "spool").iterdir()
    told = json.loads(file.read_bytes())
    file.unlink()
    return told["callboard"].get("git_branch")


def test_the_branch_is_found_without_git(client: Client, folder: Path, tmp_path: Path):
    project = tmp_path / "project"
    assert branch_in(client, folder, project) is None
    git("init", "-q", "-b", "feature/ü-1", cwd=project)
    git("commit", "-q", "--allow-empty", "-m", "Begin", cwd=project)
    (project / "deep" / "down").mkdir(parents=True)
    assert branch_in(client, folder, project / "deep" / "down") == "feature/ü-1"

    git("worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"), cwd=project)
    assert branch_in(client, folder, tmp_path / "tree") == "other"

    git("checkout", "-q", "--detach", cwd=project)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=project, capture_output=True, text=True, check=True
    )
    assert branch_in(client, folder, project) == commit.stdout[:12]


def test_a_pipe_in_the_place_of_a_branch_does_not_stop_it(
    client: Client, folder: Path, tmp_path: Path
):
    (tmp_path / "project" / ".git").mkdir()
    os.mkfifo(tmp_path / "project" / ".git" / "HEAD")
    assert not branch_in(client, folder, tmp_path / "project")


@pytest.mark.parametrize(
    ("text", "spliced"),
    [
        (b"{}", b'{"a":1}'),
        (b" { } \n", b'{"a":1}'),
        (b'{"b":{}}', b'{"b":{},"a":1}'),
        (b'{"b":"}"}', b'{"b":"}","a":1}'),
        (b'{"a":0}', b'{"a":0,"a":1}'),
    ],
)
def test_a_member_is_spliced_in(text: bytes, spliced: bytes):
    assert with_member(text, b'"a":1') == spliced
    assert json.loads(spliced)["a"] == 1


@pytest.mark.parametrize("text", ['a"b', "a\\b", "a\nb", "ü", "\x00", "\u2028"])
def test_texts_become_json(text: str):
    assert json.loads(quoted(text.encode())) == text


def test_a_text_that_is_no_text_becomes_json_all_the_same():
    assert json.loads(quoted(b"a\xffb")) == "a\ufffdb"


def test_a_hold_and_its_end_are_told_beside_the_sender(folder: Path):
    letter = Letter(str(folder), "claude", PAYLOAD)
    held = json.loads(letter.body("h1"))["callboard"]
    assert held["hold"] == "h1"
    # It comes again with the same id, and is to be held each time.
    assert "delivery" not in held
    gone = json.loads(letter.body("h1", gone=True))
    assert gone["callboard"]["gone"] is True
    assert gone["session_id"] == "s1"


def test_each_payload_is_a_delivery_of_its_own(client: Client, folder: Path):
    client.run(PAYLOAD)
    client.run(PAYLOAD)
    told = [json.loads(body)["callboard"] for body in spooled(folder)]
    assert len({one["delivery"] for one in told}) == 2
