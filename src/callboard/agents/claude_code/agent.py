"""Claude Code as an agent: its text, thinking and tool calls become events.

Every attempt at a run uses the same client session.
"""

import asyncio
import json
import os
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple, TypedDict, Unpack

from callboard.agents.claude_code.client import ClaudeProcess
from callboard.agents.claude_code.messages import ClientResult, MessageReader
from callboard.agents.claude_code.orphans import end_leftovers, mark
from callboard.agents.claude_code.permissions import Permissions, recorded
from callboard.clock import Clock, SystemClock
from callboard.engine.context import Context
from callboard.engine.function_agent import given
from callboard.engine.outputs import UNDECLARED, OutputType, adapter
from callboard.engine.ports import Item, Output
from callboard.errors import AgentError, DefinitionError, RateLimited, RetryAfter
from callboard.events.envelope import Json
from callboard.events.json_values import is_object
from callboard.events.payloads.agents import AgentDetails
from callboard.ids import short_id
from callboard.interactions.questions import Duration, seconds
from callboard.vendors.claude.launching import MARK, clean

_NAMESPACE: Final = uuid.UUID("5a0c9d4e-6c0f-5d1e-9a55-3b1d5f6f7a21")
_SPOKEN: Final = ('"type":"user"', '"type":"assistant"')
Given = str | Callable[..., str]
"""Text, or a function of the state, or of state and context, that returns it."""

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
    "You were interrupted. Continue the task where you left off, and do not repeat what is done. "
    "If a tool call was interrupted, check whether it ran; if it did not, make it again."
)
_SALT: Final = "claude:salt"
_PATIENCE: Final = 6 * 3600.0
_FIRST_WAIT: Final = 60.0
_LONGEST_WAIT: Final = 900.0


class ClientSession(NamedTuple):
    """A session of the client."""

    id: str
    exists: bool

    @property
    def arguments(self) -> tuple[str, str]:
        """The arguments that start this session or resume it."""
        return ("--resume" if self.exists else "--session-id", self.id)


def run_id(key: str) -> str:
    """A run's id, in the form that the client requires for sessions."""
    return str(uuid.uuid5(_NAMESPACE, key))


def session_of(key: str, cwd: Path, env: Mapping[str, str]) -> ClientSession:
    """The client session that has, or will have, a run's conversation.

    A transcript that has no messages yet, or only some from another folder, can be neither resumed
    nor started again; then the next session id is used.
    """
    for number in count():
        id = run_id(f"{key}#{number}" if number else key)
        transcript = _transcript(id, env)
        if transcript is None:
            return ClientSession(id, exists=False)
        if _has_conversation(transcript, cwd):
            return ClientSession(id, exists=True)
    raise AssertionError("unreachable")


def _transcript(id: str, env: Mapping[str, str]) -> Path | None:
    home = Path(env.get("HOME") or Path.home())
    folder = Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    return next(folder.glob(f"projects/*/{id}.jsonl"), None)


def _has_conversation(transcript: Path, cwd: Path) -> bool:
    here = f'"cwd":{json.dumps(str(cwd.resolve()), ensure_ascii=False)}'
    with transcript.open(encoding="utf-8", errors="replace") as lines:
        return any(here in line and any(spoken in line for spoken in _SPOKEN) for line in lines)


class ClaudeCodeOptions(TypedDict, total=False):
    """More options of a ClaudeCode agent."""

    append_system_prompt: Given
    """Text to append to its system prompt."""
    going_on: Given
    """The prompt when its session is resumed; by default, that it was interrupted."""
    permission_mode: str
    """The client's permission mode. By default, it asks before it changes anything."""
    env: Mapping[str, str]
    """Additional environment variables."""
    program: str
    """The program to run, `claude` by default."""
    arguments: Sequence[str]
    """More arguments, such as `--mcp-config`."""
    rate_limit_wait: Duration
    """How long to wait in total for rate limits, six hours by default; then the attempt fails."""
    clock: Clock
    """The clock for measuring the time until a limit resets."""


