"""The official Python SDK as a client of the mock MCP servers, over stdio and HTTP, in both versions of the protocol.

Called with a JSON list of servers, their tools and a call. Ends with an error where something is not as expected.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters

VERSIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}


async def examine(target, expected, mode):
    async with Client(target, mode=mode, read_timeout_seconds=30) as client:
        assert client.protocol_version == VERSIONS[mode], client.protocol_version
        assert client.server_info.name == expected["server"], client.server_info

        tools = (await client.list_tools()).tools
        names = sorted(tool.name for tool in tools)
        assert names == expected["tools"], names
        assert all(tool.annotations.read_only_hint is not None for tool in tools), tools

        call = expected["call"]
        result = await client.call_tool(call["tool"], {call["field"]: call["value"]})
        assert not result.is_error and expected["result"] in result.content[0].text, result

        wrong = await client.call_tool(call["tool"], {call["field"]: 3})
        assert wrong.is_error and call["field"] in wrong.content[0].text, wrong
        try:
            await client.call_tool("no_such_tool", {})
        except MCPError as error:
            assert "no_such_tool" in error.error.message, error
        else:
            raise AssertionError("an unknown tool was called")


async def main():
    for expected in json.loads(sys.argv[1]):
        stdio = StdioServerParameters(
            command=expected["command"], args=[expected["server"], "--stdio"]
        )
        for target in (stdio, expected["url"]):
            for mode in VERSIONS:
                await examine(target, expected, mode)
    print("all as in the protocol")


asyncio.run(main())
