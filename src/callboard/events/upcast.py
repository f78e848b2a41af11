"""Old shapes of events become new ones, one version at a time, while they are read.

A shape that was once written is never edited here: a new version gets a new step.
"""

from collections.abc import Callable, Mapping

from callboard.events.envelope import Json

Upcaster = Callable[[dict[str, Json]], dict[str, Json]]

STEPS: Mapping[tuple[str, int], Upcaster] = {}
"""(name, version) → how a payload of that version becomes one of the next."""


def upcast(
    name: str,
    version: int,
    payload: dict[str, Json],
    steps: Mapping[tuple[str, int], Upcaster] = STEPS,
) -> tuple[int, dict[str, Json]]:
    """Lift a payload to the newest version that is known; unknown names pass unchanged."""
    while step := steps.get((name, version)):
        payload = step(payload)
        version += 1
    return version, payload
