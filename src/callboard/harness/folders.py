"""What a harness stores during a session, in files that only its user can open.

A decision is here from its submission until it is recorded, so it survives a crash of the harness,
the server or the machine.
"""

import errno
import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from callboard.disk.files import replace
from callboard.disk.private import make_own_folder
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, is_object
from callboard.harness.confirmation import DecisionCall, HookObservation, KeptDecision
from callboard.harness.confirmation_hook import FILE, append
from callboard.ids import short_id
from callboard.interactions.records import Interaction
from callboard.vendors.fields import word

PREFIX: Final = "attend-"
"""Not the database's name: agents may not read files whose names start with that."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,100}")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a session, with its own folder."""

    folder: Path

    @property
    def number(self) -> int:
        """The number of the attempt, from 1."""
        return int(self.folder.name)

    def write(self, name: str, content: bytes | str) -> Path:
        """Write a file atomically, and sync it to disk."""
        path = self.folder / name
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        replace(path, data)
        return path

    def write_json(self, name: str, value: Json) -> Path:
        """The same for a JSON value."""
        return self.write(name, orjson.dumps(value))

    def read_json(self, name: str) -> dict[str, Json] | None:
        """The object in a file; None if it is missing or unreadable."""
        try:
            found = orjson.loads((self.folder / name).read_bytes())
        except (OSError, ValueError):
            return None
        return found if is_object(found) else None

    @property
    def asked(self) -> Interaction | None:
        """The question as it was when the session started; None if it can't be read."""
        wire = self.read_json("request.json")
        with suppress(KeyError, TypeError, ValueError):  # Written by another version.
            return None if wire is None else Interaction.from_wire(wire)
        return None

    def keep_decision(self, decision: Json, call: str | None = None) -> None:
        """Keep what the person confirmed, replacing an earlier decision. call: the client's id."""
        self.write_json("decision.json", {"decision": decision, "call": call})
        (self.folder / "proposal.json").unlink(missing_ok=True)

    def keep_proposal(self, decision: Json, call: str | None) -> None:
        """Keep what was submitted without confirmation. The person is asked about it again."""
        self.write_json("proposal.json", {"decision": decision, "call": call})

    @property
    def decision(self) -> KeptDecision | None:
        """What the person confirmed last, if anything."""
        return self._kept("decision.json")

    @property
    def proposal(self) -> KeptDecision | None:
        """What was submitted last without confirmation, if no decision followed."""
        return self._kept("proposal.json")

    def _kept(self, name: str) -> KeptDecision | None:
        found = self.read_json(name) or {}
        if "decision" not in found:
            return None
        return {"decision": found["decision"], "call": word(found.get("call"))}

    @property
    def session(self) -> str | None:
        """The client's session id, once it is open."""
        return word((self.read_json("agent.json") or {}).get("session"))

    def observe(self, call: DecisionCall) -> None:
        """Record that the tool counted a call."""
        told = {"event": "submitted", "session": call.session}
        append(str(self.folder), {**told, "call": call.id, "arguments": call.arguments})

    @property
    def seen(self) -> list[HookObservation]:
        """What the hooks and the tool observed, in order. Unreadable lines are left out."""
        try:
            lines = (self.folder / FILE).read_bytes().splitlines()
        except OSError:
            return []
        return [one for one in map(_observation, lines) if one is not None]

    def set_aside(self) -> Path:
        """Move it where it is no longer found as an attempt."""
        return self.folder.rename(self.folder.with_name(f"unread-{self.number}-{short_id()}"))

    def remove(self) -> None:
        """Delete it; the question's folder goes with its last attempt."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):
            self.folder.parent.rmdir()


@dataclass(frozen=True, slots=True)
class Folders:
    """The attempts at all sessions of one database or server."""

    root: Path

    def begin(self, interaction_id: str, by: Object) -> Attempt:
        """Start a new attempt at a session. by: the harness, so that others leave it alone."""
        parent = self.of(interaction_id)
        for folder in (self.root, parent):
            make_own_folder(folder)
        draft = Attempt(parent / f".{short_id()}")
        draft.folder.mkdir(mode=0o700)
        draft.write_json("harness.json", by)
        number = 1 + max((one.number for one in self._tries(parent)), default=0)
        while True:
            try:
                draft.folder.rename(parent / str(number))
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
                number += 1
                continue
            return Attempt(parent / str(number))

    def of(self, interaction_id: str) -> Path:
        """The folder for all attempts at a session. It may not exist."""
        return self.root / _named(interaction_id)

    def tries(self, interaction_id: str) -> list[Attempt]:
        """The stored attempts at a session, oldest first."""
        return self._tries(self.of(interaction_id))

    def all(self) -> Iterator[Attempt]:
        """Every stored attempt."""
        with suppress(OSError):
            for parent in sorted(self.root.iterdir()):
                yield from self._tries(parent)

    def _tries(self, parent: Path) -> list[Attempt]:
        try:
            names = [one.name for one in parent.iterdir() if one.name.isdecimal()]
        except OSError:
            return []
        return [Attempt(parent / name) for name in sorted(names, key=int)]


def beside(database: Path) -> Folders:
    """The folders of a database."""
    return Folders(database.absolute().with_name(PREFIX + database.name))


def of_server(url: str) -> Folders:
    """The folders of a server, which may be on another machine."""
    from platformdirs import user_state_path

    return Folders(user_state_path("callboard", appauthor=False) / "attend" / _named(url))


def _named(id: str) -> str:
    """A name for a folder, because a question's id may not be a valid one."""
    return id if _NAME.fullmatch(id) else "x" + hashlib.sha256(id.encode()).hexdigest()[:32]


def _observation(line: bytes) -> HookObservation | None:
    try:
        told = as_object(orjson.loads(line))
    except ValueError:
        return None
    event, arguments = told.get("event"), word(told.get("arguments"))
    session = word(told.get("session"))
    if event not in ("proposed", "asked", "submitted") or arguments is None or session is None:
        return None
    return HookObservation(
        event, arguments, session, word(told.get("prompt")), word(told.get("call"))
    )
