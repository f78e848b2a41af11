"""Recordings in files: found again, readable, and safe from crashes, edits and other processes."""

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.errors import RecordingInvalid
from callboard.recording.folder import RecordingFolder
from callboard.recording.lines import RecordedCall, ResponsePiece, from_line


def made(question: str = "Why?", take: str = "t1", answer: bytes = b"Because.") -> RecordedCall:
    request = {"provider": "api.example.com", "path": "POST /v1", "body": {"q": question}}
    headers = [("content-type", "text/plain")]
    return RecordedCall(request, take, 200, headers, [ResponsePiece(5, answer)], "completed")


def answers(folder: RecordingFolder, question: str = "Why?") -> list[bytes]:
    return [one.pieces[0].data for one in folder.find(made(question).request)]


def file_of(tmp_path: Path) -> Path:
    return tmp_path / "api.example.com.jsonl"


def test_what_was_recorded_is_found_and_nothing_else(tmp_path: Path):
    folder = RecordingFolder(tmp_path)
    assert answers(folder) == []
    folder.add(made())
    assert answers(folder) == answers(RecordingFolder(tmp_path)) == [b"Because."]
    assert answers(folder, "Why not?") == []


def test_the_same_request_again_comes_in_order(tmp_path: Path):
    folder = RecordingFolder(tmp_path)
    for answer in (b"1", b"2", b"3"):
        folder.add(made(answer=answer))
    assert answers(folder) == [b"1", b"2", b"3"]


def test_recording_again_replaces_what_was_recorded_before(tmp_path: Path):
    folder = RecordingFolder(tmp_path)
    folder.add(made(answer=b"old"))
    folder.add(made("Other?", answer=b"kept"))
    folder.add(made(answer=b"new", take="t2"))
    assert answers(folder) == [b"new"]
    assert answers(folder, "Other?") == [b"kept"]
    assert sorted(one.pieces[0].data for one in folder.all()) == [b"kept", b"new"]


def test_files_are_for_their_owner_only(tmp_path: Path):
    RecordingFolder(tmp_path / "new").add(made())
    assert stat.S_IMODE(file_of(tmp_path / "new").stat().st_mode) == 0o600


def test_a_link_in_place_of_a_file_is_not_followed(tmp_path: Path):
    target = tmp_path / "target"
    target.write_text("mine")
    file_of(tmp_path).symlink_to(target)
    with pytest.raises(OSError, match=r"symbolic links|Not a directory|[Ll]ink"):
        RecordingFolder(tmp_path).add(made())
    assert target.read_text() == "mine"


def test_what_another_process_records_is_seen(tmp_path: Path):
    folder, other = RecordingFolder(tmp_path), RecordingFolder(tmp_path)
    assert answers(folder) == []
    other.add(made())
    assert answers(folder) == [b"Because."]


def test_of_two_that_record_the_same_call_at_once_the_first_counts(tmp_path: Path):
    folder, other = RecordingFolder(tmp_path), RecordingFolder(tmp_path)
    assert folder.find(made().request) == other.find(made().request) == []
    assert folder.add(made(answer=b"first"), unless_known=True)
    assert not other.add(made(answer=b"second", take="t2"), unless_known=True)
    assert answers(folder) == answers(other) == [b"first"]


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_a_line_that_was_cut_off_counts_as_absent_and_harms_no_other(tmp_path: Path, kept: float):
    RecordingFolder(tmp_path).add(made("First?", answer=b"1"))
    whole = file_of(tmp_path).read_bytes()
    RecordingFolder(tmp_path).add(made(answer=b"lost"))
    last = file_of(tmp_path).read_bytes()[len(whole) :]
    file_of(tmp_path).write_bytes(whole + last[: int(len(last) * kept)])
    folder = RecordingFolder(tmp_path)
    assert answers(folder) == []
    folder.add(made(answer=b"again"))
    assert answers(folder) == answers(RecordingFolder(tmp_path)) == [b"again"]
    assert answers(folder, "First?") == [b"1"]
    for line in file_of(tmp_path).read_text().splitlines():
        json.loads(line)


def edited(tmp_path: Path, change: Any) -> RecordingFolder:
    RecordingFolder(tmp_path).add(made())
    told = json.loads(file_of(tmp_path).read_text())
    file_of(tmp_path).write_text(json.dumps(change(told)) + "\n")
    return RecordingFolder(tmp_path)


def test_a_response_may_be_edited(tmp_path: Path):
    """And the file reformatted: people write what they want to test."""
    folder = edited(tmp_path, lambda told: {**told, "pieces": [[0, "Edited."]]})
    assert answers(folder) == [b"Edited."]


def test_a_request_that_was_edited_is_named(tmp_path: Path):
    folder = edited(tmp_path, lambda told: {**told, "request": {**told["request"], "path": "/"}})
    with pytest.raises(
        RecordingInvalid, match=r"api\.example\.com\.jsonl:1: the request was edited"
    ):
        answers(folder)


def test_a_newer_version_is_named(tmp_path: Path):
    folder = edited(tmp_path, lambda told: {**told, "format": 2})
    with pytest.raises(RecordingInvalid, match="format 2 was written by another version"):
        answers(folder)


@pytest.mark.parametrize("line", [b"odd\n", b"[]\n", b'{"key":"x"}\n', b"\xff\n"])
def test_what_is_no_recording_is_named(tmp_path: Path, line: bytes):
    file_of(tmp_path).write_bytes(b"\n" + line)
    with pytest.raises(RecordingInvalid, match=r"jsonl:2: "):
        answers(RecordingFolder(tmp_path))


PIECES = st.lists(
    st.builds(ResponsePiece, st.integers(0, 10_000), st.binary(max_size=20)), max_size=5
)


@given(PIECES, st.sampled_from(["completed", "failed", "broken"]), st.none() | st.text(max_size=20))
def test_a_line_reads_as_what_was_written(
    pieces: list[ResponsePiece], outcome: Any, error: str | None
):
    recording = RecordedCall(
        {"provider": "x", "path": "y", "body": None},
        "t",
        None,
        [("a", "b")],
        pieces,
        outcome,
        error,
        7,
    )
    line = recording.to_line()
    assert line.count(b"\n") == 1
    assert from_line(line, "here") == recording


WRITER = """
import sys
from tests.unit.recording.test_folder import made
from callboard.recording.folder import RecordingFolder
folder = RecordingFolder(sys.argv[1])
print("ready", flush=True)
number = 0
while True:
    folder.add(made(f"{number}", answer=b"x" * 50_000))
    print(number, flush=True)
    number += 1
"""


def test_a_writer_that_is_killed_loses_at_most_its_last_line(tmp_path: Path):
    for _ in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout
            told = [writer.stdout.readline() for _ in range(20)]
            writer.kill()
            told += writer.stdout.readlines()
        folder = RecordingFolder(tmp_path)
        for number in range(int(told[-1]) + 1):
            assert answers(folder, str(number))
