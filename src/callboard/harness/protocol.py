"""Tools for agents, over the Model Context Protocol on standard input and output."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from callboard.errors import CallboardError, MissingExtra
from callboard.events.codec import dump_json
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object
from callboard.vendors.fields import word

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext

_CALL_ID: Final = "claudecode/toolUseId"


class Failed(Exception):
    """The tool can't do it. The message is for the model, which may try again."""


@dataclass(frozen=True, slots=True)
class McpCall:
    """A tool call. id: the client's own, if it provides one."""

    arguments: Object
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its description for the model, and the function that handles calls."""

    name: str
    about: str
    schema: dict[str, Json]
    call: Callable[[McpCall], Awaitable[dict[str, Json]]]


Offer = Callable[[str], Sequence[Tool]]
"""The tools for a client, by the name that the client reports."""


async def serve(name: str, tools: Offer, about: str | None = None) -> None:
    """Offer the tools until the client disconnects."""
    try:
        from mcp.server.lowlevel import Server
        from mcp.server.stdio import stdio_server
    except ImportError as error:
        raise MissingExtra(
            "This needs the MCP library. Install it: pip install 'callboard[mcp]'", extra="mcp"
        ) from error
    server = Server(
        name,
        version=version("callboard"),
        instructions=about,
        on_list_tools=_listing(tools),
        on_call_tool=_calling(tools),
    )
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _listing(tools: Offer) -> "Callable[..., Awaitable[types.ListToolsResult]]":
    import mcp_types as types

    async def listed(context: "ServerRequestContext", given: object) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(name=one.name, description=one.about, input_schema=one.schema)
                for one in tools(_client(context))
            ]
        )

    return listed


def _calling(tools: Offer) -> "Callable[..., Awaitable[types.CallToolResult]]":
    import mcp_types as types

    def result(text: str, told: Json = None, *, is_error: bool = False) -> types.CallToolResult:
        content: list[types.ContentBlock] = [types.TextContent(text=text)]
        return types.CallToolResult(content=content, structured_content=told, is_error=is_error)

    async def called(
        context: "ServerRequestContext", given: types.CallToolRequestParams
    ) -> types.CallToolResult:
        by_name = {one.name: one for one in tools(_client(context))}
        tool = by_name.get(given.name)
        if tool is None:
            return result(f"There is no tool {given.name!r}.", is_error=True)
        call_id = word(as_object(given.meta).get(_CALL_ID))
        try:
            told = await tool.call(McpCall(given.arguments or {}, call_id))
        except Failed as error:
            return result(str(error), is_error=True)
        except CallboardError as error:
            return result(error.message, is_error=True)
        return result(dump_json(told).decode(), told)

    return called


def _client(context: "ServerRequestContext") -> str:
    told = context.session.client_params
    return "" if told is None else told.client_info.name
