"""Phases as people type them."""

import re
from typing import Any, Final

from callboard.errors import ValidationError

GIVEN: Final = '"TITLE:AGENT"'

_GIVEN = re.compile(r"(?P<title>.*\S)\s*:\s*(?P<agent>[^:@\s]+)(?:@(?P<wave>\d+))?", re.DOTALL)


def given_phase(text: str) -> dict[str, Any]:
    """`Write tests:verifier`, or `Write tests:verifier@2` for the second wave."""
    found = _GIVEN.fullmatch(text.strip())
    if found is None:
        raise ValidationError(
            f"--phase {text!r} does not say who does it. Write {GIVEN}, or "
            '"TITLE:AGENT@2" for what is worked on together.',
            field="phase",
        )
    phase: dict[str, Any] = {"title": found["title"], "agent": found["agent"]}
    return phase | ({"wave": int(found["wave"])} if found["wave"] else {})
