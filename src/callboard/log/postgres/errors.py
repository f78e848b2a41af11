"""Translates PostgreSQL's errors into Callboard's, each with what to do about it."""

import re
from typing import Final

import psycopg

from callboard.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull

CHANGED = "CB001"
"""What our functions raise if a stream is not as the caller read it."""

_RETRIED = frozenset({CHANGED, "40001", "40P01"})
_GONE = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03"})
_LOCKED = "55P03"

_ADMITS = "the server's pg_hba.conf does not allow this user from this host"
_SETTINGS = (
    r'invalid "?\w+"? value|invalid value for|invalid integer value|bad value for|'
    "invalid port number|could not parse network address|unrecognized configuration parameter|"
    "definition of service"
)
_MODES = "disable, allow, prefer, require, verify-ca or verify-full"
# libpq has no code for a failed connection, only a text. The first that is found in it counts.
_REFUSED: Final = {
    r"password authentication failed": (
        "the user or the password is wrong. Check them in the address, or in PGPASSWORD"
    ),
    r"no password supplied": "a password is needed. Add it to the address, or set PGPASSWORD",
    r"(Peer|Ident) authentication failed": (
        "the server expects the system user of that name. Add a host and a password to the address"
    ),
    r'role "(.+)" does not exist': (
        r'the server has no user "\1". Create it: createuser \1, or use another user in the address'
    ),
    r'role "(.+)" is not permitted to log in': (
        r'the user "\1" may not log in. Allow it: ALTER ROLE "\1" LOGIN, or use another user in '
        "the address"
    ),
    r'permission denied for database "(.+)"': (
        r'this user may not use the database. Allow it: GRANT CONNECT ON DATABASE "\1" TO NAME, or '
        "use the owner of the database"
    ),
    r'database "(.+)" is not currently accepting connections': (
        r'the database is closed. Open it: ALTER DATABASE "\1" ALLOW_CONNECTIONS true'
    ),
    r'database "(.+)" does not exist': (
        r'there is no database "\1". Create it: createdb \1, or correct the address'
    ),
    # It was tried with TLS and, if that is allowed, without.
    r"SSL encryption": _ADMITS,
    r"no encryption": (
        f"{_ADMITS} without TLS. Add sslmode=require to the address, or a line to pg_hba.conf"
    ),
    r"no pg_hba.conf entry|pg_hba.conf rejects": _ADMITS,
    r"does not support SSL": (
        "the address requires TLS (sslmode), and the server has none. Turn it on there (ssl = on), "
        "or remove sslmode from the address"
    ),
    r"client certificate|certificate authentication failed|alert (certificate|unknown ca)": (
        "the server asks for a client certificate. Set sslcert and sslkey to one that it accepts "
        "for this user"
    ),
    r"private key.*": (
        r"the client certificate can't be used (\g<0>). Correct sslcert and sslkey in the address"
    ),
    r"certificate": (
        "TLS failed because of a certificate. Set sslrootcert to the certificate of the server's "
        "authority, and use the host name that is in the server's certificate"
    ),
    r"invalid sslmode value.*": rf"\g<0>. Set sslmode in the address to {_MODES}",
    rf"({_SETTINGS}).*": r"\g<0>. Correct it in the address",
    r".*does not exist": r"\g<0>",
}
# Privileges on a schema don't include those on what is in it.
_GRANTED: Final = ("", "ALL TABLES IN ", "ALL SEQUENCES IN ", "ALL FUNCTIONS IN ")
_GRANTS: Final = " ".join(f"GRANT ALL ON {what}SCHEMA public TO NAME;" for what in _GRANTED)
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
    state = error.sqlstate
    if isinstance(error, psycopg.InterfaceError) or state in _GONE or _is_outdated(error):
        return True
    if not isinstance(error, psycopg.OperationalError):
        return False
    return _meaning(error) is None if state is None else state.startswith("08")


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
    meaning = _meaning(error) or _first_line(error)
    return StoreError(f"Cannot connect to {place}: {meaning}.", path=place)


def _meaning(error: psycopg.Error) -> str | None:
    """Why a connection was refused, and what to do; None if another attempt may succeed."""
    text = str(error).strip()
    for known, meaning in _REFUSED.items():
        if found := re.search(known, text):
            return found.expand(meaning)
    return None


def _by_state(state: str, error: psycopg.Error, place: str) -> StoreError:
    said = _first_line(error)
    if state in ("42501", "3F000"):
        return StoreError(
            f"This user may not do that in {place} ({said}). Use the owner of the tables, or let "
            f"the owner grant access: {_GRANTS}",
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
