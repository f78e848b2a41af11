"""Tasks: what a workflow has to wait for before it completes.

An interactive session opens one with its question, in the same append, and whatever closes the
question closes the task, again in the same append. A task has the id of its question.
"""

from collections.abc import Mapping
from typing import Any, Final

from callboard.engine.batch import Batch
from callboard.events import names
from callboard.interactions.configs import blocks, title

KIND: Final = "human_interactive"


def task_payload(question: Mapping[str, Any]) -> dict[str, Any] | None:
    """What `task:started` tells of a question just put; None when it keeps nobody waiting."""
    if question.get("standalone") or not blocks(question["type"], question.get("config")):
        return None
    return described(question["id"], title(question["prompt"]))


def described(task: str, called: str) -> dict[str, Any]:
    """A task as its events tell it."""
    return {"taskId": task, "kind": KIND, "title": called}


def put(batch: Batch, question: Mapping[str, Any]) -> None:
    """Put a question, and open its task."""
    batch.add(names.REQUESTED, question)
    task = task_payload(question)
    if task is not None:
        batch.add(names.TASK_STARTED, task)


def close(batch: Batch, name: str, payload: Mapping[str, Any]) -> None:
    """Add what becomes of a question; if that closes it, its task is closed with it."""
    batch.add(name, payload)
    called = batch.view.tasks.get(payload["id"])
    if name in names.CLOSES_QUESTION and called is not None:
        batch.add(names.TASK_COMPLETED, described(payload["id"], called))
