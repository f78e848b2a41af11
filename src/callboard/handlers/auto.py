"""Says yes to everything, for tests and demonstrations."""

from collections.abc import Sequence


class AutoApprove:
    """Approves each approval and takes the first option of each choice."""

    async def approval(self, prompt: str) -> bool:
        """Yes."""
        return True

    async def choice(self, prompt: str, options: Sequence[str]) -> str:
        """The first option."""
        return options[0]


def auto_approve() -> AutoApprove:
    """A handler that needs no person."""
    return AutoApprove()
