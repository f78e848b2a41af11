"""A Claude Code hook that moves the phase it reports on, without a server."""

from typing import Final

from callboard.events.json_values import Object, as_object
from callboard.statusfiles import files, todos
from callboard.statusfiles.correlation import phase_for, status_of
from callboard.statusfiles.location import StatusFolder
from callboard.statusfiles.memory import HookMemory, remembering
from callboard.statusfiles.phases import ACTIVE, COMPLETED, FAILED, Workflow, find_phase
from callboard.statusfiles.results import (
    agent_of,
    failure_in,
    failure_of,
    is_launch,
    result_of,
    words_of,
)
from callboard.statusfiles.turns import advance
from callboard.statusfiles.workflows import update_phase_status

AGENT_TOOLS: Final = ("Agent", "Task", "SubagentTask", "AgentTask")
"""The tool's current name and earlier ones."""

SPEAKING: Final = ("PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart")
"""Events whose hooks can add context. On others, context would make an agent continue."""

_STILL_TOLD: Final = {COMPLETED: (COMPLETED,), FAILED: (ACTIVE,)}
"""What can still be reported for a finished phase: more deliverables, or that it is retried."""


def heard(payload: Object, place: StatusFolder) -> dict[str, object] | None:
    """Apply the payload to the phases; returns what the hook should print, if anything."""
    workflow = files.read(place.state)
    if workflow is None or "session_id" in workflow:
        return None  # A session's published files follow only its log.
    with remembering(place, workflow["id"]) as memory:
        HookUpdate(place, workflow, memory, payload).hear()
        now = files.read(place.state)
        return None if now is None else _context(payload, memory, now)


class HookUpdate:
    """Applies one payload."""

    def __init__(
        self, place: StatusFolder, workflow: Workflow, memory: HookMemory, payload: Object
    ) -> None:
        self._place = place
        self._workflow = workflow
        self._memory = memory
        self._payload = payload
        self._call = str(payload.get("tool_use_id") or "")
        self._session = str(payload.get("session_id") or "")

    def hear(self) -> None:
        """Handle the event."""
        event, tool = self._payload.get("hook_event_name"), self._payload.get("tool_name")
        if event == "UserPromptSubmit":
            self._memory.forget(self._session, agents=False)
        elif event == "SessionStart":
            # A compacted or cleared session continues, and so do its agents.
            if self._payload.get("source") not in ("compact", "clear"):
                self._memory.forget(self._session, agents=True)
        elif event == "SubagentStop":
            self._stopped()
        elif event == "TaskCompleted" or (event == "PostToolUse" and tool in todos.TOOLS):
            self._listed()
        elif tool in AGENT_TOOLS:
            self._called(str(event))

    def _called(self, event: str) -> None:
        if event == "PreToolUse":
            self._begun()
        elif event == "PostToolUse":
            self._returned()
        elif event == "PostToolUseFailure":
            self._failed(self._phase(), str(self._payload.get("error") or "it failed"))

    def _begun(self) -> None:
        phase = self._phase()
        if phase is not None:
            self._memory.calls[self._call] = [phase, self._session]
            self._move(phase, ACTIVE)

    def _returned(self) -> None:
        phase, response = self._phase(), self._payload.get("tool_response")
        agent = agent_of(response)
        if phase is None:
            return
        if is_launch(response):
            self._launched(phase, agent)
            return
        self._memory.stopped.pop(agent, None)
        self._ended(phase, words_of(response), failure_of(response))

    def _launched(self, phase: str, agent: str) -> None:
        """Handle an agent that works in the background, or that ended before its start was
        reported.
        """
        self._move(phase, ACTIVE)
        if agent in self._memory.stopped:
            words, why = self._memory.stopped.pop(agent)
            self._ended(phase, words or "", why)
        elif agent:
            self._memory.agents[agent] = [phase, self._session]

    def _stopped(self) -> None:
        agent = str(self._payload.get("agent_id") or "")
        words = str(self._payload.get("last_assistant_message") or "")
        why = failure_in(str(self._payload.get("agent_transcript_path") or ""))
        known = self._memory.agents.pop(agent, None)
        if known is not None:
            self._ended(known[0], words, why)
        elif agent and self._payload.get("agent_type"):
            self._memory.note_stopped(agent, words, why)

    def _listed(self) -> None:
        if self._payload.get("agent_id"):
            return  # An agent's list is its own.
        known = self._memory.session(self._session)["todos"]
        done = False
        for phase, status in todos.hear(known, self._workflow, self._payload).items():
            # An agent working on a phase reports itself when it is done.
            if phase not in self._memory.taken:
                moved = self._move(phase, status)
                done = done or (moved and status == COMPLETED)
        if done:
            advance(self._workflow["id"], path=self._place.root)

    def _phase(self) -> str | None:
        """The phase of this call: as recorded at its start, otherwise as it looks now."""
        known = self._memory.calls.pop(self._call, None)
        if known is not None:
            return known[0]
        call = as_object(self._payload.get("tool_input"))
        nested = bool(self._payload.get("agent_id"))
        return phase_for(self._workflow, call, self._memory.taken, nested=nested)

    def _ended(self, phase: str, words: str, why: str | None) -> None:
        result = result_of(words)
        failure = why or result.failure
        if failure is not None:
            self._failed(phase, failure)
            return
        own = find_phase(self._workflow, phase).get("context_for_next")
        context = None if own else result.context
        if self._move(phase, COMPLETED, result.deliverables, context):
            advance(self._workflow["id"], path=self._place.root)

    def _failed(self, phase: str | None, why: str) -> None:
        if phase is not None:
            self._move(phase, FAILED, error=why)

    def _move(
        self,
        phase: str,
        status: str,
        made: list[str] | None = None,
        context: str | None = None,
        error: str | None = None,
    ) -> bool:
        """Set the phase's status, unless its agent has already reported a later one."""
        now = status_of(files.read(self._place.state) or self._workflow, phase)
        if now is None or status not in _STILL_TOLD.get(now, (status,)):
            return False
        update_phase_status(
            self._workflow["id"], phase, status, made, context, error=error, path=self._place.root
        )
        return True


def _context(payload: Object, memory: HookMemory, workflow: Workflow) -> dict[str, object] | None:
    """The todo list for the session, if its own differs and it hasn't been told yet."""
    event = payload.get("hook_event_name")
    if event not in SPEAKING or payload.get("agent_id"):
        return None
    session = memory.session(str(payload.get("session_id")))
    wanted = todos.todos_of(workflow)
    if session.get("told") == wanted or not todos.differs(session["todos"], workflow):
        return None
    session["told"] = wanted
    return {
        "hookSpecificOutput": {
            "hookEventName": event,
            "additionalContext": todos.request(workflow),
        }
    }
