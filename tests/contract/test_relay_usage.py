"""What agents on another machine use is counted there, if its owner allows it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.held_hooks import SESSION, hook
from tests.relay_world import World, paired, sleeping_agent, until
from tests.transcripts import ClaudeTranscript, place_of

from callboard.board.usage_reports import UsageReport
from callboard.errors import HostFailed, TranscriptUnreadable
from callboard.relay.machine import Machine

PROJECT = "/home/ann/shop"
MODEL = "claude-sonnet-4-5"


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    async with paired(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
async def agent() -> AsyncIterator[int]:
    async with sleeping_agent() as pid:
        yield pid


@pytest.fixture
def transcript(tmp_path: Path) -> ClaudeTranscript:
    made = ClaudeTranscript(place_of(tmp_path / "claude", PROJECT, SESSION), SESSION)
    made.prompt("Mend the tests.")
    return made


def call(transcript: ClaudeTranscript, id: str, output: int) -> None:
    """A call of the model, in this hour."""
    usage = {"input_tokens": 1000, "output_tokens": output, "cache_read_input_tokens": 500}
    content = [{"type": "text", "text": "Done."}]
    message = {"id": id, "model": MODEL, "role": "assistant", "content": content, "usage": usage}
    transcript.write({"type": "assistant", "uuid": id, "message": message})


async def turn(world: World, agent: int, transcript: ClaudeTranscript) -> None:
    """A turn starts and ends."""
    told = {"cwd": PROJECT, "transcript_path": str(transcript.file)}
    await world.report(agent, hook("UserPromptSubmit", prompt="Mend it", **told))
    await world.report(agent, hook("Stop", **told))


async def counted(world: World, output: int) -> UsageReport:
    async def is_there() -> UsageReport | None:
        told = await world.board.usage.report(days=365, by="project")
        return told if told.total.output_tokens == output else None

    return await until(is_there)


async def start(world: World, agent: int, transcript: ClaudeTranscript) -> str:
    told = {"cwd": PROJECT, "transcript_path": str(transcript.file)}
    await world.report(agent, hook("SessionStart", source="startup", **told))
    return (await world.plate(status="idle")).plate_id


async def test_it_is_counted_there(world: World, agent: int, transcript: ClaudeTranscript):
    world.start_relay("read")
    await start(world, agent, transcript)
    call(transcript, "c1", 100)
    await turn(world, agent, transcript)
    told = await counted(world, 100)
    assert [(one.key, one.used.calls) for one in told.rows] == [(PROJECT, 1)]
    assert told.total.cost == round((1000 * 3 + 100 * 15 + 500 * 0.3) / 1_000_000, 6)
    assert told.uncounted_hosts == []
    call(transcript, "c2", 50)
    await turn(world, agent, transcript)
    assert (await counted(world, 150)).total.calls == 2


async def test_a_report_names_machines_that_do_not_allow_it(
    world: World, agent: int, transcript: ClaudeTranscript
):
    call(transcript, "c1", 100)
    world.start_relay("say")
    await start(world, agent, transcript)
    await turn(world, agent, transcript)
    told = await counted(world, 0)
    assert told.uncounted_hosts == ["ada-mac"]


async def test_errors_there_are_errors_here(world: World, agent: int, transcript: ClaudeTranscript):
    world.start_relay("read")
    plate = await start(world, agent, transcript)
    transcript.file.unlink()
    with pytest.raises(TranscriptUnreadable):
        await world.board.conversations.usage(plate)


async def test_a_machine_that_sends_something_else_is_not_asked_again_and_again(
    world: World, agent: int, transcript: ClaudeTranscript, monkeypatch: pytest.MonkeyPatch
):
    async def send(self: Machine, data: object) -> object:
        return {"value": {"items": [], "before": None, "after": "1"}}

    monkeypatch.setattr(Machine, "_transcript", send)
    world.start_relay("read")
    plate = await start(world, agent, transcript)
    with pytest.raises(HostFailed, match="else than a conversation"):
        await world.board.conversations.usage(plate)
