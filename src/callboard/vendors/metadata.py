"""What our own hook client adds to a payload, under `callboard`: who sent it, when, from where."""

import re
from dataclasses import replace
from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object
from callboard.vendors.fields import present, whole, word
from callboard.vendors.reports import Report

KEY: Final = "callboard"

LARGEST_PID: Final = 2**31 - 1
"""The largest possible process id."""
LARGEST_MOMENT: Final = 2**53
"""Milliseconds; anything later isn't a valid time."""

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")


def with_sender(report: Report, payload: Object) -> Report:
    """The report with the data in the payload's `callboard`, except for invalid values.

    A hook that is gone asks nothing anymore: its report has no signals.
    """
    if KEY not in payload:
        return report
    told = as_object(payload[KEY])
    hold = _id(told.get("hold"))
    gone = hold is not None and told.get("gone") is True
    known = present(
        pid=whole(told.get("pid"), LARGEST_PID),
        proc_start=process_start(told.get("proc_start")),
        tmux_target=word(told.get("tmux_pane")),
        git_branch=word(told.get("git_branch")),
        at_ms=whole(told.get("sent_at"), LARGEST_MOMENT),
        hold=hold,
        delivery=_id(told.get("delivery")),
    )
    return replace(report, **known, **({"gone": True, "signals": ()} if gone else {}))


def process_start(value: Json) -> str | None:
    """A process's start as the system counts it: clients write a number or text."""
    number = whole(value, LARGEST_MOMENT)
    return str(number) if number is not None else word(value)


def _id(value: Json) -> str | None:
    """A value that could be one of our ids. A hold's id is used in URLs."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else None
