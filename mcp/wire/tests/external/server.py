"""A small MCP server on one of the Python SDKs: server.py KIND [PORT]. Its tool `count` reports progress before it answers.

`wss` takes its certificate and key from the environment, `ide` the token that it wants to see, as an editor does.
"""

import os
import sys

KIND, PORT = sys.argv[1], int((sys.argv[2:] or ["0"])[0])

if KIND.startswith("fastmcp"):
    from fastmcp import Context, FastMCP

    server = FastMCP("referee")
elif KIND in ("ws", "wss"):
    from mcp.server.fastmcp import Context, FastMCP

    server = FastMCP("referee")
else:
    from mcp.server.mcpserver import Context, MCPServer

    server = MCPServer("referee")


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Says how far it is."""
    for step in range(steps):
        await ctx.report_progress(step, steps)
    return f"counted to {steps}"


if KIND in ("ws", "wss"):
    import uvicorn
    from mcp.server.websocket import websocket_server

    async def app(scope, receive, send):
        if scope["type"] == "websocket":
            async with websocket_server(scope, receive, send) as (read, write):
                inner = server._mcp_server
                await inner.run(read, write, inner.create_initialization_options())

    pair = {"ssl_certfile": os.environ["CERTIFICATE"], "ssl_keyfile": os.environ["KEY"]} if KIND == "wss" else {}
    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="error", **pair)
elif KIND == "ide":
    import uvicorn

    inner = server.sse_app()

    async def guarded(scope, receive, send):
        headers = dict(scope.get("headers", []))
        if scope["type"] == "http" and headers.get(b"x-claude-code-ide-authorization") != os.environ["TOKEN"].encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await inner(scope, receive, send)

    uvicorn.run(guarded, host="127.0.0.1", port=PORT, log_level="error")
elif KIND == "mcp-stdio":
    server.run("stdio")
elif KIND == "fastmcp-http":
    server.run(transport="http", host="127.0.0.1", port=PORT, show_banner=False)
else:
    server.run({"mcp-http": "streamable-http", "mcp-sse": "sse"}[KIND], host="127.0.0.1", port=PORT)
