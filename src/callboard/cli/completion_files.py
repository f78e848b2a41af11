"""What `callboard completion` installs: a script for each shell, and the line that loads it."""

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from platformdirs import user_data_path

from callboard.disk.files import replace

SHELLS: Final = ("bash", "zsh", "fish")
_MARK: Final = "# callboard completion"
_ZSH: Final = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"
"""Sets up completion in a shell whose user hasn't."""


class FileChange(NamedTuple):
    """A change to a file; `lines` are those added or removed, if not all."""

    done: str
    file: Path
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompletionFiles:
    """A shell's script, and the settings file that loads it; fish needs none."""

    shell: str
    script: Path
    settings: Path | None

    @property
    def is_installed(self) -> bool:
        """Whether there is anything to remove."""
        return self.script.exists() or self._line in self._settings_lines()

    def install(self, script: str) -> Iterator[FileChange]:
        """Write what is missing; yields the changes."""
        if _read(self.script) != script:
            done = "Updated" if self.script.exists() else "Wrote"
            self.script.parent.mkdir(parents=True, exist_ok=True)
            replace(self.script, script.encode(), mode=0o644)
            yield FileChange(done, self.script)
        lines = self._settings_lines()
        if self.settings is not None and self._line not in lines:
            self._write([*lines, self._line])
            yield FileChange("Added to", self.settings, (self._line,))

    def uninstall(self) -> Iterator[FileChange]:
        """Remove what `install` wrote, and nothing else; yields the changes."""
        lines = self._settings_lines()
        ours = tuple(one for one in lines if one.endswith(_MARK))
        if self.settings is not None and ours:
            self._write([one for one in lines if one not in ours])
            yield FileChange("Removed from", self.settings, ours)
        if self.script.exists():
            self.script.unlink()
            yield FileChange("Removed", self.script)

    @property
    def _line(self) -> str:
        script = shlex.quote(str(self.script))
        return f"[ -r {script} ] && . {script}  {_MARK}"

    def _settings_lines(self) -> list[str]:
        return [] if self.settings is None else _read(self.settings).splitlines()

    def _write(self, lines: list[str]) -> None:
        assert self.settings is not None
        # Many people keep their settings elsewhere, behind a link, which stays.
        file = self.settings.resolve()
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o644
        replace(
            file, "".join(f"{one}\n" for one in lines).encode(errors="surrogateescape"), mode=mode
        )


def files_of(shell: str) -> CompletionFiles:
    """A shell's files for this user."""
    if shell == "fish":
        config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        return CompletionFiles(shell, config / "fish" / "completions" / "callboard.fish", None)
    script = user_data_path("callboard", False) / f"completion.{shell}"
    home = Path((os.environ.get("ZDOTDIR") if shell == "zsh" else None) or Path.home())
    return CompletionFiles(shell, script, home / f".{shell}rc")


def script_of(shell: str) -> str:
    """The script that a shell loads."""
    from click.shell_completion import ShellComplete, get_completion_class

    from callboard.cli.main import group

    kind = get_completion_class(shell)
    assert kind is not None
    # Not the base class's `source`, which would start bash to find out its version.
    script = ShellComplete.source(kind(group, {}, "callboard", "_CALLBOARD_COMPLETE"))
    return (_ZSH if shell == "zsh" else "") + script.strip() + "\n"


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return ""
