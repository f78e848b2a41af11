"""How the tables that belong to no stream are read and written: tokens, slots, shared state."""

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar

T = TypeVar("T")


class InTransaction(Protocol):
    """Runs something in the writer's thread, in a transaction that it commits."""

    async def __call__(self, work: Callable[[], T], /) -> T:
        """Run it."""
        ...


@dataclass(frozen=True, slots=True)
class TableAccess:
    """A log's connections for such a table.

    reads: entered to read. in_transaction: runs what writes.
    """

    reading: sqlite3.Connection
    writing: sqlite3.Connection
    reads: Callable[[], AbstractContextManager[None]]
    in_transaction: InTransaction
