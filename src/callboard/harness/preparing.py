"""Prepare a session: check everything that could keep it from opening."""

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from callboard.errors import NotFound, ValidationError
from callboard.harness import confirmation_hook
from callboard.harness.checkpoints import Checkpoint, sessions_of
from callboard.harness.folders import Attempt
from callboard.harness.prompts import first_prompt, system_prompt, title
from callboard.harness.request import Wanted, wanted
from callboard.interactions.records import Interaction
from callboard.vendors.claude import launching
from callboard.vendors.claude.extraction import working_directory
from callboard.vendors.claude.launching import Launch, Tools
from callboard.vendors.settings.commands import scripted
from callboard.vendors.settings.installing import InstallPlan


@dataclass(frozen=True, slots=True)
class PreparedSession:
    """What a person is shown before an agent is started for them.

    tools: the content of the MCP config. resumes: the client's own session.
    goes_on: the checkpoint of an earlier attempt whose harness died.
    """

    asked: Interaction
    wanted: Wanted
    program: str
    cwd: Path
    mcp_config: Path | None = None
    tools: Tools | None = None
    resumes: str | None = None
    goes_on: Checkpoint | None = None

    @property
    def mark(self) -> str:
        """A fingerprint that changes with the MCP config, because that runs code."""
        return hashlib.sha256(b"" if self.tools is None else self.tools.content).hexdigest()


def prepared(asked: Interaction, here: Path, goes_on: Checkpoint | None = None) -> PreparedSession:
    """Check everything; raises an error that says what is wrong. here: the harness's folder."""
    asks = wanted(asked)
    resumes = None if asks.resumes is None else _resumed(asks.resumes)
    if goes_on is not None:
        resumes = goes_on.session
    cwd = _directory(here / (asks.cwd or _former(resumes) or "."))
    config = None if asks.mcp_config is None else cwd / asks.mcp_config
    tools = None if config is None else launching.tools_in(config)
    return PreparedSession(asked, asks, _program(), cwd, config, tools, resumes, goes_on)


def words_for(
    ready: PreparedSession, attempt: Attempt, plan: InstallPlan | None
) -> tuple[list[str], str]:
    """The command that opens the session, and the client's id for it. Writes its files."""
    asks = ready.wanted
    session = ready.resumes or _new_session(ready.asked.id, attempt.number)
    prompt = first_prompt(asks, attempt, goes_on=ready.goes_on is not None)
    attempt.write_json("request.json", ready.asked.to_wire())
    attempt.write("prompt.md", prompt)
    readable = [attempt.folder / name for name in ("context.json", "question.md")]
    told = launching.session_settings(
        attempt.folder,
        [one for one in readable if one.exists()],
        _needed(plan, ready.cwd),
        scripted(Path(confirmation_hook.__file__), str(attempt.folder)),
    )
    configs = [attempt.write_json("mcp.json", launching.decision_server(attempt.folder))]
    if ready.tools is not None:
        # What the person was shown: the file itself may have changed since.
        configs.append(attempt.write("tools.json", ready.tools.content))
    launch = Launch(
        session=session,
        name=title(ready.asked.prompt),
        model=asks.model,
        prompt=prompt,
        system_prompt=attempt.write("system.md", system_prompt(asks)),
        settings=attempt.write_json("settings.json", told),
        mcp_configs=configs,
        resumes=ready.resumes is not None,
        own_servers=ready.tools is not None,
    )
    return launching.command(ready.program, launch), session


def _needed(plan: InstallPlan | None, project: Path) -> InstallPlan | None:
    """Our hooks, unless the session already has them."""
    if plan is None or launching.has_our_hooks(plan.folder, project):
        return None
    return plan


def _new_session(question: str, number: int) -> str:
    """An id that the client has never seen. It may still know those of deleted attempts."""
    while True:
        session = launching.session_id(question, number)
        if launching.transcript_of(session) is None:
            return session
        number += 1


def _program() -> str:
    found = shutil.which(launching.PROGRAM)
    if found is None:
        raise NotFound(
            f"Claude Code is not installed here: there is no {launching.PROGRAM!r} in PATH."
        )
    return found


def _directory(path: Path) -> Path:
    if not path.is_dir():
        raise ValidationError(f"Directory not found: {path}.", field="cwd")
    if not os.access(path, os.X_OK):
        raise ValidationError(f"No permission to enter {path}.", field="cwd")
    return path.resolve()


def _former(session: str | None) -> Path | None:
    path = None if session is None else launching.transcript_of(session)
    return None if path is None else working_directory(path)


def _resumed(given: str) -> str:
    """The client's session to resume, given by its own id or by its question's."""
    if launching.is_session(given) and launching.transcript_of(given) is not None:
        return given
    known = sessions_of(given)
    if not known:
        raise ValidationError(
            f"Claude Code has no session {given!r} to resume.", field="resumeSession"
        )
    return known[-1]
