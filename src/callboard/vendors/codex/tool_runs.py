"""Codex's tool calls and their results, as its transcripts have them."""

import re
from typing import Final

from callboard.events.codec import load_json
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_list, as_object, as_text, is_object, objects
from callboard.vendors.conversation import FileEdit, ItemImage, ToolRun, ToolStatus
from callboard.vendors.diffs import created, edits_in_patch
from callboard.vendors.fields import LONGEST_PATH, word

_EXIT: Final = re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,9})")
_HEADERS: Final = ("Chunk ID:", "Wall time:", "Exit code:")
_HEADER: Final = 400
"""Characters in which a result says how its command ended."""
_BODY: Final = "\nOutput:\n"
_AGENT: Final = re.compile(r'\{"agent_id":\s*"([0-9a-f-]{36})"')
_REJECTED: Final = re.compile(r"rejected by (?:the )?user|(?:user|approval) (?:denied|declined)")
_STATUSES: Final[dict[str, ToolStatus]] = {
    "completed": "done",
    "failed": "failed",
    "declined": "denied",
    "in_progress": "running",
}


def called(payload: Object) -> ToolRun:
    """A call, before its result is known. Its edits are what it is about to change."""
    name = as_text(payload.get("name")) or as_text(payload.get("type"))
    input = _input(payload)
    return ToolRun(name, input, _command(name, input), None, "running", _planned(name, input))


def _input(payload: Object) -> Json:
    for key in ("arguments", "input", "action"):
        given = payload.get(key)
        if key == "arguments" and isinstance(given, str):
            try:
                return load_json(given)
            except (ValueError, RecursionError):
                return given
        if given is not None:
            return given
    return None


def _command(name: str, input: Json) -> str | None:
    if name == "apply_patch":
        return None
    given = as_object(input)
    command = given.get("cmd") or given.get("command")
    words = [one for one in as_list(command) if isinstance(one, str)]
    if len(words) == 3 and words[1] in ("-c", "-lc"):  # A shell, and what it runs.
        return words[2]
    return as_text(command) or " ".join(words) or None


def _planned(name: str, input: Json) -> list[FileEdit]:
    if name != "apply_patch":
        return []
    return edits_in_patch(as_text(input) or as_text(as_object(input).get("input")))


def returned(payload: Object) -> tuple[ToolRun, list[ItemImage]]:
    """The result of a call, and the images in it."""
    output = payload.get("output")
    told = as_object(output)
    blocks = objects(output) or objects(told.get("content_items"))
    texts = (as_text(one.get("text")) for one in blocks)
    content = told.get("content")
    text = as_text(output) or as_text(content) or "\n".join(one for one in texts if one)
    images = [image for one in blocks if (image := image_in(one)) is not None]
    text, status = _result(text)
    if told.get("success") is False and status == "done":
        status = "failed"
    return ToolRun("", None, None, text, status, [], _agent_in(text)), images


def _agent_in(result: str) -> str | None:
    """The subagent that a call has started, as its result names it."""
    found = _AGENT.match(result)
    return None if found is None else found[1]


def _result(text: str) -> tuple[str, ToolStatus]:
    """A result without what the client says about it, and how the call ended."""
    if text.startswith('{"output":'):  # As older versions wrote it.
        try:
            told = as_object(load_json(text))
        except (ValueError, RecursionError):
            return text, "done"
        if isinstance(output := told.get("output"), str):
            code = as_object(told.get("metadata")).get("exit_code")
            return output, "done" if code in (0, None) else "failed"
    header = text[:_HEADER]
    if _REJECTED.search(header):
        return text, "denied"
    if not text.startswith(_HEADERS):
        return text, "failed" if text.startswith("unsupported call:") else "done"
    code, body = _EXIT.search(header), text
    while body.startswith(_HEADERS) and _BODY in body[:_HEADER]:
        body = body.partition(_BODY)[2]
    return body, "done" if code is None or int(code[1]) == 0 else "failed"


def reported(item: Object) -> ToolRun | None:
    """What the client reports about a call that it ran itself; None for anything else."""
    status = _STATUSES.get(as_text(item.get("status")), "done")
    if item.get("type") == "CommandExecution":
        output = item.get("aggregated_output")
        return ToolRun("", None, None, as_text(output) or None, status, [])
    if item.get("type") == "FileChange":
        changes = as_object(item.get("changes"))
        edits = [_edit(path, as_object(one)) for path, one in changes.items()]
        return ToolRun("", None, None, None, status, edits)
    started = _started(item)
    return None if started is None else ToolRun("", None, None, None, status, [], started)


def _started(item: Object) -> str | None:
    """The subagent that a call has started."""
    if item.get("type") == "CollabAgentToolCall" and item.get("tool") == "spawn_agent":
        ids = as_list(item.get("receiver_thread_ids"))
        return word(ids[0]) if ids else None
    # As Codex says it if agents have names.
    is_start = item.get("type") == "SubAgentActivity" and item.get("kind") == "started"
    return word(item.get("agent_thread_id")) if is_start else None


def _edit(path: str, change: Object) -> FileEdit:
    diff = as_text(change.get("unified_diff"))
    content = as_text(change.get("content"))
    if change.get("type") == "delete":
        diff = "".join(f"-{line}\n" for line in content.splitlines())
        diff = f"@@ -1,{len(content.splitlines())} +0,0 @@\n{diff}" if diff else ""
    elif content and not diff:
        diff = created(content)
    return FileEdit(word(path, LONGEST_PATH) or "", diff)


def image_in(block: Object) -> ItemImage | None:
    """The image in a block of a message; one that is elsewhere has no data."""
    if block.get("type") != "input_image":
        return None
    given = block.get("image_url")
    url = as_text(given.get("url") if is_object(given) else given)
    return image_at(url)


def image_at(url: str) -> ItemImage:
    """The image in a `data:` URL."""
    start, comma, data = url.partition(";base64,")
    media_type = word(start.removeprefix("data:")) if comma else None
    return ItemImage(media_type or "image/png", data if comma else None)
