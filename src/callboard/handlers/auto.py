"""Approves everything, for tests and demos."""

from collections.abc import Sequence

from callboard.engine.decide import FAIL, is_about_failure
from callboard.engine.ports import Request


class AutoApprove:
    """Approves every approval and picks the first option of every choice.

    If an agent has failed and no attempts are left, it chooses to fail: retrying would never end.
    """

    async def approval(self, prompt: str) -> bool:
        """Approve."""
        return True

    async def choice(
        self, prompt: str, options: Sequence[str], request: Request | None = None
    ) -> str:
        """The first option; for a failed agent, the one that fails it."""
        return FAIL if request and is_about_failure(request.key) else options[0]


def auto_approve() -> AutoApprove:
    """A handler that approves everything without asking a person."""
    return AutoApprove()
