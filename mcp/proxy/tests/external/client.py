"""The official Python SDK as a client of the proxy: client.py PROGRAM. Discovers, copies the call, calls."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main():
    target = StdioServerParameters(command=sys.argv[1])
    for mode in ("legacy", "auto"):
        async with Client(target, mode=mode, read_timeout_seconds=60) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["discover_tools", "call_tool"], names
            found = await client.call_tool("discover_tools", {"query": "add two numbers", "limit": 3})
            text = found.content[0].text
            calls = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
            wanted = next(call for call in calls if call["tool_name"].split(":")[-1] == "get-sum")
            wanted["arguments"] = {"a": 2, "b": 3}
            result = await client.call_tool("call_tool", wanted)
            assert not result.is_error and "5" in result.content[0].text, result
            wanted["arguments"] = {"a": "two"}
            result = await client.call_tool("call_tool", wanted)
            assert result.is_error and "a: " in result.content[0].text, result
    print("discovered and called")


asyncio.run(main())
