"""Runs git for a limited time, and reads what it prints in parts.

Nothing of the person's environment reaches it, so that no variable names a program, a pager or
another repository.
"""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import IO, Final

from callboard.errors import ValidationError, WorktreeUnreadable
from callboard.worktree.limited_process import limited

_PART: Final = 65_536
_LONGEST_RECORD: Final = 65_536
_LONGEST_ERROR: Final = 4096
_LARGEST_OUTPUT: Final = 1_048_576
_LONGEST_PATH: Final = 4096
_ESCAPED: Final = re.compile(rb"\\x([0-9a-f]{2})")
_KEPT: Final = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "SYSTEMROOT")
_ALWAYS: Final[Mapping[str, str]] = {
    "LC_ALL": "C",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}


class Deadline:
    """The end of the time that several runs of git may take together."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """The seconds until then; 0 if it has passed."""
        return max(0.0, self._end - time.monotonic())


@dataclass(frozen=True, slots=True)
class Git:
    """Git in one folder. options: before the command. environment: besides what is always set."""

    folder: str
    deadline: Deadline
    options: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def output(
        self, *arguments: str | bytes, given: bytes = b"", most: int = _LARGEST_OUTPUT
    ) -> bytes:
        """What a command prints, up to `most` bytes; WorktreeUnreadable if it fails."""
        with self._running(arguments, given) as run:
            printed = run.read(most)
            run.finish(whole=len(printed) < most)
        return printed

    def line(self, *arguments: str | bytes) -> str | None:
        """The line that a command prints; None if it fails or prints nothing."""
        try:
            printed = self.output(*arguments)
        except WorktreeUnreadable:
            if not self.deadline.left:
                raise
            return None
        return shown_path(printed.removesuffix(b"\n")) or None

    def succeeds(self, *arguments: str | bytes, given: bytes = b"") -> bool:
        """Run a command; returns whether it succeeded."""
        try:
            self.output(*arguments, given=given)
        except WorktreeUnreadable:
            if not self.deadline.left:
                raise
            return False
        return True

    def records(self, *arguments: str | bytes, given: bytes = b"") -> Iterator[bytes]:
        """What a command prints with `-z`, one record after the other, as it prints them."""
        with self._running(arguments, given) as run:
            yield from run.records()
            run.finish()

    @contextmanager
    def _running(self, arguments: Sequence[str | bytes], given: bytes) -> "Generator[_Run]":
        command = ["git", "--no-pager", *self.options, *arguments]
        with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as errors:
            told.write(given)
            told.seek(0)
            folder, environment = self.folder, self._whole_environment()
            running = limited(
                command, folder, environment, self.deadline.left, given=told, errors=errors
            )
            with ExitStack() as stack:
                try:
                    process = stack.enter_context(running)
                except OSError as error:
                    raise _not_started(error, folder) from error
                yield _Run(process, errors, self.deadline, folder)

    def _whole_environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return {**kept, **_ALWAYS, **self.environment}


class _Run:
    """A command that runs. errors: the file with what it complains about."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        errors: IO[bytes],
        deadline: Deadline,
        folder: str,
    ) -> None:
        self._process = process
        self._errors = errors
        self._deadline = deadline
        self._folder = folder

    def read(self, most: int) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.read(most)

    def records(self) -> Iterator[bytes]:
        assert self._process.stdout is not None
        printed, rest = self._process.stdout.fileno(), b""
        while part := os.read(printed, _PART):
            *whole, rest = (rest + part).split(b"\0")
            yield from whole
            if len(rest) > _LONGEST_RECORD:
                raise WorktreeUnreadable(
                    "git printed something unexpected (a path that is too long). Update git on "
                    "that machine."
                )

    def finish(self, *, whole: bool = True) -> None:
        """Wait for its end. whole: whether all of its output was read; else it doesn't matter."""
        if not whole:
            return
        status = self._process.wait()
        if not status:
            return
        if not self._deadline.left:
            raise WorktreeUnreadable(
                f"Reading {self._folder} with git took longer than {self._deadline.seconds:g} "
                "seconds. Try again, or use --since commit."
            )
        self._errors.seek(0)
        raise _failed(self._errors.read(_LONGEST_ERROR).decode("utf-8", "replace"), self._folder)


def shown_path(path: bytes) -> str:
    """A path as text. Bytes that are no text are written as \\xNN."""
    return path.decode("utf-8", "backslashreplace")


def paths_shown_as(text: str) -> list[bytes]:
    """The paths that may be shown as this text; ValidationError if they lead out of a folder."""
    parts = text.split("/")
    if not text or "\0" in text or ".." in parts or parts[0] == "" or len(text) > _LONGEST_PATH:
        raise ValidationError("path: expected the path of a changed file.", field="path")
    plain = text.encode("utf-8", "replace")
    escaped = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), plain)
    return [plain] if escaped == plain else [plain, escaped]


def _not_started(error: OSError, folder: str) -> WorktreeUnreadable:
    if not os.path.isdir(folder):  # noqa: PTH112 - the folder is text everywhere here
        return WorktreeUnreadable(f"The folder {folder} doesn't exist anymore.")
    if isinstance(error, FileNotFoundError):
        return WorktreeUnreadable("git is not installed on the agent's machine. Install it there.")
    return WorktreeUnreadable(f"git could not be run in {folder}: {error.strerror or error}.")


def _failed(said: str, folder: str) -> WorktreeUnreadable:
    if "dubious ownership" in said or "unsafe repository" in said:
        return WorktreeUnreadable(
            f"git doesn't read {folder}, because the repository belongs to another user. If you "
            f"trust it: git config --global --add safe.directory {folder}"
        )
    if "not a git repository" in said:
        return WorktreeUnreadable(f"{folder} is not in a git repository.")
    lines = [line for line in said.splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    why = reasons[0].removeprefix("fatal: ").removeprefix("error: ") if reasons else "it failed"
    return WorktreeUnreadable(f"git could not read {folder}: {why.rstrip('.')}.")