class ClaudeCode:
    """Runs Claude Code, headless, in a phase.

    Its permission requests and questions go to the session's inbox. Every attempt uses the same
    client session, so after a crash it continues where it was. Waiting for a rate limit doesn't
    count as a failed attempt. Cancelling it ends its process and everything that process started.

    Args:
        prompt: The task: text, or a function of the state, or of state and context.
        model: The model, as in the client's `--model`.
        cwd: The folder to work in; the current folder by default.
        allowed_tools: What it may use without asking, as rules of the client: `Read`,
            `Bash(git diff:*)`, ….
        output: The type of its output: a pydantic model or another type that is an object in JSON,
            or a JSON Schema. By default, its last message as text.
        name: The agent's name in events.
        options: See ClaudeCodeOptions.
    """

    def __init__(
        self,
        prompt: Given,
        *,
        model: Given | None = None,
        cwd: Folder | None = None,
        allowed_tools: Sequence[str] = (),
        output: object = str,
        name: str = "claude-code",
        **options: Unpack[ClaudeCodeOptions],
    ) -> None:
        if isinstance(allowed_tools, str):
            raise DefinitionError('ClaudeCode: allowed_tools must be a list, such as ["Read"].')
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
        """The output type that the agent declares."""
        return self._output

    @property
    def details(self) -> AgentDetails:
        """The provider, and the model if it is known before the run."""
        known: AgentDetails = {"provider": "claude-code"}
        if isinstance(self._model, str):
            known["model"] = self._model
        return known

    async def stream(self, state: object, ctx: Context) -> AsyncGenerator[Item, None]:
        """Run the client on the state, and end with its output.

        Raises RetryAfter if the model is rate limited: the same session is resumed later.
        """
        hearing = MessageReader()
        async with aclosing(self._conversation(state, ctx, hearing)) as items:
            async for item in items:
                yield item
        assert hearing.ending is not None
        if hearing.ending.limited:
            raise await self._limited(hearing.ending, ctx)
        yield self._end(hearing.ending)

    async def _limited(self, ending: ClientResult, ctx: Context) -> RetryAfter:
        """When to try again; raises RateLimited if the total wait would be too long."""
        waited: list[float] = []
        while (before := await recorded(ctx, _limit_key(len(waited)))) is not None:
            waited.append(float(before))
        left = (ending.resets_at or 0) - self._clock.now_ms() / 1000
        # If the client didn't report a reset time, wait longer each time.
        guess = min(_FIRST_WAIT * 2 ** len(waited), _LONGEST_WAIT)
        wait = max(left, 1.0) if left > 0 else guess
        if sum(waited) + wait > seconds(self._options.get("rate_limit_wait", _PATIENCE)):
            raise RateLimited(
                f"Claude Code cannot continue for {wait:.0f} s: {ending.reason}",
                retry_after=round(wait),
            )
        await ctx.once(_limit_key(len(waited)), lambda: wait)
        return RetryAfter(f"Claude Code cannot continue: {ending.reason}", seconds=wait)

    async def _conversation(
        self, state: object, ctx: Context, hearing: MessageReader
    ) -> AsyncGenerator[Item, None]:
        """One process of the client, from its start to its end."""
        # A session id may have been chosen by a person, and be used again in another database.
        key = f"{ctx.key}:{await ctx.once(_SALT, short_id)}"
        run = run_id(key)
        # With our token, it could answer its own requests.
        env = {**clean(os.environ), **self._options.get("env", {}), MARK: mark(run)}
        cwd = Path(given(self._cwd, state, ctx) or Path.cwd()).absolute()
        await asyncio.to_thread(end_leftovers, run)
        session = await asyncio.to_thread(session_of, key, cwd, env)
        client = await ClaudeProcess.start(self._command(session, state, ctx), cwd, env, run)
        permissions = Permissions(ctx, client.send, str(cwd))
        try:
            words = self._options.get("going_on", _GO_ON) if session.exists else self._prompt
            await client.send(_said(given(words, state, ctx)))
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
            await client.stop()

    def _command(self, session: ClientSession, state: object, ctx: Context) -> list[str]:
        options = self._options
        values = {
            "--model": given(self._model, state, ctx),
            "--append-system-prompt": given(options.get("append_system_prompt"), state, ctx),
            "--permission-mode": options.get("permission_mode", "default"),
            "--json-schema": json.dumps(self._schema) if self._schema else None,
        }
        told = [word for name, value in values.items() if value for word in (name, str(value))]
        allowed = ["--allowedTools", *self._allowed_tools] if self._allowed_tools else []
        more = options.get("arguments", ())
        # An option that takes any number of values must be followed by one that starts with a dash.
        program = options.get("program", "claude")
        return [program, *allowed, *_SPEAKING, *told, *session.arguments, *more]

    def _end(self, ending: ClientResult) -> Output:
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


def _schema(output: object) -> dict[str, Json] | None:
    """The JSON Schema of the output; None for text."""
    if output is str:
        return None
    schema = output if is_object(output) else adapter(output).json_schema()
    if schema.get("type") != "object":
        raise DefinitionError(
            f"ClaudeCode: output={output!r} is not an object in JSON. Wrap it in a pydantic model."
        )
    return schema


def _limit_key(number: int) -> str:
    return f"claude:limit:{number}"


def _said(prompt: str) -> dict[str, Json]:
    content = [{"type": "text", "text": prompt}]
    message = {"role": "user", "content": content}
    return {"type": "user", "message": message, "parent_tool_use_id": None}
