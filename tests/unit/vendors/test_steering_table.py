"""Tests of how each coding agent is steered."""

from pathlib import Path

from callboard.vendors.steering_table import steering_of


def test_an_agent_without_ways_of_its_own():
    assert steering_of("none", Path("/nowhere")) is None


def test_every_client_has_its_ways():
    for agent in ("claude", "codex", "gemini", "opencode"):
        assert steering_of(agent, Path("/nowhere")) is not None
