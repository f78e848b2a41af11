"""Where a session's workflow is in a project: the current one, or archived."""

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
    """A session's status files. A project has one current workflow: that of the last session."""

    def __init__(self, root: Path, session_id: str) -> None:
        self._place = find_place(root)
        self._session = session_id
        self._begun = False

    def put(self, told: Told, *, takes_place: bool) -> None:
        """Write the workflow, and keep fields that others have added.

        takes_place: whether to become the project's current workflow if another one is.
        """

        with files.locked(self._place.state):
            stays = self._begun or not takes_place
            try:
                is_told = self._change(lambda before: _merged(before, told), archived=stays)
            except StoreCorrupt:  # It is set aside when ours becomes current.
                if not takes_place and self._archived():
                    raise
                is_told = False
            if not is_told:
                self._take_place(told)
            self._begun = True

    def note(self, view: SessionView) -> None:
        """Write the session's status; its phases only where they follow from it."""
        with files.locked(self._place.state):
            self._change(lambda before: _noted(before, view))

    def _change(self, change: Callable[[Told], Told], *, archived: bool = True) -> bool:
        """Change the workflow, current or archived; returns whether it exists."""
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
        """Become the current workflow, and keep what an earlier process wrote for this session."""
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
        """This session's archived workflows, newest first; usually at most one."""
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
    """The new content over the old; fields that others added are kept."""
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
    """The report's part on the session: its progress and open questions."""
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
