"""What was installed where, so that it can be taken back to the last byte.

One file a settings file, in the folder `installed` of the hooks folder. Without it, what is ours
is still found in the settings themselves.
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
    """One settings file as it was before us, and the mark of what we left.

    before: None when there was no file. mode: the file's before us. made: folders we made.
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
        """No one else installs or uninstalls; where nothing was installed, nothing is made."""
        if not make and not self._folder.is_dir():
            yield
            return
        make_private_folder(self._folder)
        with locked(self._folder / ".lock"):
            yield

    def get(self, path: Path) -> InstallRecord | None:
        """What is known of a settings file; what cannot be read counts as nothing."""
        try:
            kept = json.loads(self._file(path).read_text(encoding="utf-8"))
            record = InstallRecord(**kept)
        except (OSError, ValueError, TypeError):
            return None
        return record if record.path == str(path) else None

    def put(self, record: InstallRecord) -> None:
        """Keep a record, whole or not at all."""
        file = self._file(Path(record.path))
        replace(file, json.dumps(asdict(record)).encode())

    def forget(self, path: Path) -> None:
        """There is nothing to take back any more."""
        self._file(path).unlink(missing_ok=True)

    def _file(self, path: Path) -> Path:
        return self._folder / f"{mark(str(path))[:32]}.json"


def mark(text: str) -> str:
    """What tells one text from every other."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
