"""Workflows of five steps for DBOS, each step returning one string; in threads and in tasks."""

from dbos import DBOS


@DBOS.step()
def work(item: str) -> str:
    return item


@DBOS.workflow()
def five() -> list[str]:
    return [work("done") for _ in range(5)]


@DBOS.step()
async def work_async(item: str) -> str:
    return item


@DBOS.workflow()
async def five_async() -> list[str]:
    return [await work_async("done") for _ in range(5)]
