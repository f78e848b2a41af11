"""The built dashboard: a folder of files, as Vite leaves it."""

from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

BUILT: Final = Path(__file__).parent / "ui"
"""Where the build puts it; git knows nothing of it, the wheel carries it."""

_ASSETS: Final = "assets"
"""The folder whose files have a hash of their content in their name."""

_FOREVER: Final = "public, max-age=31536000, immutable"
_ASK_AGAIN: Final = "no-cache"

# Kept here, because the system's own table differs from machine to machine, and a browser
# runs no script that is not called one.
_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}


class File(NamedTuple):
    """One file, and what a browser has to know about it."""

    content: bytes
    kind: str
    caching: str

    @property
    def tag(self) -> str:
        """What changes with the content: a browser that has it needs nothing else."""
        return f'"{sha256(self.content).hexdigest()[:32]}"'


class Dashboard:
    """Finds the files of one folder, and nothing outside of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def file(self, path: str) -> File | None:
        """The file at an address below the dashboard's; None when there is none."""
        parts = path.split("/")
        if any(_leads_astray(part) for part in parts):
            return None
        found = self._folder.joinpath(*parts)
        try:
            # A link in the folder could lead out of it, as no name can.
            if not found.resolve().is_relative_to(self._folder.resolve()):
                return None
            content = found.read_bytes()
        except OSError:
            return None
        kind = _KINDS.get(found.suffix.lower(), "application/octet-stream")
        return File(content, kind, _FOREVER if is_asset(path) else _ASK_AGAIN)


def is_asset(path: str) -> bool:
    """Whether an address can only be that of a file, never that of a page."""
    return path.partition("/")[0] == _ASSETS


def _leads_astray(part: str) -> bool:
    # Hidden files are not part of the build; an empty part would make the path absolute.
    return part == "" or part.startswith(".") or not part.isprintable() or "\\" in part
