"""An output that the state takes over is stored once, however it is taken over."""

from pathlib import Path
from typing import Any

import pytest

from callboard import Callboard, Phase, State, Workflow, agent
from callboard.drafts import patch
from callboard.engine.references import refer
from callboard.events.codec import dump_json

TEXTS = [letter * 100 for letter in "abc"]


class Kept(State):
    text: str = ""
    texts: list[str] = []
    notes: dict[str, str] = {}
    history: list[list[str]] = []


def test_a_value_that_is_the_output_refers_to_it() -> None:
    patches: list[patch.Patch] = [{"op": "add", "path": "/x", "value": TEXTS}]
    assert refer(patches, {}, {7: TEXTS}) == (patches, {0: 7})


def test_a_list_that_became_the_output_is_one_patch() -> None:
    before = {"texts": ["x", "y"], "n": 0}
    after = {"texts": TEXTS, "n": 1}
    patches, references = refer(patch.diff(before, after), before, {7: TEXTS})
    assert patch.apply(before, patches) == after
    assert references is not None
    [(index, position)] = references.items()
    assert patches[index] == {"op": "replace", "path": "/texts", "value": TEXTS}
    assert position == 7


def test_small_outputs_and_long_lists_are_left_alone() -> None:
    patches: list[patch.Patch] = [{"op": "add", "path": "/x", "value": "small"}]
    assert refer(patches, {}, {7: "small"}) == (patches, None)
    long = {"xs": ["x" * 50] * 100}
    grown: list[patch.Patch] = [{"op": "add", "path": "/xs/100", "value": TEXTS}]
    assert refer(grown, long, {7: TEXTS}) == (grown, {0: 7})


@pytest.mark.parametrize("field", ["texts", "notes", "history"])
async def test_the_database_holds_the_output_once(tmp_path: Path, field: str) -> None:
    made: dict[str, Any] = {
        "texts": TEXTS,
        "notes": {"a": "x" * 200, "b": "y" * 200},
        "history": [TEXTS, TEXTS[:2]],
    }

    @agent
    async def maker(state: Kept) -> Any:
        return made[field]

    def take(state: Kept, output: Any) -> None:
        setattr(state, field, output)

    flow = Workflow("w", state=Kept, phases=[Phase("a", agent=maker, update=take, terminal=True)])
    async with Callboard.open(tmp_path / "x.db", [flow]) as board:
        result = await board.run(flow)
        assert getattr(result.state, field) == made[field]
        again = await board.log.read(result.session_id)
        assert [e.payload for e in again] == [
            {k: v for k, v in e.payload.items() if k != "finalState"} for e in result.events
        ]
    stored = (tmp_path / "x.db-wal").read_bytes() if (tmp_path / "x.db-wal").exists() else b""
    stored += (tmp_path / "x.db").read_bytes()
    assert dump_json(made[field]) in stored
    needle = dump_json(made[field])[1:-1]
    assert stored.count(needle) == 1
