"""Which schemas can be asked for, and which responses fit them."""

from typing import Any

import pytest

from callboard import Callboard
from callboard.errors import ValidationError

STRUCTURED = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "notes": {"$ref": "#/$defs/notes"}},
    "required": ["approved", "notes"],
    "$defs": {"notes": {"type": "string", "maxLength": 5}},
}
OWN_ID = {"$id": "https://example.org/outcome", "$ref": "https://example.org/outcome#/$defs/n"}


async def ask(board: Callboard, schema: Any) -> str:
    config = {"outcomeSchema": schema}
    asked = await board.people.ask(type="interactive_session", prompt="?", config=config)
    assert asked.config == config | {"blockOrchestration": True}
    return asked.id


@pytest.mark.parametrize(
    "schema",
    [
        "string",
        7,
        [],
        {"type": "thing"},
        {"type": ["string", "nothing"]},
        {"properties": 5},
        {"minimum": "low"},
        {"pattern": "("},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#"},
        {"$ref": "http://127.0.0.1:9/elsewhere.json"},
        {"$ref": "file:///etc/passwd"},
        {"properties": {"deep": {"items": [{"$dynamicRef": "elsewhere"}]}}},
        {"items": {"$ref": "other.json"}},
        {"type": "structured", "jsonSchema": {"type": "thing"}},
        {"type": "structured", "jsonSchema": {"$ref": "http://127.0.0.1:9/elsewhere.json"}},
        {"type": "selection"},
        {"type": "selection", "options": []},
        {"type": "selection", "options": ["x", "x"]},
    ],
)
async def test_what_is_no_schema_of_its_own_is_refused(schema: Any):
    async with Callboard.open() as board:
        with pytest.raises(ValidationError) as caught:
            await ask(board, schema)
        assert str(caught.value.field).startswith("config.outcomeSchema")
        assert await board.people.find() == []


@pytest.mark.parametrize(
    ("schema", "outcome", "response", "recorded", "approved"),
    [
        ({"type": "approval"}, "approved", None, "approved", True),
        ({"type": "approval"}, "rejected", None, "rejected", False),
        ({"type": "approval"}, "rejected", "rejected", "rejected", False),
        ({"type": "approval"}, "completed", "approved", "approved", True),
        ({"type": "approval"}, "completed", "rejected", "rejected", False),
        ({"type": "selection", "options": ["x", "y"]}, "completed", "y", "y", None),
        ({"type": "freeform"}, "completed", "approved", "approved", None),
        ({"type": "structured"}, "completed", {"a": 1}, {"a": 1}, None),
        ({"type": "structured", "jsonSchema": STRUCTURED}, "completed",
         {"approved": True, "notes": "ok"}, {"approved": True, "notes": "ok"}, None),
        (STRUCTURED, "approved", {"approved": True, "notes": ""},
         {"approved": True, "notes": ""}, True),
        ({"enum": [None, 1]}, "completed", None, None, None),
        ({"const": {"$ref": "no reference"}}, "completed", {"$ref": "no reference"},
         {"$ref": "no reference"}, None),
        ({**OWN_ID, "$defs": {"n": {"type": "integer"}}}, "completed", 4, 4, None),
        (True, "completed", [1, None], [1, None], None),
        (None, "completed", (1, 2), [1, 2], None),
        (None, "approved", None, "approved", True),
    ],
)  # fmt: skip
async def test_a_response_that_fits_is_recorded_as_it_is(
    schema: Any, outcome: str, response: Any, recorded: Any, approved: bool | None
):
    async with Callboard.open() as board:
        id = await ask(board, schema)
        done = await board.people.complete(id, outcome, response=response)
        assert (done.status, done.response) == ("completed", recorded)
        [_, received] = await board.log.read(id)
        assert received.payload.get("approved") is approved
        assert received.payload["outcome"] == outcome


@pytest.mark.parametrize(
    ("schema", "outcome", "response"),
    [
        ({"type": "approval"}, "completed", None),
        ({"type": "approval"}, "completed", "yes"),
        ({"type": "approval"}, "approved", "rejected"),
        ({"type": "approval"}, "approved", {"approved": True}),
        ({"type": "selection", "options": ["x"]}, "completed", "z"),
        ({"type": "selection", "options": ["x"]}, "approved", None),
        ({"type": "freeform"}, "completed", 5),
        ({"type": "structured"}, "completed", "text"),
        (STRUCTURED, "completed", {"approved": "yes", "notes": ""}),
        (STRUCTURED, "completed", {"approved": True, "notes": "much too long"}),
        (STRUCTURED, "completed", {"approved": True}),
        (STRUCTURED, "completed", None),
        (False, "completed", None),
        (None, "completed", {1, 2}),
        (None, "completed", float("nan")),
        (None, "completed", 2**70),
        (None, "cancelled", "half of it"),
        (None, "timeout", "half of it"),
        (None, "failed", "half of it"),
    ],
)
async def test_a_response_that_does_not_fit_leaves_the_question_open(
    schema: Any, outcome: str, response: Any
):
    async with Callboard.open() as board:
        id = await ask(board, schema)
        with pytest.raises(ValidationError) as caught:
            await board.people.complete(id, outcome, response=response)
        assert caught.value.field == "response"
        assert (await board.interaction(id)).status == "pending"


@pytest.mark.parametrize("millis", [-1, 1.5, True, 2**60])
async def test_a_duration_is_a_number_of_milliseconds(millis: Any):
    async with Callboard.open() as board:
        id = await ask(board, None)
        with pytest.raises(ValidationError) as caught:
            await board.people.complete(id, "completed", duration_ms=millis)
        assert caught.value.field == "durationMs"


@pytest.mark.parametrize("timeout", [0, -1, 1.5, True, "1", 10**12])
async def test_a_timeout_is_milliseconds_and_at_most_a_year(timeout: Any):
    async with Callboard.open() as board:
        with pytest.raises(ValidationError) as caught:
            await board.people.ask(
                type="interactive_session", prompt="x", config={"timeout": timeout}
            )
        assert caught.value.field == "config.timeout"


@pytest.mark.parametrize("error", ["", " ", 5, {"code": "X"}])
async def test_an_error_is_told_in_words(error: Any):
    async with Callboard.open() as board:
        id = await ask(board, None)
        with pytest.raises(ValidationError) as caught:
            await board.people.complete(id, "failed", error=error)
        assert caught.value.field == "error"
        assert (await board.people.complete(id, "failed")).error is not None


async def test_where_a_response_is_wrong_is_told():
    async with Callboard.open() as board:
        id = await ask(board, {"items": {"properties": {"a/b": {"type": "string"}}}})
        with pytest.raises(ValidationError, match=r"response\[1\]\['a/b'\] .* 7 is no") as caught:
            await board.people.complete(id, "completed", response=[{"a/b": "x"}, {"a/b": 7}])
        told = caught.value.as_payload()
        assert told["pointer"] == "/1/a~1b"
        assert told["reason"] == '7 is not of type "string"'
