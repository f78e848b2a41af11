"""Numbers from outside: what no database can hold is a 400 that names its field, never a 5xx."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from tests.servers import serving

FLOWS = Path(__file__).parents[1] / "server_flows.py"
TOO_LARGE = (2**63, 2**64, 10**30, 10**400)
NEGATIVE = (-1, -(2**63) - 1)
BELOW_ZERO = {"utcOffset": -(2**31)}
"""What may be negative, and from where on it is too small."""
NOT_WHOLE = (1.5, True, "7")
AMOUNTS = {"daily"}
"""What may be a fraction."""
MEMBERS = {
    "by": "x",
    "outcome": "failed",
    "project_path": "/",
    "event_type": "x",
    "session_id": "s",
    "agent": "claude",
    "phase": "plan",
    "name": "x",
    "scope": "read",
    "number": 1,
    "title": "x",
    "daily": 20,
    "text": "x",
    "prompt": "x",
    "cwd": "/",
}
"""What a body needs beside the number."""


def numbers(schema: dict[str, Any], known: dict[str, Any], *path: str) -> Iterator[tuple[str, ...]]:
    """Where in a body there can be a whole number."""
    if "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]]
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from numbers(choice, known, *path)
    if schema.get("type") in ("integer", "number"):
        yield path
    for name, member in schema.get("properties", {}).items():
        yield from numbers(member, known, *path, name)


def body_with(schema: dict[str, Any], known: dict[str, Any], path: tuple[str, ...], value: Any):
    """A body that is right but for one number."""
    if not path:
        return value
    if "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]]
    for choice in schema.get("anyOf", ()):
        if "$ref" in choice:
            return body_with(choice, known, path, value)
    found = schema["properties"]
    body = {name: MEMBERS[name] for name in found if name in schema.get("required", ())}
    beside = {"occurrence": "phase", "timestamp": "project_path"}.get(path[-1], "")
    body |= {beside: MEMBERS[beside]} if beside in found else {}
    return body | {path[0]: body_with(found[path[0]], known, path[1:], value)}


async def test_no_number_is_too_large_for_an_answer(tmp_path: Path):
    async with serving(tmp_path / "x.db", f"{FLOWS}:trip") as server, server.client() as client:
        document = (await client.get("/openapi.json")).json()
        known = document["components"]["schemas"]
        ids = await _some_ids(client)
        tried: set[str] = set()
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                place = path.format_map(ids)
                for one in operation.get("parameters", ()):
                    if one["in"] == "query" and "integer" in json.dumps(one["schema"]):
                        tried.add(one["name"])
                        await _try_query(client, method, place, one["name"])
                content = operation.get("requestBody", {}).get("content", {})
                schema = content.get("application/json", {}).get("schema", {})
                for where in set(numbers(schema, known)):
                    tried.add(where[-1])
                    for value in _wrong(where[-1]):
                        body = body_with(schema, known, where, value)
                        await _check(client, method, place, where[-1], value, content=body)
    assert tried >= {"pid", "limit", "after", "position", "ttlMs", "durationMs", "eventIndex"}
    assert tried >= {"occurrence", "timestamp"}
    assert not [line for line in server.log if "Traceback" in line]


async def test_odd_numbers_in_a_hook_harm_nothing(tmp_path: Path):
    async with serving(tmp_path / "x.db") as server, server.client() as client:
        for number, value in enumerate((*TOO_LARGE, *NEGATIVE, *NOT_WHOLE)):
            told = dict.fromkeys(("pid", "proc_start", "sent_at"), value)
            payload = {"hook_event_name": "SessionStart", "session_id": f"s{number}", "cwd": "/"}
            payload |= {"callboard": told, "source": "startup", "number": value}
            answer = await client.post("/hooks/claude", content=json.dumps(payload))
            assert (answer.status_code, answer.json()) == (200, {})
        sent = len((*TOO_LARGE, *NEGATIVE, *NOT_WHOLE))
        # A busy server puts hooks into the spool first.
        while len(plates := (await client.get("/plates")).json()["plates"]) < sent:
            await asyncio.sleep(0.02)
        assert len(plates) == sent
        stream = {"Accept": "text/event-stream", "Last-Event-ID": str(2**63)}
        answer = await client.get("/stream", headers=stream)
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, "Last-Event-ID")
    assert not list((tmp_path / "x.db.hooks/spool").glob("*.json"))
    assert not [line for line in server.log if "Traceback" in line]


async def _some_ids(client: httpx.AsyncClient) -> dict[str, str]:
    asked = await client.post("/interactions", json={"type": "approval", "prompt": "?"})
    started = await client.post("/sessions", json={"workflowId": "trip", "input": "Rome"})
    payload = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/"}
    await client.post("/hooks/claude", json=payload)
    plates = (await client.get("/plates")).json()["plates"]
    return {
        "interaction_id": asked.json()["id"],
        "session_id": started.json()["sessionId"],
        "plate_id": plates[0]["plateId"],
        "workflow_id": "trip",
        "workflow": "trip",
        "token_id": "x",
        "message_id": "x",
        "item_id": "x",
        "agent": "claude",
        "host_id": "x",
        "name": "x",
        "path": "x",
    }


def _too_small(name: str) -> tuple[int, ...]:
    return (BELOW_ZERO.get(name, NEGATIVE[0]), *NEGATIVE[1:])


def _wrong(name: str) -> tuple[Any, ...]:
    return (*TOO_LARGE, *_too_small(name), *(NOT_WHOLE[1:] if name in AMOUNTS else NOT_WHOLE))


async def _try_query(client: httpx.AsyncClient, method: str, place: str, name: str) -> None:
    for value in (*TOO_LARGE, *_too_small(name), *NOT_WHOLE[:2]):
        await _check(client, method, place, name, value, params={name: str(value)})


async def _check(
    client: httpx.AsyncClient, method: str, place: str, name: str, value: Any, **given: Any
) -> None:
    if "content" in given:
        # By hand: the client's own encoder refuses numbers of so many digits.
        given["content"] = json.dumps(given["content"])
        given["headers"] = {"Content-Type": "application/json"}
    answer = await client.request(method, place, **given)
    said = (method, place, name, value, answer.status_code, answer.text[:300])
    if name == "timestamp" and (isinstance(value, str | float) or value is True):
        assert answer.status_code < 500, said
        return
    assert answer.status_code == 400, said
    # A number that is infinite in JSON's own terms is no part of any body.
    field = answer.json()["error"]["field"]
    assert name in field or (value == TOO_LARGE[-1] and field == "body"), said
