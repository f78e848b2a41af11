"""Subagents in transcripts of older versions of Claude Code, which are in the file of the session.

No record says which call started them: their first record has the prompt of that call.
"""

import re
from hashlib import blake2b
from typing import Final

from callboard.events.json_values import Object, as_object, as_text, objects
from callboard.vendors.line_conversation import LARGEST_FULL, MOST_READ
from callboard.vendors.partial_json import load_some
from callboard.vendors.transcript_lines import TranscriptLines

_PREFIX: Final = "sidechain-"
_CALL: Final = "Task"
_IS_SIDECHAIN: Final = re.compile(rb'"isSidechain":\s*true')
_OLD: Final = re.compile(r"[01]\.|2\.0\.")
"""Versions that may have subagents there. The last of them name a file in the call's result."""


def is_sidechain(subagent: str) -> bool:
    """Whether this is a subagent in the file of its session."""
    return subagent.startswith(_PREFIX)


def started(record: Object, block: Object) -> str | None:
    """The subagent that a call of an older version starts."""
    prompt = as_text(as_object(block.get("input")).get("prompt"))
    is_old = _OLD.match(as_text(record.get("version"))) is not None
    return _named(prompt) if is_old and prompt and block.get("name") == _CALL else None


def members(path: str, subagent: str) -> frozenset[str]:
    """The records of a subagent, by their ids, as far as one call may read."""
    found, parsed = set[str](), 0
    with TranscriptLines(path) as lines:
        for line in lines.after(0):
            if line.end > MOST_READ or parsed > LARGEST_FULL:
                break
            if not line.is_whole or not _IS_SIDECHAIN.search(line.data):
                continue
            parsed += len(line.data)
            record, _ = load_some(line.data)
            parent = record.get("parentUuid")
            is_first = parent is None and _named(_prompt(record)) == subagent
            if is_first or parent in found:
                found.add(as_text(record.get("uuid")))
    return frozenset(found)


def _prompt(record: Object) -> str:
    content = as_object(record.get("message")).get("content")
    texts = (as_text(block.get("text")) for block in objects(content))
    return content if isinstance(content, str) else "\n".join(texts)


def _named(prompt: str) -> str:
    digest = blake2b(prompt.encode("utf-8", "surrogatepass"), digest_size=8)
    return f"{_PREFIX}{digest.hexdigest()}"
