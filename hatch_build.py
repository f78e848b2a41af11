"""Refuses to pack Callboard without its dashboard: people who install a wheel cannot build it."""

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

UI = Path("src", "callboard", "server", "ui")
PAGES = ("index.html", "docs.html")

# What a page refers to, by the address under which the server shows it.
_REFERENCE = re.compile(r"""(?:src|href)=["']/app/([^"'?#]+)["']""")


class DashboardHook(BuildHookInterface):
    """Looks at what Vite built before anything is packed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Stop the build unless the dashboard is there, whole. An editable install needs none."""
        if version == "editable":
            return
        for name in PAGES:
            self._check(Path(self.root, UI), name)

    def _check(self, folder: Path, page: str) -> None:
        if not (folder / page).is_file():
            self._refuse(f"{UI / page} is missing")
        references = _REFERENCE.findall((folder / page).read_text(encoding="utf-8"))
        missing = [name for name in references if not (folder / name).is_file()]
        if missing:
            self._refuse(f"{UI / page} refers to {', '.join(missing)}, which is missing")

    def _refuse(self, reason: str) -> None:
        message = f"{reason}: build the dashboard first, with `make setup` or `npm run build`."
        raise SystemExit(message)
