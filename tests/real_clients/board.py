"""The board as people see it: over HTTP, from a real server in a process of its own."""

from dataclasses import dataclass
from typing import Any

from tests.real_clients.patience import until_told
from tests.servers import Server

Wire = dict[str, Any]


@dataclass(frozen=True)
class Board:
    """Asks one server. It may be killed and started again in between."""

    server: Server

    async def get(self, path: str) -> Any:
        async with self.server.client() as client:
            return (await client.get(path)).raise_for_status().json()

    async def plates(self) -> list[Wire]:
        return (await self.get("/plates"))["plates"]

    async def plate(self, **wanted: Any) -> Wire:
        """Wait for a plate that is like this: `status="closed"`."""
        return (await self.plates_like(1, **wanted))[0]

    async def plates_like(self, count: int, **wanted: Any) -> list[Wire]:
        """Wait for so many of them."""
        seen: list[Wire] = []

        async def look() -> list[Wire] | None:
            seen[:] = await self.plates()
            found = [one for one in seen if wanted.items() <= one.items()]
            return found if len(found) >= count else None

        return await until_told(look, lambda: f"{count} plates with {wanted}; there are {seen}")

    async def asked(self, type: str, count: int = 1) -> Wire:
        """Wait for a question that is pending; `count` of them, and the last is meant."""

        async def look() -> list[Wire] | None:
            found = (await self.get("/interactions?status=pending"))["interactions"]
            return found if len(found) >= count else None

        found = await until_told(look, lambda: f"{count} questions in the inbox")
        assert [one["type"] for one in found] == [type] * count
        return max(found, key=lambda one: one["createdAt"])

    async def question(self, id: str) -> Wire:
        return await self.get(f"/interactions/{id}")

    async def closed(self, id: str) -> Wire:
        """Wait until a question is pending no more."""

        async def look() -> Wire | None:
            found = await self.question(id)
            return found if found["status"] != "pending" else None

        return await until_told(look, lambda: f"the end of question {id}")

    async def settled(self, id: str) -> Wire:
        """Wait until it is known what became of a question and of its answer."""

        async def look() -> Wire | None:
            found = await self.question(id)
            is_open = "pending" in (found["status"], found["receipt"])
            return None if is_open else found

        return await until_told(look, lambda: f"the outcome of question {id}")

    async def answer(self, id: str, value: Any, *, approved: bool | None = None) -> None:
        """Answer, as anybody on the board could."""
        verdict = {} if approved is None else {"approved": approved}
        body = {"value": value, "by": "ann", **verdict}
        async with self.server.client() as client:
            said = await client.post(f"/interactions/{id}/answer", json=body)
            assert said.status_code in (200, 202), said.text

    async def events(self, plate: Wire) -> list[Wire]:
        return (await self.get(f"/plates/{plate['plateId']}/events"))["events"]

    async def told(self, plate: Wire) -> list[str]:
        """The names of what happened on a plate, in order. Usage is counted at any time."""
        names = [event["name"] for event in await self.events(plate)]
        return [name for name in names if name != "usage_counted"]

    async def heard(self, plate: Wire, name: str, **wanted: Any) -> Wire:
        """Wait for an event on a plate."""

        async def look() -> Wire | None:
            for event in await self.events(plate):
                if event["name"] == name and wanted.items() <= event["payload"].items():
                    return event
            return None

        return await until_told(look, lambda: f"{name} {wanted} on {plate['plateId']}")
