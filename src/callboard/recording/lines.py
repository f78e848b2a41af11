"""One call with what came back, as a line of JSON.

A response is kept as it came: its pieces with the milliseconds at which each arrived. A call that
failed, or broke in the middle, is kept as that.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from callboard.errors import RecordingInvalid
from callboard.events.codec import dump_json, load_json
from callboard.events.envelope import Json
from callboard.events.json_values import as_list, as_object, as_text, as_whole, is_mapping
from callboard.recording.request import key_of, ordered

FORMAT: Final = 1
LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a response. A larger one is passed on and not recorded."""

Outcome = Literal["completed", "failed", "broken"]


class ResponsePiece(NamedTuple):
    """A part of a response, and after how many milliseconds it came."""

    at_ms: int
    data: bytes


@dataclass(frozen=True)
class RecordedCall:
    """A call and its response.

    take: who recorded it; recording again makes a new take, and the newest counts. status: of
    HTTP, None if there was no response. error: how the call failed or broke.
    """

    request: Mapping[str, Json]
    take: str
    status: int | None
    headers: Sequence[tuple[str, str]]
    pieces: Sequence[ResponsePiece]
    outcome: Outcome
    error: str | None = None
    recorded_at: int = 0

    @property
    def key(self) -> str:
        """The key of its request."""
        return key_of(self.request)

    def to_line(self) -> bytes:
        """The line in a file. The key comes first, so that it is found without parsing the rest."""
        told = {
            "key": self.key,
            "take": self.take,
            "format": FORMAT,
            "at": self.recorded_at,
            "outcome": self.outcome,
            "request": ordered(self.request),
            "status": self.status,
            "headers": [list(one) for one in self.headers],
            "pieces": [[one.at_ms, *_written(one.data)] for one in self.pieces],
        }
        return dump_json(told if self.error is None else {**told, "error": self.error}) + b"\n"


def from_line(line: bytes, where: str) -> RecordedCall:
    """Read a line; RecordingInvalid, with the place, if it isn't what was written.

    where: the file and the line, for people.
    """
    try:
        told = load_json(line)
    except ValueError:
        raise RecordingInvalid(f"{where}: this is not a recording. Record it again.") from None
    if not is_mapping(told) or not is_mapping(told.get("request")):
        raise RecordingInvalid(f"{where}: this is not a recording. Record it again.")
    if told.get("format") != FORMAT:
        raise RecordingInvalid(
            f"{where}: format {told.get('format')} was written by another version of Callboard; "
            f"this one reads {FORMAT}. Update Callboard, or record it again."
        )
    recording = _recording(told)
    if recording.key != told.get("key"):
        raise RecordingInvalid(
            f"{where}: the request was edited after it was recorded, so its key is not its own. "
            "Record it again."
        )
    return recording


def _recording(told: Mapping[str, object]) -> RecordedCall:
    status, error = told.get("status"), told.get("error")
    outcome = as_text(told.get("outcome"))
    headers = [[as_text(one) for one in as_list(pair)] for pair in as_list(told.get("headers"))]
    return RecordedCall(
        request=_json_object(told.get("request")),
        take=as_text(told.get("take")),
        status=status if isinstance(status, int) else None,
        headers=[(pair[0], pair[1]) for pair in headers if len(pair) == len(("name", "value"))],
        pieces=[_piece(as_list(one)) for one in as_list(told.get("pieces"))],
        outcome="completed" if outcome == "completed" else _unfinished(outcome),
        error=error if isinstance(error, str) else None,
        recorded_at=as_whole(told.get("at")),
    )


def _unfinished(outcome: str) -> Outcome:
    return "failed" if outcome == "failed" else "broken"


def _json_object(value: object) -> Mapping[str, Json]:
    found: Mapping[str, Json] = as_object(value)
    return found


def _written(data: bytes) -> list[Json]:
    """Text as text, so that people can read a recording and its changes."""
    try:
        return [data.decode()]
    except UnicodeDecodeError:
        return [base64.b64encode(data).decode(), "base64"]


def _piece(told: list[object]) -> ResponsePiece:
    at_ms, text, *encoded = told or [0, ""]
    data = as_text(text)
    return ResponsePiece(as_whole(at_ms), base64.b64decode(data) if encoded else data.encode())
