"""The built dashboard: the folder of files that Vite writes."""

from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

BUILT: Final = Path(__file__).parent / "ui"
"""Where the build puts it. Not in git, but part of the wheel."""

_ASSETS: Final = "assets"
"""The folder whose file names contain a content hash."""

_PACKED: Final = ".gz"
"""What the build adds to the name of a file for its compressed copy."""

_FOREVER: Final = "public, max-age=31536000, immutable"
_ASK_AGAIN: Final = "no-cache"

# Our own table, because the system's differs from machine to machine, and browsers don't run
# scripts of the wrong type.
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
    """A file and its response headers."""

    content: bytes
    kind: str
    caching: str
    encoding: str | None = None
    """How the content is compressed, if it is."""

    @property
    def tag(self) -> str:
        """An ETag for the content."""
        return f'"{sha256(self.content).hexdigest()[:32]}"'


class Dashboard:
    """Finds the files in one folder, and nothing outside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def file(self, path: str, *, packed: bool = False) -> File | None:
        """The file at a path below the dashboard's; None if there is no such file.

        With `packed` it is the copy that the build compressed, where that is smaller.
        """
        parts = path.split("/")
        if any(_leads_astray(part) for part in parts):
            return None
        found = self._folder.joinpath(*parts)
        try:
            # A name can't lead outside the folder, but a symlink can.
            if not found.resolve().is_relative_to(self._folder.resolve()):
                return None
            smaller = found.with_name(found.name + _PACKED)
            is_packed = packed and smaller.is_file()
            content = (smaller if is_packed else found).read_bytes()
        except OSError:
            return None
        kind = _KINDS.get(found.suffix.lower(), "application/octet-stream")
        caching = _FOREVER if is_asset(path) else _ASK_AGAIN
        return File(content, kind, caching, "gzip" if is_packed else None)


def is_asset(path: str) -> bool:
    """Whether a path can only be a file's, never a page's."""
    return path.partition("/")[0] == _ASSETS


def _leads_astray(part: str) -> bool:
    # Hidden files aren't part of the build; an empty part would make the path absolute.
    return part == "" or part.startswith(".") or not part.isprintable() or "\\" in part
