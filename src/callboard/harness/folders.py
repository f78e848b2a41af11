"""What a harness keeps of a session while it lasts: files that no one else may open.

A decision lies here from the moment in which it is submitted until it is recorded. So it is found
again when the harness dies, or the server, or the machine.
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
"""A prefix: agents may not read files whose names start with the name of the database."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,100}")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at one session: a folder of its own."""

    folder: Path

    @property
    def number(self) -> int:
        """Which try it is, from 1."""
        return int(self.folder.name)

    def write(self, name: str, content: bytes | str) -> Path:
        """Put a file there, whole, and on the disk before this returns."""
        path = self.folder / name
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        replace(path, data)
        return path

    def write_json(self, name: str, value: Json) -> Path:
        """The same for a value."""
        return self.write(name, orjson.dumps(value))

    def read_json(self, name: str) -> dict[str, Json] | None:
        """The object in a file; None when there is none that can be read."""
        try:
            found = orjson.loads((self.folder / name).read_bytes())
        except (OSError, ValueError):
            return None
        return found if is_object(found) else None

    @property
    def asked(self) -> Interaction | None:
        """The question, as it was when the session was started; None when it cannot be read."""
        wire = self.read_json("request.json")
        with suppress(KeyError, TypeError, ValueError):  # As another version wrote it.
            return None if wire is None else Interaction.from_wire(wire)
        return None

    def keep_decision(self, decision: Json, call: str | None = None) -> None:
        """Keep what the person confirmed; a later decision replaces it. call: the client's id."""
        self.write_json("decision.json", {"decision": decision, "call": call})
        (self.folder / "proposal.json").unlink(missing_ok=True)

    def keep_proposal(self, decision: Json, call: str | None) -> None:
        """Keep what was submitted without the person's confirmation: they are asked again."""
        self.write_json("proposal.json", {"decision": decision, "call": call})

    @property
    def decision(self) -> KeptDecision | None:
        """What the person confirmed last, or None while there is nothing."""
        return self._kept("decision.json")

    @property
    def proposal(self) -> KeptDecision | None:
        """The last that was submitted without confirmation, if no decision followed."""
        return self._kept("proposal.json")

    def _kept(self, name: str) -> KeptDecision | None:
        found = self.read_json(name) or {}
        if "decision" not in found:
            return None
        return {"decision": found["decision"], "call": word(found.get("call"))}

    @property
    def session(self) -> str | None:
        """The client's id of the session, once it is opened."""
        return word((self.read_json("agent.json") or {}).get("session"))

    def observe(self, call: DecisionCall) -> None:
        """Note that the tool has counted a call."""
        told = {"event": "submitted", "session": call.session}
        append(str(self.folder), {**told, "call": call.id, "arguments": call.arguments})

    @property
    def seen(self) -> list[HookObservation]:
        """What the hooks and the tool saw, in order; lines that cannot be read are left out."""
        try:
            lines = (self.folder / FILE).read_bytes().splitlines()
        except OSError:
            return []
        return [one for one in map(_observation, lines) if one is not None]

    def set_aside(self) -> Path:
        """Keep it where no one looks for tries any more."""
        return self.folder.rename(self.folder.with_name(f"unread-{self.number}-{short_id()}"))

    def remove(self) -> None:
        """Forget it; the folder of the question goes with its last try."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):
            self.folder.parent.rmdir()


@dataclass(frozen=True, slots=True)
class Folders:
    """The tries at all sessions of one database, or of one server."""

    root: Path

    def begin(self, interaction_id: str, by: Object) -> Attempt:
        """A new try at a session. by: the harness, so that others leave it alone from the start."""
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
        """The folder of all tries at a session; it need not be there."""
        return self.root / _named(interaction_id)

    def tries(self, interaction_id: str) -> list[Attempt]:
        """The tries at a session that are kept, oldest first."""
        return self._tries(self.of(interaction_id))

    def all(self) -> Iterator[Attempt]:
        """Every try that is kept."""
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
    """Those of a database."""
    return Folders(database.absolute().with_name(PREFIX + database.name))


def of_server(url: str) -> Folders:
    """Those of a server, which is perhaps on another machine."""
    from platformdirs import user_state_path

    return Folders(user_state_path("callboard", appauthor=False) / "attend" / _named(url))


def _named(id: str) -> str:
    """A name for a folder: what a server calls a question need not be one."""
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
