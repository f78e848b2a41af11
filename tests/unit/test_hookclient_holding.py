"""The client that waits for a decision: whatever happens to the server, and to the agent."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.hook_calls import (
    PATIENCE,
    SCRIPT,
    TOKEN,
    Client,
    HandServer,
    new_folder,
    quiet_end,
    spooled,
)

from callboard.board.hook_folders import write_connection
from callboard.courier import holding
from callboard.courier.letters import Letter

PAYLOAD = b'{"session_id": "s1", "hook_event_name": "PermissionRequest"}'
ALLOW = {"hookSpecificOutput": {"decision": {"behavior": "allow"}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return new_folder(tmp_path)


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> Iterator[Client]:
    client = Client(folder, tmp_path)
    yield client
    client.close()


@pytest.fixture
def server(folder: Path) -> Iterator[HandServer]:
    server = HandServer(folder)
    yield server
    server.close()


def test_a_decision_is_printed_exactly(client: Client, server: HandServer):
    process = client.start(PAYLOAD, "--hold")
    call = server.call()
    said = b'{"hookSpecificOutput" :{"x":\n1}}'
    call.say(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said))
    assert quiet_end(process) == said


def test_no_decision_prints_nothing(client: Client, server: HandServer):
    process = client.start(PAYLOAD, "--hold")
    server.call().answer({})
    assert quiet_end(process) == b""


@pytest.mark.parametrize("said", [b"<html>", b"[1]", b'"yes"', b'{"half', b"null", b"\xff"])
def test_what_is_no_decision_is_not_printed(client: Client, server: HandServer, said: bytes):
    process = client.start(PAYLOAD, "--hold")
    server.call().say(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said))
    assert quiet_end(process) == b""


def test_an_answer_in_chunks(client: Client, server: HandServer):
    process = client.start(PAYLOAD, "--hold")
    server.call().say(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        b'5;x=1\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n'
    )
    assert quiet_end(process) == b'{"a":1}'


def test_an_answer_that_ends_with_its_connection(client: Client, server: HandServer):
    process = client.start(PAYLOAD, "--hold")
    server.call().say(b'HTTP/1.0 200 OK\r\n\r\n{"a":1}')
    assert quiet_end(process) == b'{"a":1}'


def test_a_huge_answer(client: Client, server: HandServer):
    process = client.start(PAYLOAD, "--hold")
    told = {"text": "x" * 3_000_000}
    server.call().answer(told)
    assert json.loads(quiet_end(process)) == told


def test_it_comes_back_with_the_same_id_when_the_server_dies(client: Client, server: HandServer):
    process = client.start(PAYLOAD, "--hold")
    first = server.call()
    first.cut()
    second = server.call()
    second.say(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{")
    third = server.call()
    third.answer({}, "503 Service Unavailable")
    fourth = server.call()
    fourth.answer(ALLOW)
    assert first.hold is not None
    assert {one.body for one in (first, second, third, fourth)} == {first.body}
    assert json.loads(quiet_end(process)) == ALLOW


def test_it_finds_the_next_server_at_another_address(client: Client, server: HandServer):
    process = client.start(PAYLOAD, "--hold")
    call = server.call()
    other = HandServer(server.folder)
    server.stop()
    call.cut()
    other.call().answer(ALLOW)
    other.close()
    assert json.loads(quiet_end(process)) == ALLOW


def test_it_waits_for_a_server_that_is_down(client: Client, folder: Path):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # Nobody listens there, and nobody else can.
        write_connection(folder, f"127.0.0.1:{bound.getsockname()[1]}", TOKEN)
        process = client.start(PAYLOAD, "--hold")
        bound.listen()
        HandServer(folder, bound).call().answer(ALLOW)
    assert json.loads(quiet_end(process)) == ALLOW


def test_it_finds_the_first_server_that_ever_ran(client: Client, folder: Path):
    process = client.start(PAYLOAD, "--hold")
    while not spooled_whole(folder):
        assert process.poll() is None
    server = HandServer(folder)
    call = server.call()
    call.answer(ALLOW)
    server.close()
    assert call.hold is not None
    assert json.loads(quiet_end(process)) == ALLOW
    assert spooled(folder) == [call.body]


def test_an_agent_that_asks_only_after_its_hook_is_not_kept_waiting(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    letter = Letter(str(folder), "codex", PAYLOAD)
    assert holding.wait(letter, "h1") == b"", "no server ever ran here"
    assert len(spooled(folder)) == 1
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # Nobody listens there, and nobody else can.
        write_connection(folder, f"127.0.0.1:{bound.getsockname()[1]}", TOKEN)
        monkeypatch.setattr(holding, "RESTARTS_WITHIN", 0.1)
        assert holding.wait(letter, "h1") == b""
    gone = [json.loads(body)["callboard"].get("gone") for body in spooled(folder)]
    assert gone.count(True) == 1


def test_while_no_server_is_found_the_spool_is_told_once_what_is_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(holding, "TELL_AFTER", 0.3)
    with socket.socket() as bound, ThreadPoolExecutor(1) as waiting:
        bound.bind(("127.0.0.1", 0))  # Nobody listens there, and nobody else can.
        write_connection(folder, f"127.0.0.1:{bound.getsockname()[1]}", TOKEN)
        decided = waiting.submit(holding.wait, Letter(str(folder), "claude", PAYLOAD), "h1")
        while not spooled_whole(folder):
            assert not decided.done()
        bound.listen()
        server = HandServer(folder, bound)
        server.call().answer({}, "503 Service Unavailable")
        call = server.call()
        call.answer(ALLOW)
        assert json.loads(decided.result(PATIENCE)) == ALLOW
    # Byte for byte the same: the board recognizes the request.
    assert spooled(folder) == [call.body]
    assert call.hold == "h1"


def spooled_whole(folder: Path) -> list[Path]:
    """What lies in the spool, while somebody may be writing there."""
    return list((folder / "spool").glob("*.json"))


def test_what_a_server_has_held_is_not_told_to_the_spool(
    folder: Path, server: HandServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(holding, "TELL_AFTER", 0.0)
    monkeypatch.setattr(holding, "_LATEST", 0.0)
    monkeypatch.setattr(holding, "_SOONEST", 0.0)
    (folder / "spool" / ".full").touch()  # What is told before the first attempt does not count.
    with ThreadPoolExecutor(1) as waiting:
        decided = waiting.submit(holding.wait, Letter(str(folder), "claude", PAYLOAD), "h1")
        server.call().cut()
        (folder / "spool" / ".full").unlink()
        server.call().cut()
        server.call().answer(ALLOW)
        assert json.loads(decided.result(PATIENCE)) == ALLOW
    assert spooled(folder) == []


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_means_that_nobody_waits_any_more(
    client: Client, server: HandServer, folder: Path, sent: signal.Signals
):
    process = client.start(PAYLOAD, "--hold")
    held = server.call()
    process.send_signal(sent)
    farewell = server.call()
    farewell.answer({})
    assert farewell.hold == held.hold
    assert farewell.json["callboard"]["gone"] is True
    assert farewell.json["session_id"] == "s1"
    assert quiet_end(process) == b""
    assert spooled(folder) == []


def test_two_signals_mean_the_same(client: Client, server: HandServer):
    process = client.start(PAYLOAD, "--hold")
    server.call()
    process.send_signal(signal.SIGTERM)
    farewell = server.call()
    process.send_signal(signal.SIGTERM)
    farewell.answer({})
    assert quiet_end(process) == b""


def test_a_signal_while_the_server_is_down_is_told_to_the_spool(
    client: Client, server: HandServer, folder: Path
):
    process = client.start(PAYLOAD, "--hold")
    held = server.call()
    server.stop()
    held.cut()
    process.send_signal(signal.SIGTERM)
    assert quiet_end(process) == b""
    (body,) = spooled(folder)
    told = json.loads(body)["callboard"]
    assert (told["hold"], told["gone"]) == (held.hold, True)


def test_a_signal_to_a_server_that_hangs_is_told_to_the_spool(
    client: Client, server: HandServer, folder: Path
):
    process = client.start(PAYLOAD, "--hold")
    held = server.call()
    process.send_signal(signal.SIGTERM)
    assert quiet_end(process) == b""
    (body,) = spooled(folder)
    assert json.loads(body)["callboard"]["hold"] == held.hold


def test_a_signal_before_there_is_a_payload_ends_it(client: Client, server: HandServer):
    process = client.start(None, "--hold")
    _wait_for_handler(process.pid)
    process.send_signal(signal.SIGTERM)
    assert quiet_end(process) == b""


def _wait_for_handler(pid: int) -> None:
    """Until a process catches SIGTERM, as the system says."""
    while True:
        status = Path(f"/proc/{pid}/status").read_text()
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        if caught >> (signal.SIGTERM - 1) & 1:
            return


def test_it_gives_up_when_the_agent_dies(client: Client, server: HandServer, folder: Path):
    agent = subprocess.Popen(["sleep", "1000"])
    process = client.start(PAYLOAD, "--hold", env={"CLAUDE_PID": str(agent.pid)})
    held = server.call()
    assert held.json["callboard"]["pid"] == agent.pid
    agent.kill()  # Not waited for: what is left of it counts as dead.
    farewell = server.call()
    farewell.answer({})
    assert (farewell.hold, farewell.json["callboard"]["gone"]) == (held.hold, True)
    assert quiet_end(process) == b""
    agent.wait()


BY_SUBAGENT = b'{"session_id":"s1","agent_id":"a1","hook_event_name":"PermissionRequest"}'


def test_a_subagents_question_is_left_to_the_terminal_after_a_while(
    client: Client, server: HandServer
):
    process = client.start(BY_SUBAGENT, "--hold", env={"CALLBOARD_SUBAGENT_WAIT": "1"})
    held = server.call()
    farewell = server.call()
    farewell.answer({})
    assert (farewell.hold, farewell.json["callboard"]["gone"]) == (held.hold, True)
    assert quiet_end(process) == b""


def test_a_subagents_question_is_only_reported_if_no_one_shall_wait(
    client: Client, server: HandServer
):
    process = client.start(BY_SUBAGENT, "--hold", env={"CALLBOARD_SUBAGENT_WAIT": "0"})
    call = server.call()
    call.answer({})
    assert "hold" not in call.json["callboard"]
    assert quiet_end(process) == b""


def test_it_gives_up_when_its_parent_dies(server: HandServer, folder: Path):
    words = [sys.executable, "-I", "-S", SCRIPT, str(folder), "gemini", "--hold"]
    code = f"import subprocess, time; p = subprocess.Popen({words!r}, stdin=-1); "
    code += f"p.stdin.write({PAYLOAD!r}); p.stdin.close(); time.sleep(1000)"
    parent = subprocess.Popen([sys.executable, "-c", code])
    held = server.call()
    assert held.json["callboard"]["pid"] == parent.pid
    parent.kill()
    parent.wait()
    farewell = server.call()
    farewell.answer({})
    assert (farewell.hold, farewell.json["callboard"]["gone"]) == (held.hold, True)


def test_a_server_of_another_version_is_not_asked_again(
    client: Client, server: HandServer, folder: Path
):
    process = client.start(PAYLOAD, "--hold")
    server.call().answer({"error": {"code": "NOT_FOUND"}}, "404 Not Found")
    assert quiet_end(process) == b""
    (body,) = spooled(folder)
    assert json.loads(body)["callboard"]["gone"] is True


def test_a_payload_that_is_no_object_cannot_be_held(client: Client, server: HandServer):
    process = client.start(b"not json", "--hold")
    call = server.call()
    call.answer(ALLOW)
    assert call.body == b"not json"
    assert quiet_end(process) == b""


def test_an_answer_that_nobody_reads_is_no_failure(client: Client, server: HandServer):
    process = client.start(PAYLOAD, "--hold")
    assert process.stdout is not None
    process.stdout.close()
    server.call().answer(ALLOW)
    assert process.wait(PATIENCE) == 0
    process.stdout = None


def test_ids_of_holds_differ(client: Client, server: HandServer):
    processes = [client.start(PAYLOAD, "--hold") for _ in range(3)]
    calls = [server.call() for _ in processes]
    assert len({call.hold for call in calls}) == len(processes)
    for call in calls:
        call.answer({})
    assert [quiet_end(process) for process in processes] == [b"", b"", b""]


def test_nothing_secret_stands_in_what_everyone_can_read(client: Client, server: HandServer):
    process = client.start(PAYLOAD, "--hold")
    call = server.call()
    seen = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    seen += Path(f"/proc/{process.pid}/environ").read_bytes()
    call.answer({})
    assert quiet_end(process) == b""
    assert TOKEN.encode() not in seen
    assert str(os.getpid()).encode() in seen
