"""Who is called to an interactive session."""

from tests.unit.server.test_notifications import watched

from callboard.engine.inbox import Inbox


async def test_those_who_were_named_are_named():
    async with watched() as scene:
        inbox = Inbox(scene.log, scene.clock)
        for notify in ({"channel": "slack", "users": ["@security-team", "@ann"]}, {"users": 5}):
            await inbox.ask(
                type="interactive_session", prompt="Review it", config={"notify": notify}
            )
            await scene.clock.advance(30)
        assert scene.messages == [
            ("Callboard needs you", "@security-team, @ann: Review it"),
            ("Callboard needs you", "Review it"),
        ]
        assert scene.told.channels == ["slack", None]


async def test_those_who_have_to_decide_are_named():
    async with watched() as scene:
        inbox = Inbox(scene.log, scene.clock)
        both = {"requiredParticipants": ["alice", "bob"]}
        await inbox.ask(type="interactive_session", prompt="Review it", config=both)
        await scene.clock.advance(30)
        assert scene.messages == [("Callboard needs you", "alice, bob: Review it")]
