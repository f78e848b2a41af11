"""Says yes to everything, for tests and demonstrations."""

from collections.abc import Sequence

from callboard.engine.decide import FAIL, is_about_failure
from callboard.engine.ports import Request


class AutoApprove:
    """Approves each approval and takes the first option of each choice.

    An agent that has failed for the last time fails: to retry it each time would never end.
    """

    async def approval(self, prompt: str) -> bool:
        """Yes."""
        return True

    async def choice(
        self, prompt: str, options: Sequence[str], request: Request | None = None
    ) -> str:
        """The first option, or to let fail what has failed."""
        return FAIL if request and is_about_failure(request.key) else options[0]


def auto_approve() -> AutoApprove:
    """A handler that needs no person."""
    return AutoApprove()
