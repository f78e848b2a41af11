"""Where one session's workflow stands among a project's: in the place of now, or archived."""

from collections.abc import Callable
from pathlib import Path

from callboard.disk.project_files import remove
from callboard.errors import StoreCorrupt
from callboard.state.session import SessionView
from callboard.statusfiles import files
from callboard.statusfiles.history import progress
from callboard.statusfiles.location import find_place
from callboard.statusfiles.markdown import generate_markdown, one_line
from callboard.statusfiles.phases import ACTIVE, COMPLETED, FAILED, Told
from callboard.statusfiles.shelf import Shelved, all_workflows
from callboard.statusfiles.story import POSITION, standing, why_stopped
from callboard.statusfiles.workflows import new_id, new_phase, put_away


class PublishingPlace:
    """The files of one session. A project has one place; the last session has it."""

    def __init__(self, root: Path, session_id: str) -> None:
        self._place = find_place(root)
        self._session = session_id
        self._begun = False

    def put(self, told: Told, *, takes_place: bool) -> None:
        """Write what is told, and keep what others have written beside it.

        takes_place: whether to be what people look at, when another workflow is that now.
        """

        with files.locked(self._place.state):
            stays = self._begun or not takes_place
            try:
                is_told = self._change(lambda before: _merged(before, told), archived=stays)
            except StoreCorrupt:  # It is set aside when ours takes its place.
                if not takes_place and self._archived():
                    raise
                is_told = False
            if not is_told:
                self._take_place(told)
            self._begun = True

    def note(self, view: SessionView) -> None:
        """Write how the session stands; its phases only where that follows from it."""
        with files.locked(self._place.state):
            self._change(lambda before: _noted(before, view))

    def _change(self, change: Callable[[Told], Told], *, archived: bool = True) -> bool:
        """Change what is there, perhaps in the archive; whether anything is."""
        now = files.read(self._place.state)
        if now is not None and self._is_ours(now):
            self._write(change(now))
            return True
        found = self._archived() if archived else []
        if found:
            workflow = found[0].workflow or {}
            files.write(self._file_of(found[0]), files.dumped(change(workflow)))
        return bool(found)

    def _take_place(self, told: Told) -> None:
        """Start, or continue with what an earlier process wrote of this session."""
        archived = self._archived()
        made = [new_phase(number, one, True) for number, one in enumerate(told["phases"])]
        put_away(self._place)
        before = archived[0].workflow if archived else None
        self._write(_merged(before or {"id": new_id(self._place), "phases": made}, told))
        for shelved in archived:
            remove(self._file_of(shelved))

    def _is_ours(self, workflow: Told) -> bool:
        return workflow.get("session_id") == self._session

    def _archived(self) -> list[Shelved]:
        """What was archived of this session, the newest first; mostly one, or none."""
        ours = [
            shelved
            for shelved in all_workflows(self._place)
            if not shelved.is_current and shelved.workflow and self._is_ours(shelved.workflow)
        ]
        return sorted(ours, key=lambda one: (one.workflow or {}).get(POSITION, 0), reverse=True)

    def _file_of(self, shelved: Shelved) -> Path:
        return Path(self._place.archive) / f"{shelved.name}.json"

    def _write(self, workflow: Told) -> None:
        files.write(self._place.state, files.dumped(workflow))
        report = generate_markdown(workflow) + _session_part(workflow)
        files.write(self._place.report, report, lasting=False)


def _merged(before: Told, told: Told) -> Told:
    """What is told, over what stands there: fields that others added stay."""
    if before.get(POSITION, 0) > told[POSITION]:
        return before  # Another process has seen more.
    known: dict[str, Told] = {phase["id"]: phase for phase in before["phases"]}
    phases = [known.get(phase["id"], {}) | phase for phase in told["phases"]]
    return before | told | {"phases": phases}


def _noted(before: Told, view: SessionView) -> Told:
    if before.get(POSITION, 0) > view.position:
        return before
    if view.ended is None or view.ended == COMPLETED:
        return before | standing(view)
    stopped = {"status": FAILED, "error": why_stopped(view.ended, view.error)}
    phases = [phase | stopped if phase["status"] == ACTIVE else phase for phase in before["phases"]]
    nothing: Told = {"current_phase": None, "current_phases": []}
    return before | standing(view) | nothing | {"phases": phases}


def _session_part(workflow: Told) -> str:
    """What a session has to tell beyond its phases: how far it is, and whom it waits for."""
    done, total = progress(workflow)
    lines = [
        "",
        "## Session",
        "",
        f"Session: {workflow['session_id']} | Status: {workflow['session_status']} | "
        f"Progress: {done}/{total} phases",
    ]
    for phase in workflow["phases"]:
        if items := phase.get("items"):
            lines += [
                "",
                f"{one_line(phase['title'])}: {items['completed']} of {items['total']} items",
            ]
    questions = workflow["questions"]
    if questions:
        lines += ["", "Waiting for a person:", ""]
        lines += [
            f"- {one_line(one['prompt'])} (callboard answer {one['id']})" for one in questions
        ]
    return "\n".join(lines) + "\n"
