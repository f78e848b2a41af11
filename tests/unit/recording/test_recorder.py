"""When a call is recorded, played back or refused, and what people are told."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import NotRecorded, ValidationError
from callboard.recording import Recorder, current, recording
from callboard.recording.folder import RecordingFolder
from callboard.recording.lines import ResponsePiece
from callboard.recording.recorder import ReceivedResponse
from callboard.recording.request import ModelRequest


def recorder(folder: Path, mode: Any, **more: Any) -> Recorder:
    return Recorder(mode, RecordingFolder(folder), **more)


def asked(*said: str, **more: Any) -> ModelRequest:
    messages = [{"role": "user", "content": one} for one in said]
    return ModelRequest("api.example.com", "POST /v1", {"messages": messages, **more}, {})


def make(recorder: Recorder, request: ModelRequest, answer: str) -> str:
    """A call whose model, if it is called, gives this answer; returns what was answered."""
    call = recorder.begin(request)
    if call.played is not None:
        return b"".join(one.data for one in call.played.pieces).decode()
    recorder.keep(call, ReceivedResponse(200, [], [ResponsePiece(1, answer.encode())], "completed"))
    return answer


def test_what_is_missing_is_recorded_and_what_is_there_is_played(tmp_path: Path):
    assert make(recorder(tmp_path, "missing"), asked("Why?"), "first") == "first"
    again = recorder(tmp_path, "missing")
    assert make(again, asked("Why?"), "second") == "first"
    assert make(again, asked("Who?"), "me") == "me"
    playing = recorder(tmp_path, "playback")
    assert [make(playing, asked(one), "-") for one in ("Who?", "Why?")] == ["me", "first"]


def test_always_records_again(tmp_path: Path):
    for answer in ("first", "second"):
        assert make(recorder(tmp_path, "always"), asked("Why?"), answer) == answer
    assert make(recorder(tmp_path, "playback"), asked("Why?"), "-") == "second"


def test_the_same_call_again_gets_the_next_recording(tmp_path: Path):
    once = recorder(tmp_path, "missing")
    assert [make(once, asked("Dice?"), one) for one in "46"] == ["4", "6"]
    more = recorder(tmp_path, "missing")
    assert [make(more, asked("Dice?"), one) for one in "111"] == ["4", "6", "1"]
    playing = recorder(tmp_path, "playback")
    assert [make(playing, asked("Dice?"), "-") for _ in range(3)] == ["4", "6", "1"]
    with pytest.raises(NotRecorded, match="was recorded 3 times and is made once more"):
        playing.begin(asked("Dice?"))


def test_a_call_that_was_not_recorded_names_the_nearest_and_the_difference(tmp_path: Path):
    taking = recorder(tmp_path, "missing")
    make(taking, asked("You sort mail.", "Where does this go?", model="m-1"), "left")
    make(taking, asked("Something else entirely", model="m-2"), "-")
    with pytest.raises(NotRecorded) as refused:
        recorder(tmp_path, "playback").begin(
            asked("You sort mail.", "Where does that go?", "Please.", model="m-1")
        )
    assert refused.value.message.splitlines() == [
        "There is no recording of this call of api.example.com POST /v1. The nearest one differs:",
        '  - body.messages[1].content: "Where does this go?"',
        '  + body.messages[1].content: "Where does that go?"',
        '  + body.messages[2]: {"content":"Please.","role":"user"}',
        'Record it with the mode "missing".',
    ]


def test_a_refusal_is_remembered_for_those_who_hide_it(tmp_path: Path):
    playing = recorder(tmp_path, "playback")
    with pytest.raises(NotRecorded, match="has no recordings"):
        playing.begin(asked("Why?"))
    assert playing.refusal is not None


def test_calls_that_cannot_be_seen_are_reported_and_in_playback_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    recorder(tmp_path, "missing").unseen("A call of LangGraph's fake model")
    assert "LangGraph's fake model can't be recorded" in caplog.text
    with pytest.raises(NotRecorded, match="in playback it is not called"):
        recorder(tmp_path, "playback").unseen("A call of LangGraph's fake model")


SECRET = "sk-" + "a1B2" * 8


@pytest.mark.parametrize("split", [1, 5, 20])
def test_secrets_are_written_nowhere(tmp_path: Path, split: int):
    taking = recorder(tmp_path, "missing", redact=["hunter[0-9]"])
    request = asked(f"My key is {SECRET}", x={SECRET: "hunter2"})
    call = taking.begin(request)
    answer = f"You said {SECRET} and hunter2."
    cut = len("You said ") + split
    pieces = [ResponsePiece(0, answer[:cut].encode()), ResponsePiece(9, answer[cut:].encode())]
    failure = f"ReadError: {SECRET}"
    taking.keep(call, ReceivedResponse(200, [("x-request-id", SECRET)], pieces, "broken", failure))
    text = "".join(one.read_text() for one in tmp_path.glob("*.jsonl"))
    assert SECRET not in text
    assert SECRET[-20:] not in text
    assert "hunter2" not in text
    found = recorder(tmp_path, "playback", redact=["hunter[0-9]"]).begin(request).played
    assert found is not None
    said = b"".join(one.data for one in found.pieces).decode()
    assert said == "You said [redacted] and [redacted]."
    assert [one.at_ms for one in found.pieces] == [0, 9]


def test_a_call_with_a_secret_of_the_response_before_it_is_played(tmp_path: Path):
    def converse(of: Recorder) -> str:
        used = make(of, asked("Why?"), '{"password":"hunter22","says":"token=abcd1234"}')
        return make(of, asked("And now?", used=json.loads(used)), "Because.")

    assert converse(recorder(tmp_path, "missing")) == "Because."
    assert converse(recorder(tmp_path, "playback")) == "Because."


async def test_the_order_of_parallel_calls_does_not_matter(tmp_path: Path):
    questions = [f"Question {number}" for number in range(20)]
    taking = recorder(tmp_path, "missing")

    async def call(of: Recorder, question: str) -> str:
        return await asyncio.to_thread(make, of, asked(question), f"answer to {question}")

    await asyncio.gather(*(call(taking, one) for one in questions))
    playing = recorder(tmp_path, "playback")
    found = await asyncio.gather(*(call(playing, one) for one in reversed(questions)))
    assert found == [f"answer to {one}" for one in reversed(questions)]


def test_a_block_has_its_recorder_and_leaves_none_behind(tmp_path: Path):
    assert current() is None
    with recording(tmp_path, "playback") as outer:
        assert current() is outer
        with recording(tmp_path, "off"):
            assert current() is None
        assert current() is outer
    assert current() is None


@pytest.mark.parametrize(
    ("given", "field"),
    [({"mode": "sometimes"}, "record"), ({"speed": 0}, "speed"), ({"speed": -1}, "speed")],
)
def test_wrong_settings_name_the_field(tmp_path: Path, given: Any, field: str):
    told: Any = {"mode": "always", **given}
    with pytest.raises(ValidationError) as wrong, recording(tmp_path, **told):
        pass
    assert wrong.value.field == field


def test_code_comes_back_as_it_was_written(tmp_path: Path):
    code = 'token = request.token\npassword = settings["password"]\n'
    assert make(recorder(tmp_path, "missing"), asked("Why?"), code) == code
    assert make(recorder(tmp_path, "playback"), asked("Why?"), "-") == code
