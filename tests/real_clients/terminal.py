"""A terminal that a test can type into and look at: a tmux server of its own, one pane."""

import asyncio
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.real_clients.patience import PATIENCE, until

COLUMNS, LINES = 140, 50
_PRESS_AGAIN = 0.5
"""Seconds. A dialog takes no key in its first moments, lest somebody's typing answers it."""

TELLING: Final = ("sh", "-c", '"$@"; echo "left with $?"', "sh")
"""Before a command, lets the terminal show how it ended: tmux forgets it now and then."""


class Terminal:
    """Runs a command, with nothing in its environment but `env`."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self.command, self.cwd, self.env = list(command), cwd, dict(env)

    def __enter__(self) -> Self:
        # The path of a socket may be a hundred characters long; those of tests are longer.
        self._folder = Path(tempfile.mkdtemp(prefix="cb-tmux-"))
        size = ["-x", str(COLUMNS), "-y", str(LINES)]
        options = ["set-option", "-g", "remain-on-exit", "on", ";"]
        new = ["new-session", "-d", *size, "-c", str(self.cwd), "--", *self.command]
        self._tmux("start-server", ";", *options, *new)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            lines = [line.rstrip() for line in self.screen.splitlines()]
            error.add_note("\n".join(filter(None, lines)))
        self._tmux("kill-server", check=False)
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        """The number of the command's process."""
        return int(self._told("pane_pid"))

    @property
    def is_over(self) -> bool:
        """Whether the command has ended."""
        return self._told("pane_dead") == "1"

    @property
    def screen(self) -> str:
        """What a person would see."""
        return self._tmux("capture-pane", "-p", "-J")

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names for them: Enter, Escape, C-c."""
        self._tmux("send-keys", *keys)

    async def type(self, text: str) -> None:
        """Type a line, see it, and press Enter."""
        self._tmux("send-keys", "-l", text)
        await self.shows(text)
        self.press("Enter")

    async def fill(self, field: str, text: str) -> None:
        """Type into a field of a dialog and press Enter, until the dialog is gone.

        On a busy machine, a client has emptied the field at Enter, and stayed in its dialog.
        """
        while field in (screen := self.screen):
            if text not in screen:
                await self.type(text)
            await asyncio.sleep(_PRESS_AGAIN)

    async def shows(self, *texts: str, within: float = PATIENCE) -> str:
        """Wait until all of these can be seen at once."""

        def look() -> str:
            screen = self.screen
            return screen if all(text in screen for text in texts) else ""

        return await until(look, f"{texts} on the screen", within)

    async def leaves(self, text: str, *keys: str) -> float:
        """Press keys until a dialog with this text is gone; tells when they were pressed last."""
        pressed = 0.0

        def look() -> bool:
            nonlocal pressed
            if text not in self.screen:
                return True
            if time.time() - pressed > _PRESS_AGAIN:
                pressed = time.time()
                self.press(*keys)
            return False

        await self.shows(text)
        await until(look, f"the end of {text!r}")
        return pressed

    async def choose(self, suggested: str, wanted: str) -> None:
        """Choose the answer below the one that a dialog suggests, and wait until it is gone.

        On a busy machine, a second Down leads back to the first answer. So Enter is pressed only
        once the answer stays the same for a while.
        """
        await self.shows(suggested)
        before = ""
        while suggested in (screen := self.screen) or wanted in screen:
            now = wanted if wanted in screen else suggested
            if now == before:
                self.press("Enter" if now == wanted else "Down")
            before = "" if now == before else now
            await asyncio.sleep(_PRESS_AGAIN)

    async def ends(self) -> None:
        """Wait until the command has ended."""
        await until(lambda: self.is_over, "the end of the command")

    def _told(self, name: str) -> str:
        return self._tmux("display-message", "-p", f"#{{{name}}}").strip()

    def _tmux(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self._folder / "tmux"), "-f", "/dev/null", *arguments],
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"tmux {arguments}: {done.stderr}")
        return done.stdout
