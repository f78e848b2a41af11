"""Sizes as people type them: `64MB`, `1GB`."""

import re
from typing import Any, Final

import click

_UNITS: Final = {"KB": 1024, "MB": 1024**2, "GB": 1024**3}


class Size(click.ParamType[int]):
    """A number and a unit, as bytes; not less than a smallest size."""

    name = "size"

    def __init__(self, least: int) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The bytes that were meant."""
        if isinstance(value, int):
            return value
        typed = re.fullmatch(r"([0-9]{1,6})\s*([KMG]B)", str(value).upper())
        if typed is None:
            self.fail(f"{value!r} is not a size. Give one like 64MB or 1GB.", param, ctx)
        size = int(typed[1]) * _UNITS[typed[2]]
        if size < self._least:
            self.fail(f"{value} is too small; give at least {self._least >> 20}MB.", param, ctx)
        return size
