"""Turns a report into events of a plate's stream: what happened, was asked, or is over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from callboard.board.dialogs import Closed, Moment
from callboard.board.fold import apply
from callboard.board.plate import Plate, changed
from callboard.board.repeats import kept
from callboard.board.transition import ASKS, PLANS
from callboard.events import names, plates
from callboard.events.envelope import Json, NewEvent
from callboard.events.event_name import Entry
from callboard.events.json_values import as_object
from callboard.ids import event_id
from callboard.interactions.records import Interaction
from callboard.interactions.settlement import settle
from callboard.vendors.reports import SUBAGENT, HookRequest, Report

if TYPE_CHECKING:
    from callboard.events.payloads.people import InputRequestedPayload

_KNOWN: Final = plates.HOOK_HEARD({"hook": "PermissionRequest"})
"""What is reported of a request that was reported before, when it changes the plate again."""
_TYPES: Final[Mapping[str, str]] = {ASKS: "question", PLANS: "plan"}
"""The type of question by the tool that asks; all other tools ask for permission."""


@dataclass(slots=True)
class Recording:
    """The plate as it changes, and the events that report the changes."""

    before: Plate | None
    plate: Plate
    told: list[Entry] = field(default_factory=list[Entry])

    def add(
        self,
        signal: Entry,
        moment: Moment,
        asked: str | None = None,
        raw: Json = None,
        known: bool = False,
    ) -> tuple[Closed, ...]:
        """Fold a signal and report it; returns the questions that it says something about.

        known: it was reported before, so that only what it changes is reported.
        """
        folded = apply(self.plate, signal, moment, asked)
        if known:
            self.change(_KNOWN, folded.plate)
            return folded.closed
        payload = signal.payload
        if raw is not None:
            payload = {**payload, "raw": raw}
            payload.pop("toolInput", None)  # The raw payload has it.
        self.change(Entry(signal.name, payload), folded.plate)
        return folded.closed

    def change(self, told: Entry, plate: Plate) -> None:
        """Report an event, with what it changed about the plate."""
        # The first event of a new plate has the whole plate. It also has what the sender knows
        # about itself.
        news = changed(self.plate if self.told else self.before, plate)
        self.told.append(told._replace(payload={**told.payload, "plate": news}) if news else told)
        self.plate = plate

    def ask(self, request: HookRequest, id: str) -> None:
        """Add the client's question to the inbox."""
        plate = self.plate
        config = {**request.config, "plateId": plate.plate_id, "agent": plate.agent}
        if SUBAGENT in config:
            config[SUBAGENT] = {**as_object(config[SUBAGENT]), "parent": plate.label}
        payload: InputRequestedPayload = {
            "id": id,
            "type": request.type,
            "prompt": request.prompt,
            "config": config,
            "executionId": plate.session_id,
        }
        if request.options:
            payload["options"] = list(request.options)
            payload["other"] = True
        self.told.append(names.REQUESTED(payload))

    def settle(self, closed: Closed, asked: Interaction | None) -> None:
        """Record what became of a question, as far as it is known and not recorded yet."""
        type = _TYPES.get(closed.tool, "permission") if asked is None else asked.type
        told = settle(closed.id, type, asked, closed.outcome)
        if told is not None:
            self.told.append(told)

    def events(self, at_ms: int) -> list[NewEvent]:
        """The events to append."""
        return [NewEvent(event_id(), name, payload, at_ms) for name, payload in self.told]


def record(
    before: Plate | None,
    plate: Plate,
    report: Report,
    moment: Moment,
    questions: Mapping[str, Interaction],
) -> Recording:
    """The events for a report; `questions` are those of the plate, in their current status."""
    recording = Recording(before, _numbered(_with_facts(plate, report, moment.fresh), report))
    for index, signal in enumerate(report.signals):
        asks = signal.name == plates.PERMISSION_REQUEST and report.request is not None
        asked = report.hold if asks else None
        raw = kept(report.raw) if index == 0 else None
        told = signal._replace(payload={**signal.payload, "sessionId": report.session_id})
        closed = recording.add(told, moment, asked, raw, report.known)
        # A request from a session that has ended opens no dialog.
        if asked and report.request and recording.plate.dialog(asked) is not None:
            recording.ask(report.request, asked)
        for one in closed:
            if one.id == report.hold or one.id in questions:
                recording.settle(one, questions.get(one.id))
    return recording


def _numbered(plate: Plate, report: Report) -> Plate:
    """With the number of the report, so that it is recorded once, in the same append."""
    return plate if report.relayed is None else plate.having(relayed=str(report.relayed))


def _with_facts(plate: Plate, report: Report, fresh: bool) -> Plate:
    """What the sender knows about itself. What it doesn't know stays as it was."""
    begins = any(signal.name == plates.SESSION_START for signal in report.signals)
    if report.session_id != plate.session_id and not (begins or fresh):
        return plate
    told = {
        "project_path": report.project_path,
        "transcript_path": report.transcript_path,
        "git_branch": report.git_branch,
        "tmux_target": _pane(plate, report),
        "model": report.model,
        "name": None if plate.name else report.name,
        "pid": report.pid,
        "proc_start": report.proc_start,
        "boot_id": report.boot_id,
        "client_pid": report.client_pid,
        "client_start": report.client_start,
        "host": report.host,
        "host_name": report.host_name,
    }
    return plate.having(**{key: value for key, value in told.items() if value is not None})


def _pane(plate: Plate, report: Report) -> str | None:
    """The terminal's location. A daemon's hooks only know the terminal that started the daemon."""
    of_daemon = plate.client_pid is not None and report.client_pid is None
    return None if of_daemon else report.tmux_target
