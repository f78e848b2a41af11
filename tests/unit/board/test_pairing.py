"""Codes that machines exchange for tokens."""

import pytest

from callboard.board import pairing
from callboard.board.pairing import ATTEMPTS, LENGTH, LIVES, Pairing, plain
from callboard.board.tokens import AccessTokens
from callboard.errors import ConflictError, Forbidden, TooManyFailures
from callboard.log.memory import MemoryLog
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def log(clock):
    return MemoryLog(project, clock)


def desk(log, clock):
    return Pairing(log.server_state, AccessTokens(log.tokens, clock), clock)


async def test_a_code_becomes_a_token_that_names_the_machine(log, clock):
    made = await desk(log, clock).create()
    assert len(plain(made.code)) == LENGTH >= 8  # Five bits each, so at least 40.
    paired = await desk(log, clock).exchange(made.code.lower(), "machine1", "mac", "server01")
    token = await AccessTokens(log.tokens, clock).find(paired.token)
    assert token is not None
    assert (token.scope, token.host, token.name) == ("hook", "machine1", "mac")


async def test_a_code_works_once(log, clock):
    codes = desk(log, clock)
    made = await codes.create()
    await codes.exchange(made.code, "machine1", "mac", "server01")
    with pytest.raises(Forbidden, match="was used"):
        await codes.exchange(made.code, "machine2", "mac", "server01")


async def test_a_code_expires(log, clock):
    codes = desk(log, clock)
    made = await codes.create()
    clock.skip(LIVES)
    with pytest.raises(Forbidden, match="expired"):
        await codes.exchange(made.code, "machine1", "mac", "server01")


async def test_a_code_allows_few_attempts_over_all_servers(log, clock):
    made = await desk(log, clock).create()
    for _ in range(ATTEMPTS):
        with pytest.raises(Forbidden):
            await desk(log, clock).exchange("00000-00000", "machine1", "mac", "server01")
    with pytest.raises(Forbidden):
        await desk(log, clock).exchange(made.code, "machine1", "mac", "server01")


async def test_a_wrong_attempt_leaves_the_others(log, clock):
    codes = desk(log, clock)
    made = await codes.create()
    for _ in range(ATTEMPTS - 1):
        with pytest.raises(Forbidden):
            await codes.exchange("00000-00000", "machine1", "mac", "server01")
    assert (await codes.exchange(made.code, "machine1", "mac", "server01")).host == "machine1"


async def test_attempts_are_limited_in_all(log, clock, monkeypatch):
    monkeypatch.setattr(pairing, "_A_MINUTE", 3)
    for _ in range(3):
        with pytest.raises(Forbidden):
            await desk(log, clock).exchange("x", "machine1", "mac", "server01")
    with pytest.raises(TooManyFailures):
        await desk(log, clock).exchange("x", "machine1", "mac", "server01")
    clock.skip(60)
    with pytest.raises(Forbidden):
        await desk(log, clock).exchange("x", "machine1", "mac", "server01")


@pytest.mark.parametrize("claimed", ["machine1", "server01"])
async def test_a_machine_cannot_pass_for_another(log, clock, claimed):
    codes = desk(log, clock)
    await codes.exchange((await codes.create()).code, "machine1", "mac", "server01")
    with pytest.raises(ConflictError, match="already paired"):
        await codes.exchange((await codes.create()).code, claimed, "other", "server01")


def test_letters_that_are_easily_confused_are_the_same():
    assert plain("oI-lU") == plain("01-1v")
