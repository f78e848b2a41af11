"""`callboard plan`, on a database and on a server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from tests.acceptance.cli_process import CallboardCommand
from tests.acceptance.test_cli_server import Served

from callboard import Callboard, Interactive, Phase, State, Workflow

PROMPT = "Look at <this> & \x1b[31mthat\u202e]]>"
SESSION = "deciding-1"

approval = Interactive(PROMPT, outcome_schema={"type": "approval"}, timeout=1800)
flow = Workflow(
    "deciding",
    state=State,
    phases=[
        Phase("look", human=Interactive("First"), next="approve"),
        Phase("approve", human=approval, terminal=True),
    ],
)


async def prepare(db: Path) -> None:
    async with Callboard.open(db, [flow]) as board:
        await board.run(flow, session_id=SESSION)
        [first] = await board.human.list_pending(SESSION)
        await board.human.complete_interactive(first.id, "completed", {"notes": "<ok>"}, duration=2)
        await board.drive(SESSION)


@pytest.fixture(params=["database", "server"])
def callboard(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CallboardCommand]:
    if request.param == "database":
        asyncio.run(prepare(tmp_path / "t.db"))
        yield CallboardCommand(tmp_path)
        return
    asyncio.run(prepare(tmp_path / "there.db"))
    served = Served(tmp_path)
    yield served
    assert served.stop() == 0


def test_the_plan_of_a_session(callboard: CallboardCommand):
    plan = Xml.fromstring(callboard.here("plan", SESSION[:8]).out)
    assert (plan.get("session"), plan.get("status")) == (SESSION, "waiting")
    resolved, pending = plan
    assert resolved.attrib == {"type": "interactive_session", "status": "completed"}
    assert (resolved.findtext("outcome"), resolved.findtext("duration")) == ("completed", "2000")
    assert resolved.findtext("response") == '{"notes": "<ok>"}'
    assert pending.attrib == {"type": "interactive_session", "status": "pending"}
    assert pending.findtext("prompt") == "Look at <this> & \\x1b[31mthat\\u202e]]>"
    config = pending.find("config")
    assert config is not None
    assert [one.text for one in config] == ["sonnet", "1800000", "approval"]
    assert pending.findtext("message") == "Waiting for interactive session to complete..."

    [told] = callboard.here("plan", SESSION, "--json").json
    assert (told["sessionId"], told["workflow"], told["status"]) == (SESSION, "deciding", "waiting")
    first, second = told["humanInteractions"]
    assert (first["outcome"], first["response"]) == ("completed", {"notes": "<ok>"})
    assert (second["prompt"], second["outcome"]) == (PROMPT, None)

    assert "There is no session 'nothing'" in callboard.here("plan", "nothing", code=2).err
