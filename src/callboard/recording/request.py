"""What a model call asked for, reduced to what matters, and its key.

Two requests are the same if a model would be given the same: the order of keys, whitespace in JSON
and ids that a library makes up don't count. Everything else does.
"""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from callboard.events.codec import dump_json, load_json
from callboard.events.envelope import Json
from callboard.events.json_values import is_list, is_mapping

CONVERSATIONS: Final = ("messages", "input", "contents")
"""Where a body has the conversation, depending on the provider."""
_IDS: Final = frozenset({"id", "call_id", "tool_call_id", "tool_use_id"})
"""Fields of a conversation that link calls and results. Only which belongs to which matters."""
_WRITTEN_JSON: Final = frozenset({"arguments"})
"""Fields whose text is JSON that a model wrote."""
_ABOUT_THE_CALLER: Final = frozenset({"prompt_cache_key", "safety_identifier"})
"""Fields of a body that change no answer."""
_WHOLE: Final = 2**53


@dataclass(frozen=True)
class ModelRequest:
    """A call, before it is known whether there is a recording of it.

    provider: the server's name. path: what was called there. body: as it was sent, as JSON if it
    is. more: headers that matter, such as the version of an API.
    """

    provider: str
    path: str
    body: Json
    more: Mapping[str, str]

    @cached_property
    def canonical(self) -> Mapping[str, Json]:
        """What is compared, and stored with a recording."""
        told: dict[str, Json] = {"provider": self.provider, "path": self.path}
        if self.more:
            told["headers"] = dict(sorted(self.more.items()))
        told["body"] = _of_body(self.body)
        return told


def key_of(canonical: Mapping[str, Json]) -> str:
    """A hash of what is compared. Equal keys are not trusted: the whole request is compared."""
    return hashlib.sha256(dump_json(ordered(canonical))).hexdigest()


def body_from(content: bytes) -> Json:
    """The body as JSON; as text or base64 if it isn't."""
    if not content:
        return None
    try:
        return load_json(content)
    except ValueError:
        pass
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def ordered(value: Json) -> Json:
    """The same value with its keys in order, and numbers written one way."""
    if is_mapping(value):
        return {key: ordered(value[key]) for key in sorted(value)}
    if is_list(value):
        return [ordered(one) for one in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE:
        return int(value)
    return value


def _of_body(body: Json) -> Json:
    if not is_mapping(body):
        return ordered(body)
    ids: dict[str, str] = {}
    told = {
        key: _in_conversation(one, ids) if key in CONVERSATIONS else one
        for key, one in body.items()
        if key not in _ABOUT_THE_CALLER
    }
    return ordered(told)


def _in_conversation(value: Json, ids: dict[str, str]) -> Json:
    if is_list(value):
        return [_in_conversation(one, ids) for one in value]
    if is_mapping(value):
        return {key: _member(key, value[key], ids) for key in sorted(value)}
    return value


def _member(key: str, value: Json, ids: dict[str, str]) -> Json:
    if not isinstance(value, str):
        return _in_conversation(value, ids)
    if key in _IDS:
        return ids.setdefault(value, f"id-{len(ids) + 1}")
    if key in _WRITTEN_JSON:
        try:
            return {"json": ordered(load_json(value))}
        except ValueError:
            return value
    return value
