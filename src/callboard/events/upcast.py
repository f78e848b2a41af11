"""Converts old shapes of events to new ones, one version at a time, as they are read.

A shape that was ever written is never edited here: a new version gets a new step.
"""

from collections.abc import Callable, Mapping

from callboard.events.envelope import Json

Upcaster = Callable[[dict[str, Json]], dict[str, Json]]

STEPS: Mapping[tuple[str, int], Upcaster] = {}
"""(name, version) → how to convert a payload of that version to the next."""


def upcast(
    name: str,
    version: int,
    payload: dict[str, Json],
    steps: Mapping[tuple[str, int], Upcaster] = STEPS,
) -> tuple[int, dict[str, Json]]:
    """Convert a payload to the newest known version; unknown names pass unchanged."""
    while step := steps.get((name, version)):
        payload = step(payload)
        version += 1
    return version, payload
