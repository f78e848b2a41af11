"""What was installed where, so that it can be undone byte for byte.

One record per settings file, in the folder `installed` of the hooks folder. Without it, our hooks
are still found in the settings themselves.
"""

import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from callboard.disk.files import replace
from callboard.disk.locks import locked
from callboard.disk.private import make_private_folder


@dataclass(frozen=True, slots=True)
class InstallRecord:
    """A settings file as it was before us, and a hash of what we wrote.

    before: None if there was no file. mode: the file's earlier mode. made: folders we created.
    """

    agent: str
    path: str
    before: str | None
    after: str
    mode: int
    made: list[str] = field(default_factory=list[str])


class Records:
    """The records in one hooks folder."""

    def __init__(self, hooks: Path) -> None:
        self._folder = hooks / "installed"

    @contextmanager
    def alone(self, *, make: bool = True) -> Generator[None]:
        """Lock out other installs and uninstalls. With nothing installed, creates nothing."""
        if not make and not self._folder.is_dir():
            yield
            return
        make_private_folder(self._folder)
        with locked(self._folder / ".lock"):
            yield

    def get(self, path: Path) -> InstallRecord | None:
        """The record of a settings file; None if it can't be read."""
        try:
            kept = json.loads(self._file(path).read_text(encoding="utf-8"))
            record = InstallRecord(**kept)
        except (OSError, ValueError, TypeError):
            return None
        return record if record.path == str(path) else None

    def put(self, record: InstallRecord) -> None:
        """Store a record atomically."""
        file = self._file(Path(record.path))
        replace(file, json.dumps(asdict(record)).encode())

    def forget(self, path: Path) -> None:
        """Delete the record, because there is nothing left to undo."""
        self._file(path).unlink(missing_ok=True)

    def _file(self, path: Path) -> Path:
        return self._folder / f"{mark(str(path))[:32]}.json"


def mark(text: str) -> str:
    """A hash that identifies a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
