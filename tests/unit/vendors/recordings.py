"""What the real clients sent their hooks, as it lies in `tests/payloads`."""

import json
from pathlib import Path
from typing import Any

PAYLOADS = Path(__file__).parents[2] / "payloads"


def recorded(*where: str) -> list[dict[str, Any]]:
    """The payloads of a scenario, in order."""
    files = sorted(PAYLOADS.joinpath(*where).glob("[0-9][0-9]-*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def one(*where: str) -> dict[str, Any]:
    """One payload."""
    return json.loads(PAYLOADS.joinpath(*where).read_text(encoding="utf-8"))


def opencode() -> list[dict[str, Any]]:
    """What a plugin of opencode was told, as our plugin sends it on."""
    lines = (PAYLOADS / "opencode" / "events.jsonl").read_text(encoding="utf-8").splitlines()
    told = [json.loads(line) for line in lines]
    directory = told[0]["d"]["directory"]
    return [{**_sent(one["k"], one["d"]), "directory": directory} for one in told[1:]]


def _sent(kind: str, told: dict[str, Any]) -> dict[str, Any]:
    if kind == "event":
        return {"type": told["type"], "properties": told["properties"]}
    given, output = told["i"], told.get("o", {})
    return {"type": kind, "properties": {"args": output.get("args"), **given}}
