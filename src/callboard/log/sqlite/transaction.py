"""A turn at the database: the lock, the transaction, and translated errors."""

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from callboard.clock import Clock
from callboard.errors import StoreBusy, StoreError
from callboard.log.appending import AppendRequest, Committed, Outcome
from callboard.log.sqlite.commit import Committer
from callboard.log.sqlite.errors import translate
from callboard.log.sqlite.identity import Identities
from callboard.log.write_lock import Turnstile, poll

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """Where to write: the file, its lock, how long to wait for it, and the clock."""

    path: Path
    turnstile: Turnstile
    identities: Identities
    lock_timeout: float
    clock: Clock


class Transactions:
    """Takes turns with other processes, and never leaves a request without an outcome."""

    def __init__(self, committer: Committer, place: WriteTarget) -> None:
        self._committer = committer
        self._place = place

    def commit_at_once(self, requests: Sequence[AppendRequest]) -> Committed | None:
        """Commit without waiting; None if another process is writing."""
        turnstile = self._place.turnstile
        if not turnstile.try_enter():
            return None
        try:
            return self._commit(requests) if self._committer.begin() else None
        except sqlite3.Error as error:
            return self._all_failed(requests, error)
        finally:
            turnstile.leave()

    def commit(self, requests: Sequence[AppendRequest]) -> Committed:
        """Wait for our turn, then commit."""
        try:
            return self.run(lambda: self._commit(requests))
        except StoreError as error:
            return self._all_failed(requests, error)

    def run(self, job: Callable[[], Result]) -> Result:
        """Wait for our turn, then run a job in a transaction, which it must end."""
        place = self._place
        place.turnstile.enter(place.lock_timeout)
        try:
            self._wait_to_begin()
            return self._done(job)
        except sqlite3.Error as error:
            raise translate(error, place.path) from error
        finally:
            place.turnstile.leave()

    def _done(self, job: Callable[[], Result]) -> Result:
        """Run a job in the open transaction; rolls back if it fails."""
        try:
            self._place.identities.check()
            return job()
        except BaseException:
            self._committer.roll_back()
            raise

    def _wait_to_begin(self) -> None:
        """Start a transaction, waiting for programs that don't use our lock file."""
        path, timeout = self._place.path, self._place.lock_timeout
        poll(
            self._committer.begin,
            time.monotonic() + timeout,
            lambda: StoreBusy(
                f"Another program has kept {path} locked for more than {timeout:g} s; nothing was "
                "written. Close that program (a database browser, a backup?) and try again.",
                path=str(path),
            ),
        )

    def _commit(self, requests: Sequence[AppendRequest]) -> Committed:
        """Commit the open transaction; an error applies to every request in it."""
        try:
            return self._committer.commit(requests)
        except Exception as error:
            if len(requests) > 1 and _is_about_values(error):
                return self._commit_one_by_one(requests)
            return self._all_failed(requests, error)

    def _commit_one_by_one(self, requests: Iterable[AppendRequest]) -> Committed:
        """Commit each on its own, so that a value that no table accepts fails only its request."""
        outcomes: list[Outcome] = []
        changed: dict[str, int] = {}
        for request in requests:
            try:
                self._wait_to_begin()
                outcome, streams = self._commit([request])
            except (StoreError, sqlite3.Error) as error:
                outcome, streams = self._all_failed([request], error)
            outcomes += outcome
            changed |= streams
        return outcomes, changed

    def _all_failed(self, requests: Sequence[AppendRequest], error: Exception) -> Committed:
        # One exception each, because the waiting tasks would otherwise share one traceback.
        return [self._failure(error) for _ in requests], {}

    def _failure(self, error: Exception) -> Exception:
        if isinstance(error, StoreError):
            failure = type(error)(error.message, **error.context)
        elif isinstance(error, sqlite3.Error):
            failure = translate(error, self._place.path)
        else:
            failure = StoreError(f"{self._place.path} cannot hold a value: {error}.")
        failure.__cause__ = error.__cause__ or error
        return failure


def _is_about_values(error: Exception) -> bool:
    environmental = (sqlite3.OperationalError, sqlite3.InternalError)
    if isinstance(error, sqlite3.Error):
        return not isinstance(error, environmental) and type(error) is not sqlite3.DatabaseError
    return isinstance(error, ValueError | TypeError | OverflowError)
