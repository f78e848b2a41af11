"""Where a harness keeps things, and how its sessions get onto the board, by the place it is on."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from callboard.board.places import hooks_folder, make_folders
from callboard.cli.database import Database
from callboard.cli.places import Place
from callboard.cli.remote import Server
from callboard.client.access import is_loopback
from callboard.courier.wire import read_connection
from callboard.harness.folders import Folders, beside, of_server
from callboard.log.location import database_path, default_path
from callboard.vendors.settings import Plan


def folders_of(place: Place) -> Folders:
    """Beside the database; of a server, in the person's state directory."""
    if isinstance(place, Database):
        return beside(place.path)
    assert isinstance(place, Server)
    return of_server(place.url)


def plan_of(place: Place) -> Plan | None:
    """The hooks of a session; None when nothing here leads to that board."""
    database = place.path if isinstance(place, Database) else _database_of(place)
    if database is None:
        return None
    folder = hooks_folder(database)
    make_folders(folder)
    return Plan(folder, database.absolute())


def _database_of(place: Place) -> Path | None:
    """The database of a server, when it is on this machine and the one that is usual here."""
    assert isinstance(place, Server)
    if not is_loopback(place.url):
        return None
    named = os.environ.get("CALLBOARD_DB")
    database = database_path(named) if named else default_path()
    connection = read_connection(str(hooks_folder(database)))
    port = urlsplit(place.url).port
    return database if connection is not None and connection.port == port else None
