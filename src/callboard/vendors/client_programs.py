"""The programs of coding agents: where they are, and the command that starts one with a prompt."""

import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.errors import NotFound, ValidationError
from callboard.vendors.acp.payloads import NAME as ACP
from callboard.vendors.agents import VENDORS
from callboard.vendors.claude.launching import MARK, clean
from callboard.vendors.fields import encodable

LONGEST_PROMPT: Final = 100_000
"""Bytes. Systems limit how long a word of a command line is."""
_LONGEST_PATH: Final = 4096
_USUAL_FOLDERS: Final = (
    "~/.local/bin", "~/.claude/local", "~/.opencode/bin", "~/.npm-global/bin", "~/.bun/bin",
    "~/.volta/bin", "~/bin", "/usr/local/bin",
)  # fmt: skip
"""Where installers put programs. A service's own path often lacks them."""
_OF_SERVERS: Final = frozenset({
    "CALLBOARD_NOTIFY", "CREDENTIALS_DIRECTORY", "LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID",
    "NOTIFY_SOCKET", "PGPASSWORD", "WATCHDOG_PID", "WATCHDOG_USEC",
})  # fmt: skip
"""Variables with a server's secrets, or with which it talks to its service manager."""
_PASSWORD: Final = re.compile(r"postgres(ql)?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ClientProgram:
    """An agent's program.

    install: how to get it. prompted: the words that give it a prompt. resumes_with_prompt: whether
    it takes one for a session that it resumes. alone: the words that keep it from running its
    session in a process that it shares with other terminals.
    """

    install: str
    prompted: Callable[[str], list[str]]
    resumes_with_prompt: bool = True
    alone: tuple[str, ...] = ()


PROGRAMS: Final[Mapping[str, ClientProgram]] = {
    "claude": ClientProgram(
        "npm install -g @anthropic-ai/claude-code", lambda prompt: ["--", prompt]
    ),
    "codex": ClientProgram(
        "npm install -g @openai/codex", lambda prompt: ["--", prompt], alone=("--no-daemon",)
    ),
    "gemini": ClientProgram(
        "npm install -g @google/gemini-cli", lambda prompt: [f"--prompt-interactive={prompt}"]
    ),
    "opencode": ClientProgram(
        "npm install -g opencode-ai",
        lambda prompt: [f"--prompt={prompt}"],
        resumes_with_prompt=False,  # It ignores one.
    ),
}


@dataclass(frozen=True, slots=True)
class AgentStart:
    """An agent to start.

    resume: the id of a session of its own that it continues. alone: in a process of its own: the
    server of another machine doesn't know which terminal has which session of a shared one.
    """

    agent: str
    folder: str
    prompt: str | None = None
    resume: str | None = None
    alone: bool = False

    @property
    def prompt_follows(self) -> bool:
        """Whether the prompt has to be a message, because its program doesn't take it."""
        is_taken = self.resume is None or PROGRAMS[self.agent].resumes_with_prompt
        return bool(self.prompt) and not is_taken


def check_start(wanted: AgentStart) -> None:
    """ValidationError if it can't be right, on any machine."""
    if wanted.agent == ACP:
        raise ValidationError(
            "agent: an agent that speaks ACP is started with its command, on its own machine: "
            f"callboard start {ACP} -- COMMAND",
            field="agent",
        )
    if wanted.agent not in PROGRAMS:
        known = ", ".join(PROGRAMS)
        raise ValidationError(
            f"agent: {wanted.agent[:50]!r} is not known. Use one of: {known}.", field="agent"
        )
    if not wanted.folder.startswith("/") or len(wanted.folder) > _LONGEST_PATH:
        raise ValidationError(
            f"folder: {wanted.folder[:100]!r} is not an absolute path.", field="folder"
        )
    prompt = wanted.prompt or ""
    _check_prompt(prompt)
    for name, text in (("prompt", prompt), ("folder", wanted.folder)):
        if "\0" in text:
            raise ValidationError(f"{name}: remove the NUL character.", field=name)
    if wanted.resume is not None and not VENDORS[wanted.agent].resume(wanted.resume):
        raise ValidationError(
            f"resume: {wanted.resume[:100]!r} is not the id of a session.", field="resume"
        )


def _check_prompt(prompt: str) -> None:
    if len(prompt.encode("utf-8", "replace")) > LONGEST_PROMPT:
        raise ValidationError(
            f"prompt: use at most {LONGEST_PROMPT:,} bytes. Put more into a file, and name it.",
            field="prompt",
        )
    if encodable(prompt) != prompt:
        raise ValidationError("prompt: use only complete characters.", field="prompt")


def prepared(wanted: AgentStart, env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """The command on this machine, and its environment.

    NotFound if the program is not installed, ValidationError if the folder can't be used.
    """
    check_start(wanted)
    check_folder(Path(wanted.folder))
    path = search_path(env)
    found = shutil.which(wanted.agent, path=path)
    vendor, program = VENDORS[wanted.agent], PROGRAMS[wanted.agent]
    if found is None:
        raise NotFound(
            f"{vendor.title} is not installed, or not where `{wanted.agent}` is looked for. "
            f"Install it: {program.install}"
        )
    words = [found, *(vendor.resume(wanted.resume)[1:] if wanted.resume else [])]
    if wanted.alone:
        words += program.alone
    if wanted.prompt and not wanted.prompt_follows:
        words += program.prompted(wanted.prompt)
    return words, {**without_secrets(env), "PATH": path, "PWD": wanted.folder, MARK: "start"}


def search_path(env: Mapping[str, str]) -> str:
    """Where programs are looked for: the usual folders come last."""
    named = [one for one in env.get("PATH", os.defpath).split(os.pathsep) if one]
    usual = [str(Path(one).expanduser()) for one in _USUAL_FOLDERS]
    more = [one for one in usual if one not in named and Path(one).is_dir()]
    return os.pathsep.join([*named, *more])


def without_secrets(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without another agent's session, and without what only a server needs."""
    kept = {name: value for name, value in clean(env).items() if name not in _OF_SERVERS}
    if _PASSWORD.match(kept.get("CALLBOARD_DB", "")):
        del kept["CALLBOARD_DB"]
    return kept


def check_folder(folder: Path) -> None:
    """ValidationError if no agent can work there."""
    try:
        if folder.is_dir() and os.access(folder, os.X_OK):
            return
        is_there = folder.exists()
    except OSError:
        is_there = False
    why = "can't be opened as a folder" if is_there else "does not exist"
    raise ValidationError(f"folder: {folder} {why} there.", field="folder")
