"""Claude Code as an agent: what it says, thinks and does becomes events."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack, cast

from pydantic import TypeAdapter

from callboard.agents.claude_code.client import Client
from callboard.agents.claude_code.leftovers import MARK, end_leftovers, mark
from callboard.agents.claude_code.limits import Patience
from callboard.agents.claude_code.messages import Ending, Hearing
from callboard.agents.claude_code.permissions import Permissions
from callboard.agents.claude_code.sessions import ClientSession, run_id, session_of
from callboard.clock import Clock, SystemClock
from callboard.engine.context import Context
from callboard.engine.functions import fitting
from callboard.engine.outputs import UNDECLARED, OutputType
from callboard.engine.ports import Item, Output
from callboard.errors import AgentError, DefinitionError
from callboard.ids import short_id
from callboard.interactions.questions import Duration, seconds
from callboard.vendors.claude.environment import clean

Given = str | Callable[..., str]
"""A text, or a function of the state, or of state and context, that gives one."""

Folder = str | PathLike[str] | Callable[..., str | PathLike[str]]

_SPEAKING: Final = (
    "-p",
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool=stdio",
)
_GO_ON: Final = (
    "You were interrupted. Go on with the task where you left off, and do not repeat what is done. "
    "Where a tool call was interrupted, look whether it ran; if it did not, make it again."
)
_SALT: Final = "claude:salt"
_PATIENCE: Final = 6 * 3600.0


class ClaudeCodeOptions(TypedDict, total=False):
    """What else may be said of a ClaudeCode agent."""

    append_system_prompt: Given
    """What to add to its system prompt."""
    going_on: Given
    """What it is told when its session goes on; without it, that it was interrupted."""
    permission_mode: str
    """The client's own mode, `default` without one: then it asks before it changes anything."""
    env: Mapping[str, str]
    """What to add to its environment."""
    program: str
    """Its program, `claude` without one."""
    arguments: Sequence[str]
    """More arguments, such as `--mcp-config`."""
    rate_limit_wait: Duration
    """How long to wait in all for limits to end, six hours without it; more is a failure."""
    clock: Clock
    """What tells how long it still is until a limit ends."""


