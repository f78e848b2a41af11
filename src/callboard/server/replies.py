"""Answers in JSON, written by orjson."""

from collections.abc import Mapping
from typing import Any

import orjson
from fastapi import Response


def reply(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer with JSON in it."""
    data = orjson.dumps(content)
    return Response(data, status, dict(headers or {}), media_type="application/json")
