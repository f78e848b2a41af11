"""The stream of a session, read by the browser's own EventSource, without any of our code."""

import asyncio

from tests.browser.people import Person
from tests.browser.story import begin
from tests.servers import Server

LISTEN = """
(id) => new Promise((done) => {
  const seen = []
  const source = new EventSource(`/sessions/${id}/events`)
  source.onmessage = ({ data, lastEventId }) => {
    const { name, _tag, position } = JSON.parse(data)
    seen.push([name, _tag, position, Number(lastEventId)])
  }
  // The server ends the stream after the last event, and refuses the next attempt for good.
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) done(seen)
  }
})
"""


async def test_event_source_gets_every_event_once_and_stops(person: Person, server: Server):
    await person.visit("sessions")
    session = await begin(server, "count", 3)
    async with asyncio.timeout(60):
        seen = await person.page.evaluate(LISTEN, session)
    assert [position for _, _, position, _ in seen] == list(range(1, len(seen) + 1))
    assert all(name == tag and position == last for name, tag, position, last in seen)
    assert seen[0][0] == "workflow:started"
    assert seen[-1][0] == "workflow:completed"
