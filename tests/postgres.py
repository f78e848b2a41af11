"""The PostgreSQL server of the tests, with a database that is emptied for each of them."""

from functools import partial

from tools import postgres_server

from callboard.clock import SystemClock
from callboard.events.rows import KEYS

_SHARED = "shared"
_DISCONNECT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_OTHERS = ("tokens", "server_state", "limits", "slots", "owners")
_EMPTY = [
    *(f"DELETE FROM {table}" for table in (*KEYS, "events", "streams", *_OTHERS)),
    "UPDATE log SET seq = 0, incarnation = 1",
]


class PostgresServer(postgres_server.PostgresServer):
    """One server, and databases in it."""

    _has_shared = False

    def emptied(self) -> str:
        """The address of a database with our tables and nothing in them, always the same."""
        # Imported here, because tests of the other logs need none of this.
        from callboard.log.postgres.connections import PostgresAddress
        from callboard.log.postgres.setup import set_up

        if not self._has_shared:
            self.execute(f"CREATE DATABASE {_SHARED}")
            set_up(PostgresAddress.parse(self.url(_SHARED), 30.0), SystemClock())
            self._has_shared = True
        # A new database for each test would take half a second.
        self.execute("; ".join([_DISCONNECT, *_EMPTY]), _SHARED)
        return self.url(_SHARED)


running_server = partial(postgres_server.running_server, PostgresServer)
