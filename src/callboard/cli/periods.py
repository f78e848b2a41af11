"""Periods as people type them: `30s`, `15m`, `12h`, `90d`, `2w`."""

import re
from datetime import timedelta
from typing import Any, Final

import click

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Period(click.ParamType[timedelta]):
    """A number and a unit."""

    name = "period"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """The period that was typed."""
        if isinstance(value, timedelta):
            return value
        typed = re.fullmatch(r"([0-9]{1,6})([smhdw])", str(value))
        if typed is None or int(typed[1]) == 0:
            self.fail(f"{value!r} is no period; give one like 12h, 90d or 2w.", param, ctx)
        return timedelta(**{_UNITS[typed[2]]: int(typed[1])})


PERIOD: Final = Period()
