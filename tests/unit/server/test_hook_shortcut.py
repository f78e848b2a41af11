"""Which requests take the short way, and which go on to the routes."""

from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from callboard.server import application as hook_shortcut
from callboard.server.application import HookShortcut
from callboard.server.problems import reply


async def asked(monkeypatch: pytest.MonkeyPatch, scope: dict[str, Any]) -> str:
    """Who answered: the short way by the agent's name, else the routes."""
    reached: list[str] = []

    async def routes(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append("routes")

    async def hook(request: object, agent: str) -> Any:
        reached.append(agent)
        return reply({})

    async def receive() -> Message:
        return {}

    async def send(message: Message) -> None: ...

    monkeypatch.setattr(hook_shortcut.hooks, "hook", hook)
    await HookShortcut(routes)(scope, receive, send)
    return " ".join(reached)


@pytest.mark.parametrize(
    ("method", "path", "who"),
    [
        ("POST", "/hooks/claude", "claude"),
        ("POST", "/hooks/nobody knows", "nobody knows"),
        ("GET", "/hooks/claude", "routes"),
        ("OPTIONS", "/hooks/claude", "routes"),
        ("POST", "/hooks/", "routes"),
        ("POST", "/hooks", "routes"),
        ("POST", "/hooks/claude/", "routes"),
        ("POST", "/hooks/claude/more", "routes"),
        ("POST", "/plates/hooks/claude", "routes"),
    ],
)
async def test_only_a_hook_that_is_posted_takes_it(
    monkeypatch: pytest.MonkeyPatch, method: str, path: str, who: str
):
    assert await asked(monkeypatch, {"type": "http", "method": method, "path": path}) == who


async def test_what_is_no_request_goes_on(monkeypatch: pytest.MonkeyPatch):
    assert await asked(monkeypatch, {"type": "lifespan"}) == "routes"