class ClaudeCode:
    """Runs Claude Code, headless, in a phase.

    What it may not do by itself, and what it wants to know, is asked in the session's inbox.
    Its own session is the same at every attempt, so after a crash it goes on where it was. A rate
    limit is waited for, and is no failed attempt. Cancelling and interrupting end its process and
    all that it started.

    Args:
        prompt: The task: a text, or a function of the state, or of state and context.
        model: The model, as the client's `--model` takes it.
        cwd: The folder to work in; without one, the current.
        allowed_tools: What it may use without asking, as the client's rules say it: `Read`,
            `Bash(git diff:*)`, ….
        output: What it ends with: a pydantic model or another type that is an object in JSON, or a
            JSON Schema. Without one, its last words.
        name: How events call it.
        options: See ClaudeCodeOptions.
    """

    def __init__(
        self,
        prompt: Given,
        *,
        model: Given | None = None,
        cwd: Folder | None = None,
        allowed_tools: Sequence[str] = (),
        output: Any = str,
        name: str = "claude-code",
        **options: Unpack[ClaudeCodeOptions],
    ) -> None:
        if isinstance(allowed_tools, str):
            raise DefinitionError('ClaudeCode: allowed_tools is a list: ["Read"].')
        self.name = name
        self._prompt = prompt
        self._model = model
        self._cwd = cwd
        self._allowed_tools = tuple(allowed_tools)
        self._schema = _schema(output)
        self._output = OutputType(name, UNDECLARED if isinstance(output, dict) else output)
        self._options = options
        self._clock = options.get("clock", SystemClock())

    @property
    def output(self) -> OutputType:
        """What the agent declares to end with."""
        return self._output

    @property
    def details(self) -> Mapping[str, str]:
        """The provider, and the model as far as it is known before the run."""
        known = {"model": self._model} if isinstance(self._model, str) else {}
        return {"provider": "claude-code", **known}

    async def stream(self, state: Any, ctx: Context) -> AsyncGenerator[Item, None]:
        """Run the client on the state, and end with its output.

        RetryAfter when the model takes no more for now: the same session goes on after that.
        """
        hearing = Hearing()
        async with aclosing(self._conversation(state, ctx, hearing)) as items:
            async for item in items:
                yield item
        assert hearing.ending is not None
        if hearing.ending.limited:
            limit = seconds(self._options.get("rate_limit_wait", _PATIENCE))
            raise await Patience(self._clock, limit).wait(hearing.ending, ctx)
        yield self._end(hearing.ending)

    async def _conversation(
        self, state: Any, ctx: Context, hearing: Hearing
    ) -> AsyncGenerator[Item, None]:
        """One process of the client, from its start to its end."""
        # A session's id may be somebody's own words, and come again in another database.
        key = f"{ctx.key}:{await ctx.once(_SALT, short_id)}"
        run = run_id(key)
        env = self._env(run)
        cwd = Path(_given(self._cwd, state, ctx) or Path.cwd()).absolute()
        await asyncio.to_thread(end_leftovers, run)
        session = await asyncio.to_thread(session_of, key, cwd, env)
        client = await Client.start(self._command(session, state, ctx), cwd, env)
        permissions = Permissions(ctx, client.send, str(cwd))
        try:
            words = self._options.get("going_on", _GO_ON) if session.exists else self._prompt
            await client.send(_said(_given(words, state, ctx)))
            async with aclosing(client.messages(permissions.asking)) as messages:
                async for message in messages:
                    permissions.check()
                    if message is None:
                        continue
                    await permissions.hear(message)
                    for item in hearing.items(message):
                        yield item
                    if hearing.is_over:
                        client.finish()
            if hearing.ending is None:
                await permissions.take_all_back()
                raise AgentError(f"Claude Code ended without a result: {await client.complaint()}")
            await client.left()
        finally:
            await permissions.leave()
            await client.stop(run)

    def _command(self, session: ClientSession, state: Any, ctx: Context) -> list[str]:
        options = self._options
        given = {
            "--model": _given(self._model, state, ctx),
            "--append-system-prompt": _given(options.get("append_system_prompt"), state, ctx),
            "--permission-mode": options.get("permission_mode", "default"),
            "--json-schema": json.dumps(self._schema) if self._schema else None,
        }
        told = [word for name, value in given.items() if value for word in (name, str(value))]
        allowed = ["--allowedTools", *self._allowed_tools] if self._allowed_tools else []
        more = options.get("arguments", ())
        # What takes any number of words stands before something that begins with a dash.
        program = options.get("program", "claude")
        return [program, *allowed, *_SPEAKING, *told, *session.arguments, *more]

    def _env(self, run: str) -> dict[str, str]:
        # With our token it could answer its own requests.
        return {**clean(os.environ), **self._options.get("env", {}), MARK: mark(run)}

    def _end(self, ending: Ending) -> Output:
        if not ending.succeeded:
            raise AgentError(
                f"Claude Code failed: {ending.reason}",
                subtype=str(ending.result.get("subtype")),
                status=ending.result.get("api_error_status"),
            )
        if self._schema is None:
            return Output(str(ending.result.get("result") or ""), ending.usage)
        if "structured_output" not in ending.result:
            raise AgentError("Claude Code ended without the output that its schema asks for.")
        return Output(ending.result["structured_output"], ending.usage)


def _schema(output: Any) -> dict[str, Any] | None:
    """The JSON Schema of what is wanted; None for text."""
    if output is str:
        return None
    declared = isinstance(output, dict)
    schema = cast("dict[str, Any]", output) if declared else TypeAdapter(output).json_schema()
    if schema.get("type") != "object":
        raise DefinitionError(
            f"ClaudeCode: output={output!r} is no object in JSON. Put it into a pydantic model."
        )
    return schema


def _said(prompt: str) -> dict[str, Any]:
    content = [{"type": "text", "text": prompt}]
    message = {"role": "user", "content": content}
    return {"type": "user", "message": message, "parent_tool_use_id": None}


def _given(value: Any, state: Any, ctx: Context) -> Any:
    return fitting(value, 2)(state, ctx) if callable(value) else value
