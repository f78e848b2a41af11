"""Periods and sizes as people type them: `30s`, `90d`, `64MB`. Each is a click type."""

import re
from datetime import timedelta
from typing import Final

import click

_PERIODS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SIZES: Final = {"KB": 1024, "MB": 1024**2, "GB": 1024**3}


def period(value: str) -> timedelta:
    """A number and a unit."""
    typed = re.fullmatch(r"([0-9]{1,6})([smhdw])", value)
    if typed is None or int(typed[1]) == 0:
        raise click.BadParameter(f"{value!r} is not a period. Use one like 12h, 90d or 2w.")
    return timedelta(**{_PERIODS[typed[2]]: int(typed[1])})


def size(value: str) -> int:
    """A number and a unit, as bytes."""
    typed = re.fullmatch(r"([0-9]{1,6})\s*([KMG]B)", value.upper())
    if typed is None:
        raise click.BadParameter(f"{value!r} is not a size. Use one like 64MB or 1GB.")
    return int(typed[1]) * _SIZES[typed[2]]
