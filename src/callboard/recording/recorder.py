"""When a model call is recorded, played back or refused.

One recorder serves one session, or one `with recording(...)` block: it counts how often each
request was made, so that the second time gets the second recording, whatever came between.
"""

import logging
import os
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from threading import Lock
from typing import Final, Literal, NamedTuple

from callboard.clock import Clock, SystemClock
from callboard.errors import NotRecorded, ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import as_object
from callboard.recording.difference import differences, nearest
from callboard.recording.folder import RecordingFolder
from callboard.recording.lines import LARGEST, Outcome, RecordedCall, ResponsePiece
from callboard.recording.redaction import Redaction
from callboard.recording.request import ModelRequest, key_of

_log = logging.getLogger(__name__)

Mode = Literal["off", "always", "missing", "playback"]
MODES: Final = ("off", "always", "missing", "playback")


class PendingCall(NamedTuple):
    """One call: its request as it is stored, which time this is, and what is played back, if so."""

    request: Mapping[str, Json]
    time: int
    take: str
    played: RecordedCall | None


class ReceivedResponse(NamedTuple):
    """What came back."""

    status: int | None
    headers: Sequence[tuple[str, str]]
    pieces: Sequence[ResponsePiece]
    outcome: Outcome
    error: str | None = None


class Recorder:
    """Finds and keeps recordings.

    Args:
        mode: `always` calls the model and records; `missing` plays what is recorded and records the
            rest; `playback` never calls a model.
        folder: where the recordings are.
        redact: patterns of secrets, besides those of well-known services.
        speed: how fast responses are played: 1 as they came, 2 twice as fast, None at once.
    """

    def __init__(
        self,
        mode: Mode,
        folder: RecordingFolder,
        *,
        redact: Sequence[str] = (),
        speed: float | None = None,
        clock: Clock | None = None,
    ) -> None:
        if mode not in MODES:
            raise ValidationError(
                f"record: {mode!r} is not one of {', '.join(MODES)}.", field="record"
            )
        if speed is not None and speed <= 0:
            raise ValidationError(
                "speed: it must be more than 0, or None for at once.", field="speed"
            )
        self.mode: Mode = mode
        self.speed = speed
        self.clock = clock or SystemClock()
        self.refusal: NotRecorded | None = None
        """The first call that was refused. Libraries often hide it behind an error of their own."""
        self._folder = folder
        # Not by names: what is played back has to be what came, code above all.
        self._redaction = Redaction(redact, by_name=False)
        self._take = os.urandom(8).hex()
        self._times: defaultdict[str, int] = defaultdict(int)
        self._lock = Lock()

    def begin(self, asked: ModelRequest) -> PendingCall:
        """What to do about a call. NotRecorded if it may not be made and isn't recorded."""
        request = as_object(self._redaction.value(dict(asked.canonical)))
        key = key_of(request)
        with self._lock:
            time, self._times[key] = self._times[key], self._times[key] + 1
            is_asked = self.mode != "always"
            known: list[RecordedCall] = [*self._folder.find(request)] if is_asked else []
        if time < len(known):
            return PendingCall(request, time, known[0].take, known[time])
        if self.mode == "playback":
            raise self._refuse(request, len(known))
        return PendingCall(request, time, known[0].take if known else self._take, None)

    def keep(self, call: PendingCall, received: ReceivedResponse) -> None:
        """Record what came back."""
        size = sum(len(one.data) for one in received.pieces)
        if size > LARGEST:
            _log.warning("A response of %d bytes was not recorded: it is too large", size)
            return
        redacted = self._redaction.pieces([one.data for one in received.pieces])
        pieces = [
            ResponsePiece(one.at_ms, data)
            for one, data in zip(received.pieces, redacted, strict=True)
        ]
        error = None if received.error is None else self._redaction.text(received.error)
        made = RecordedCall(
            call.request,
            call.take,
            received.status,
            [(name, self._redaction.text(value)) for name, value in received.headers],
            pieces,
            received.outcome,
            error,
            self.clock.now_ms(),
        )
        with self._lock:
            self._folder.add(made, unless_known=self.mode == "missing" and call.time == 0)

    def unseen(self, what: str) -> None:
        """Report calls that can't be recorded. In playback they are refused, never made."""
        if self.mode == "playback":
            self.refusal = self.refusal or NotRecorded(
                f"{what} can't be recorded or played back, so in playback it is not called."
            )
            raise self.refusal
        if self.mode != "off":
            _log.warning("%s can't be recorded", what)

    def _refuse(self, request: Mapping[str, Json], known: int) -> NotRecorded:
        refusal = NotRecorded(_why(self._folder, request, known))
        self.refusal = self.refusal or refusal
        return refusal


def _why(folder: RecordingFolder, request: Mapping[str, Json], known: int) -> str:
    what = " ".join(str(request.get(name, "")) for name in ("provider", "path")).strip()
    again = 'Record it with the mode "missing".'
    if known:
        times = "once" if known == 1 else f"{known} times"
        return f"This call of {what} was recorded {times} and is made once more. {again}"
    near = nearest(request, (one.request for one in folder.all()))
    if near is None:
        return f"{folder.path} has no recordings, so {what} can't be played back. {again}"
    lines = "\n".join(f"  {line}" for line in differences(near, request))
    return (
        f"There is no recording of this call of {what}. The nearest one differs:\n{lines}\n{again}"
    )


_current: ContextVar[Recorder | None] = ContextVar("callboard_recorder", default=None)


def current() -> Recorder | None:
    """The recorder of what runs here; None if nothing is recorded."""
    recorder = _current.get()
    return None if recorder is None or recorder.mode == "off" else recorder


@contextmanager
def use(recorder: Recorder) -> Generator[Recorder]:
    """Let a recorder decide about the model calls in this block, and in tasks that it starts."""
    token = _current.set(recorder)
    try:
        yield recorder
    finally:
        _current.reset(token)


@contextmanager
def recording(
    folder: str | os.PathLike[str],
    mode: Mode = "missing",
    *,
    redact: Sequence[str] = (),
    speed: float | None = None,
) -> Generator[Recorder]:
    """Record the model calls of this block in a folder, or play them back from there."""
    with use(Recorder(mode, RecordingFolder(folder), redact=redact, speed=speed)) as recorder:
        yield recorder


def pauses(recording: RecordedCall, speed: float | None) -> list[float]:
    """Seconds to wait before each piece of a response."""
    if speed is None:
        return [0.0] * len(recording.pieces)
    times = [0, *(one.at_ms for one in recording.pieces)]
    return [max(0, later - earlier) / 1000 / speed for earlier, later in pairwise(times)]
