"""Says yes to everything, for tests and demonstrations."""

from typing import Any

from callboard.engine.ports import Request


class AutoApprove:
    """Approves each approval and takes the first option of each choice."""

    async def answer(self, request: Request) -> Any:
        """True, or the first option."""
        return request.options[0] if request.options else True


def auto_approve() -> AutoApprove:
    """A handler that needs no person."""
    return AutoApprove()
