"""A client on a Python SDK lists and calls the tools of the everything server: client.py mcp|fastmcp URL."""

import asyncio
import sys

KIND, URL = sys.argv[1:]


async def main():
    if KIND == "fastmcp":
        from fastmcp import Client

        clients = [Client(URL)]
    else:
        from mcp import Client

        clients = [Client(URL, mode=mode, read_timeout_seconds=30) for mode in ("legacy", "auto")]
    for client in clients:
        async with client:
            listed = await client.list_tools()
            tools = getattr(listed, "tools", listed)
            assert any(tool.name == "test_simple_text" for tool in tools), tools
            seen = []

            async def report(progress, total, message):
                seen.append(progress)

            callback = {"progress_handler" if KIND == "fastmcp" else "progress_callback": report}
            result = await client.call_tool("test_tool_with_progress", {}, **callback)
            assert "reported" in result.content[0].text, result
            assert seen == [0, 50, 100], seen
    print("all as in the protocol")


asyncio.run(main())
