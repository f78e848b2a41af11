"""Translates PostgreSQL's errors into Callboard's, each with what to do about it."""

import psycopg

from callboard.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull

CHANGED = "CB001"
"""What our functions raise if a stream is not as the caller read it."""

_RETRIED = frozenset({CHANGED, "40001", "40P01"})
_GONE = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03"})
_LOCKED = "55P03"

# libpq has no code for a failed connection, only a text.
_REFUSED = {
    "password authentication failed": (
        "the user or the password is wrong. Check them in the address, or in PGPASSWORD"
    ),
    "no password supplied": "a password is needed. Add it to the address, or set PGPASSWORD",
    "Peer authentication failed": (
        "the server expects the system user of that name. Add a host and a password to the address"
    ),
    # It was tried with TLS and, if that is allowed, without.
    "SSL encryption": "the server's pg_hba.conf does not allow this user from this host",
    "no encryption": (
        "the server's pg_hba.conf does not allow this user from this host without TLS. Add "
        "sslmode=require to the address, or a line to pg_hba.conf"
    ),
    "no pg_hba.conf entry": "the server's pg_hba.conf does not allow this user from this host",
    "does not support SSL": (
        "the address requires TLS (sslmode), and the server has none. Turn it on there (ssl = on), "
        "or remove sslmode from the address"
    ),
    "certificate": (
        "TLS failed because of a certificate. Set sslrootcert to the certificate of the server's "
        "authority, and use the host name that is in the server's certificate"
    ),
}
_MISSING = "does not exist"
_FULL = ("too many clients", "remaining connection slots", "too many connections")
_TRY_AFTER = 1
"""Seconds after which another attempt may succeed: our own are never further apart."""


def is_conflict(error: psycopg.Error) -> bool:
    """Whether another transaction was first, so that trying again can succeed."""
    return error.sqlstate in _RETRIED


def is_locked(error: psycopg.Error) -> bool:
    """Whether the statement waited too long for a lock."""
    return error.sqlstate == _LOCKED


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, or couldn't be made, and another one may work."""
    if isinstance(error, psycopg.InterfaceError) or _is_outdated(error):
        return True
    if not isinstance(error, psycopg.OperationalError):
        return False
    state = error.sqlstate
    if state is None:
        text = str(error)
        return not any(known in text for known in (*_REFUSED, _MISSING))
    return state.startswith("08") or state in _GONE


def _is_outdated(error: psycopg.Error) -> bool:
    """Whether a newer version has migrated a table that this connection has prepared to read."""
    return isinstance(error, psycopg.NotSupportedError) and "cached plan" in str(error)


def is_about_values(error: psycopg.Error) -> bool:
    """Whether a value was refused, and not the whole transaction."""
    return isinstance(error, psycopg.DataError | psycopg.IntegrityError)


def translate(error: psycopg.Error, place: str) -> StoreError:
    """The error that says what happened to the database at `place`, and what to do."""
    state = error.sqlstate or ""
    if state in ("28P01", "28000", "3D000") or (not state and not is_lost(error)):
        return _refused(error, place)
    if is_lost(error):
        return _unreachable(error, place)
    return _by_state(state, error, place)


def _unreachable(error: psycopg.Error, place: str) -> StoreError:
    said = _first_line(error)
    if any(known in str(error) for known in _FULL):
        return StoreBusy(
            f"The server of {place} has no connection left ({said}); nothing was written. Try "
            "again in a moment, or raise its max_connections.",
            path=place,
            retry_after=_TRY_AFTER,
        )
    return StoreError(
        f"Cannot reach {place} ({said}); nothing was written. Check that the server is running and "
        "that the address is right.",
        path=place,
        retry_after=_TRY_AFTER,
    )


def _refused(error: psycopg.Error, place: str) -> StoreError:
    text = str(error)
    for known, meaning in _REFUSED.items():
        if known in text:
            return StoreError(f"Cannot log in to {place}: {meaning}.", path=place)
    if "database" in text and _MISSING in text:
        return StoreError(
            f"There is no database at {place}. Create it: createdb NAME, or correct the address.",
            path=place,
        )
    return StoreError(f"Cannot log in to {place}: {_first_line(error)}.", path=place)


def _by_state(state: str, error: psycopg.Error, place: str) -> StoreError:
    said = _first_line(error)
    if state == "42501":
        return StoreError(
            f"This user may not do that in {place} ({said}). Grant it: GRANT ALL ON SCHEMA public "
            "TO the user, or use the owner of the database.",
            path=place,
        )
    if state == "25006":
        return replica(place)
    if state in ("53100", "53200"):
        return StoreFull(
            f"The server of {place} has no space left ({said}); nothing was written and nothing is "
            "lost. Free some space and try again.",
            path=place,
        )
    if state == "53300" or state == _LOCKED or state in _RETRIED:
        return StoreBusy(
            f"{place} is too busy ({said}); nothing was written. Try again in a moment.",
            path=place,
            retry_after=_TRY_AFTER,
        )
    if state in ("XX001", "XX002"):
        return StoreCorrupt(
            f"{place} is damaged ({said}). Restore a backup (pg_restore, or a point in time).",
            path=place,
        )
    return StoreError(f"The database {place} failed ({said}); nothing was written.", path=place)


def replica(place: str) -> StoreError:
    """The error for a server that can't be written to."""
    return StoreError(
        f"{place} is read-only: it is a replica, or default_transaction_read_only is on. Use the "
        "address of the primary.",
        path=place,
    )


def _first_line(error: psycopg.Error) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
