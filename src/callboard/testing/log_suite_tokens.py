# ruff: noqa: D102 - the name of a test says what it shows
"""The log's contract: access tokens, which are not part of any stream."""

from dataclasses import replace

import pytest

from callboard.errors import NotFound
from callboard.events.access import Token
from callboard.log.protocol import EventLog
from callboard.testing.log_suite_material import AT, Contract, OpenLog, happened


def token(id: str, sha256: str, created_at: int = AT) -> Token:
    """A token for a person in two groups."""
    return Token(id, "ci", "ada", "operate", ("ops", "release"), None, created_at, None, sha256)


class TokenContract(Contract):
    """Tokens are found by their hash, and every handle sees changes by another."""

    async def test_a_token_is_found_as_it_was_kept(self, log: EventLog) -> None:
        kept = replace(token("a", "ha"), host="build-1", expires_at=AT + 1)
        await log.tokens.add(kept)
        assert await log.tokens.find("ha") == kept
        assert await log.tokens.find("hb") is None
        assert await log.tokens.find("a") is None

    async def test_tokens_are_listed_from_the_oldest(self, log: EventLog) -> None:
        made = [token("b", "1", AT), token("a", "2", AT + 1)]
        for one in made:
            await log.tokens.add(one)
        assert list(await log.tokens.list()) == made

    async def test_a_revoked_token_is_known_and_not_listed(self, log: EventLog) -> None:
        await log.tokens.add(token("a", "ha"))
        assert await log.tokens.revoke("a", AT + 5) == token("a", "ha")
        assert await log.tokens.list() == []
        assert await log.tokens.find("ha") == replace(token("a", "ha"), revoked_at=AT + 5)
        with pytest.raises(NotFound, match="token list"):
            await log.tokens.revoke("a", AT + 6)

    async def test_another_handle_sees_every_change_at_once(self, open_log: OpenLog) -> None:
        one, two = open_log(), open_log()
        assert await two.tokens.find("ha") is None
        await one.tokens.add(token("a", "ha"))
        assert await two.tokens.find("ha") == token("a", "ha")
        await one.append("s", [happened()])
        assert await two.tokens.find("ha") == token("a", "ha")
        await one.tokens.revoke("a", AT + 5)
        found = await two.tokens.find("ha")
        assert found is not None
        assert found.revoked_at == AT + 5
