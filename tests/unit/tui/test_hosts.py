"""Agents of several machines on one board, and a machine that can't be reached."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.tui.scenes import permission
from tests.unit.tui.scripted import ScriptedSource, ago, plate
from tests.unit.tui.stage import Stage, staged

from callboard.board.relay_hosts import RelayHost
from callboard.events import plates as events
from callboard.events.moments import to_ms
from callboard.tui.listing import columns
from callboard.tui.rows import matches, plate_row
from callboard.tui.whereabouts import whereabouts

ATLAS = RelayHost(
    id="atlas000", name="atlas", version="0.1.0", connected=True, seen_at=to_ms(ago()), powers=[]
)
GONE = replace(ATLAS, connected=False, seen_at=to_ms(ago(minutes=3)))


def two_machines() -> ScriptedSource:
    source = ScriptedSource(
        [
            plate("shop", "awaiting_approval", host="atlas000", hostName="atlas"),
            plate("docs", "running", host="desk0000", hostName="desk"),
        ],
        [permission()],
    )
    source.relay_hosts = [ATLAS]
    return source


def line_of(stage: Stage, project: str) -> str:
    # The panel has the name too.
    return next(line for line in stage.lines if f" {project} " in line[:45])


async def test_rows_have_the_name_of_their_machine(tmp_path: Path):
    async with staged(two_machines(), tmp_path, (100, 30)) as stage:
        assert "atlas" in line_of(stage, "shop")
        assert "desk" in line_of(stage, "docs")


async def test_one_machine_needs_no_name(tmp_path: Path):
    source = two_machines()
    del source.on_board["docs"]
    async with staged(source, tmp_path, (100, 30)) as stage:
        assert "atlas" not in stage.text


async def test_a_machine_becomes_unreachable_and_comes_back(tmp_path: Path):
    source = two_machines()
    async with staged(source, tmp_path, (150, 36)) as stage:
        assert "Unreachable" not in stage.text
        source.relay_hosts = [GONE]
        source.tell(events.HOST_DISCONNECTED, "host-atlas000")
        await stage.until(lambda: "Unreachable" in stage.text)
        assert "! approve" in line_of(stage, "shop")
        assert "Unreachable · last seen 3m ago" in line_of(stage, "shop")
        assert "Unreachable" not in line_of(stage, "docs")
        assert "Answers are delivered when it's back" in stage.text

        source.relay_hosts = [ATLAS]
        source.tell(events.HOST_CONNECTED, "host-atlas000")
        await stage.until(lambda: "Unreachable" not in stage.text)


async def test_who_answers_an_unreachable_agent_reads_that_it_waits(tmp_path: Path):
    source = two_machines()
    source.relay_hosts = [GONE]
    async with staged(source, tmp_path, (100, 30)) as stage:
        await stage.press("y")
        assert "atlas is unreachable." in stage.text


def test_what_is_closed_is_not_unreachable():
    places = whereabouts([plate("a", "closed", host="atlas000", hostName="atlas")], [GONE])
    assert places["a"].lost_at_ms is None


def test_rows_are_found_by_their_machine():
    one = plate("shop", host="atlas000", hostName="atlas")
    row = plate_row(one, place=whereabouts([one], [])["shop"])
    assert matches(row, "atlas shop")
    assert not matches(row, "desk")


@pytest.mark.parametrize("width", range(20, 260))
def test_columns_with_machines_fill_the_width(width: int):
    found = columns(width, with_host=True)
    assert sum(column.width + 1 for column in found) <= max(width, 27)
    assert all(column.width > 0 for column in found)
