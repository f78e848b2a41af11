"""What a relay knows about its server and its machine, in a file that only its user can read."""

import json
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from callboard.disk.files import read, replace
from callboard.disk.private import make_own_folder
from callboard.errors import NotFound, StoreError
from callboard.events.json_values import as_list, as_object, as_text

Power = Literal["read", "say", "start"]
"""What the owner of a machine may let servers do there."""
POWERS: Final[tuple[Power, ...]] = get_args(Power)

_LARGEST: Final = 65_536


@dataclass(frozen=True, slots=True)
class RelaySettings:
    """A paired machine.

    host: its permanent id. name: what people call it. ca_file: certificates to trust instead of
    the system's. powers: what servers may do here, besides getting reports and deciding.
    """

    server: str
    token: str
    host: str
    name: str
    ca_file: str | None = None
    powers: tuple[Power, ...] = ()


def settings_file(folder: Path) -> Path:
    """Where a relay's settings are stored."""
    return folder / "relay.json"


def secret_of(folder: Path) -> str:
    """The secret of a relay, which is made when it is first needed.

    A server that has heard it once doesn't accept the machine's token without it.
    """
    # Named like this, it is among the files that agents are not to read.
    file = folder / f"{settings_file(folder).name}.secret"
    try:
        return read(file, _LARGEST).decode("ascii", "replace")
    except FileNotFoundError:
        made = secrets.token_urlsafe(32)
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error}.") from error
    try:
        make_own_folder(folder)
        replace(file, made.encode())
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error}.") from error
    return made


def hooks_of(folder: Path) -> Path:
    """The hooks folder of a relay: hooks find the relay there, and leave payloads there."""
    return folder / "hooks"


def read_settings(folder: Path) -> RelaySettings:
    """The settings; NotFound if this machine was not paired."""
    try:
        told = as_object(json.loads(read(settings_file(folder), _LARGEST)))
    except FileNotFoundError as error:
        raise NotFound(
            "This machine is not paired with a server. Make a code there with `callboard pair`, "
            "then: callboard relay --server URL --pair CODE"
        ) from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{settings_file(folder)} cannot be read: {error}.") from error
    return RelaySettings(
        as_text(told.get("server")),
        as_text(told.get("token")),
        as_text(told.get("host")),
        as_text(told.get("name")),
        as_text(told.get("ca_file")) or None,
        granted(as_list(told.get("powers"))),
    )


def granted(names: Iterable[object]) -> tuple[Power, ...]:
    """The powers with these names, in the usual order. Unknown names grant nothing."""
    given = set(names)
    return tuple(power for power in POWERS if power in given)


def write_settings(folder: Path, settings: RelaySettings) -> None:
    """Store the settings, with mode 0600."""
    try:
        make_own_folder(folder)
        replace(settings_file(folder), json.dumps(asdict(settings)).encode())
    except OSError as error:
        raise StoreError(f"{settings_file(folder)} cannot be written: {error}.") from error
