"""Where one session's workflow stands among a project's: in the place of now, or archived."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from callboard.disk.project_files import remove
from callboard.errors import StoreCorrupt
from callboard.state.session import SessionView
from callboard.statusfiles import files
from callboard.statusfiles.location import find_place
from callboard.statusfiles.markdown import generate_markdown, one_line
from callboard.statusfiles.phases import ACTIVE, COMPLETED, FAILED
from callboard.statusfiles.shelf import Shelved, all_workflows
from callboard.statusfiles.story import CANCELLED, POSITION, Told, standing
from callboard.statusfiles.turns import progress
from callboard.statusfiles.workflows import new_id, new_phase, put_away


class PublishingPlace:
    """The files of one session. A project has one place; whoever came last has it."""

    def __init__(self, root: Path, session_id: str) -> None:
        self._place = find_place(root)
        self._session = session_id
        self._begun = False

    def put(self, told: Told, *, takes_place: bool) -> None:
        """Write what is told, and keep what others have written beside it.

        takes_place: whether to be what people look at, when another workflow is that now.
        """

        def change(before: Told) -> Told:
            return _merged(before, told)

        # What was broken or removed meanwhile is begun again.
        if not (self._begun and self._is_changed(change)):
            self._begin(told, takes_place)
            self._begun = self._change(change)

    def note(self, view: SessionView) -> None:
        """Write how the session stands; its phases only where that follows from it."""
        self._change(lambda before: _noted(before, view))

    def _begin(self, told: Told, takes_place: bool) -> None:
        """Take the place, with what an earlier process wrote of this session."""
        if self._is_current() or (not takes_place and self._archived()):
            return
        archived = self._archived()
        made = [new_phase(number, one, True) for number, one in enumerate(told["phases"])]
        # At once: between two writes nobody would know whose it is.
        with files.locked(self._place.state):
            put_away(self._place)
            before = archived[0].workflow if archived else None
            self._write(_merged(before or {"id": new_id(self._place), "phases": made}, told))
            for shelved in archived:
                remove(self._file_of(shelved))

    def _is_changed(self, change: Callable[[Told], Told]) -> bool:
        try:
            return self._change(change)
        except StoreCorrupt:
            return False

    def _change(self, change: Callable[[Told], Told]) -> bool:
        """Change what is there; whether anything is."""
        with files.locked(self._place.state):
            now = files.read(self._place.state)
            if now is not None and self._is_ours(now):
                self._write(change(now))
                return True
            archived = self._archived()
            if not archived:
                return False
            workflow = archived[0].workflow or {}
            files.write(self._file_of(archived[0]), files.dumped(change(workflow)))
            return True

    def _is_current(self) -> bool:
        try:
            now = files.read(self._place.state)
        except StoreCorrupt:
            return False  # It is set aside when ours takes its place.
        return now is not None and self._is_ours(now)

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
    known: dict[Any, Any] = {phase["id"]: phase for phase in before["phases"]}
    phases = [known.get(phase["id"], {}) | phase for phase in told["phases"]]
    return before | told | {"phases": phases}


def _noted(before: Told, view: SessionView) -> Told:
    if before.get(POSITION, 0) > view.position:
        return before
    if view.ended is None or view.ended == COMPLETED:
        return before | standing(view)
    stopped = {"status": FAILED, "error": (view.error or {}).get("message", CANCELLED)}
    phases = [phase | stopped if phase["status"] == ACTIVE else phase for phase in before["phases"]]
    return before | standing(view) | {"phases": phases, "current_phase": None}


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
