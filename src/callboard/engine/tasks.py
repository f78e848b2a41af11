"""Tasks: what a workflow has to wait for before it completes.

An interactive session opens one together with its question, in the same append, and whatever closes
the question closes the task, again in the same append. A task has the same id as its question.
"""

from typing import Final

from callboard.engine.batch import Batch
from callboard.events import names
from callboard.events.event_name import Entry
from callboard.events.json_values import as_text
from callboard.events.payloads.people import Asker, InputDetachedPayload, InputRequestedPayload
from callboard.events.payloads.workflow import TaskStartedPayload
from callboard.ids import short_id
from callboard.interactions.configs import KIND as SESSION
from callboard.interactions.configs import blocks, title
from callboard.interactions.questions import Rendered

KIND: Final = "human_interactive"


def requested(question: InputRequestedPayload) -> list[Entry]:
    """The events that ask a question, and open its task if a workflow has to wait for it."""
    told = [names.REQUESTED(question)]
    if not question.get("standalone") and blocks(question["type"], question.get("config")):
        told.append(names.TASK_STARTED(described(question["id"], title(question["prompt"]))))
    return told


def described(task: str, called: str) -> TaskStartedPayload:
    """A task, as its events describe it."""
    return {"taskId": task, "kind": KIND, "title": called}


def close(batch: Batch, closing: Entry) -> None:
    """Add what happened to a question; if that closes it, its task is closed, too."""
    name, payload = closing
    batch.add(closing)
    question = as_text(payload["id"])
    called = batch.view.tasks.get(question)
    if name in names.CLOSES_QUESTION and called is not None:
        batch.add(names.TASK_COMPLETED(described(question, called)))


def ask(batch: Batch, question: Rendered, asker: Asker) -> str:
    """Ask people a question; returns its id, which never changes."""
    payload: InputRequestedPayload = {
        **asker,
        "id": short_id(),
        "prompt": question.prompt,
        "type": question.type,
    }
    if question.options is not None:
        payload["options"] = question.options
    if question.other:
        payload["other"] = True
    if question.timeout_ms is not None:
        payload["deadline"] = batch.now + question.timeout_ms
        payload["onTimeout"] = question.on_timeout
    if question.config is not None:
        payload["config"] = question.config
    if question.assignees is not None:
        payload["assignees"] = question.assignees
    for new in requested(payload):
        batch.add(new)
    return payload["id"]


def end_questions(batch: Batch, reason: str) -> None:
    """Before a workflow ends: cancel its open questions, and detach sessions that don't block it.

    A detached session continues in a stream of its own, because nothing can follow a terminal
    event.
    """
    view = batch.view
    for asked in view.pending():
        # Every interactive session that blocks has a task.
        if asked.type == SESSION and asked.id not in view.tasks:
            detached: InputDetachedPayload = {"id": asked.id, "stream": asked.id}
            if asked.deadline is not None:
                detached["deadline"] = asked.deadline
            batch.add(names.DETACHED(detached))
        else:
            close(batch, names.INPUT_CANCELLED({"id": asked.id, "reason": reason}))


def cancel_questions(batch: Batch, reason: str, run: str | None = None) -> None:
    """Cancel the questions that are still open: all of them, or those of one run."""
    view = batch.view
    for asked in view.pending() if run is None else view.open.pending_of(run):
        close(batch, names.INPUT_CANCELLED({"id": asked.id, "reason": reason}))
