"""A server's statistics."""

from urllib.parse import quote

from callboard.client.transport import Transport
from callboard.engine.statistics import DAYS, Overview, WorkflowStats


class RemoteStatistics:
    """What `Callboard.statistics` does, over HTTP."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def overview(self, *, days: int = DAYS, utc_offset: int = 0) -> Overview:
        """All workflows over the last days, including today."""
        period = _query(days, utc_offset)
        return Overview.from_wire(await self._transport.get("/overview", **period))

    async def workflow(
        self, workflow: str, *, days: int = DAYS, utc_offset: int = 0
    ) -> WorkflowStats:
        """One workflow over the last days, including today; all zero if it never ran."""
        path = f"/workflows/{quote(workflow, safe='')}/stats"
        period = _query(days, utc_offset)
        return WorkflowStats.from_wire(await self._transport.get(path, **period))


def _query(days: int, utc_offset: int) -> dict[str, str]:
    return {"days": str(days), "utcOffset": str(utc_offset)}
