"""Model calls that are recorded once and played back: offline, exact, and free.

| module | contents |
|---|---|
| `request` | what a call asked for, reduced to what matters, and its key |
| `redaction` | secrets that are replaced before anything is written |
| `lines` | one call with what came back, as a line of JSON |
| `folder` | recordings in files beside tests |
| `difference` | the recording that is nearest to a call, and where they differ |
| `recorder` | when a call is recorded, played back or refused |
| `httpx_transport` | the recorder for httpx, and so for most providers' own libraries |
"""

from typing import TYPE_CHECKING

from callboard.recording.recorder import Mode, Recorder, current, recording

if TYPE_CHECKING:
    from callboard.recording.httpx_transport import transport

__all__ = ["Mode", "Recorder", "current", "recording", "transport"]


def __getattr__(name: str) -> object:
    if name != "transport":
        raise AttributeError(f"module 'callboard.recording' has no attribute {name!r}")
    # Only here: everything else works without httpx.
    from callboard.recording.httpx_transport import transport

    return transport
