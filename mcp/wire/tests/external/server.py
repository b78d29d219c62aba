"""A small MCP server on one of the Python SDKs: server.py KIND [PORT]. Its tool `count` reports progress before it answers."""

import sys

KIND, PORT = sys.argv[1], int((sys.argv[2:] or ["0"])[0])

if KIND.startswith("fastmcp"):
    from fastmcp import Context, FastMCP

    server = FastMCP("referee")
elif KIND == "ws":
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


if KIND == "ws":
    import uvicorn
    from mcp.server.websocket import websocket_server

    async def app(scope, receive, send):
        if scope["type"] == "websocket":
            async with websocket_server(scope, receive, send) as (read, write):
                inner = server._mcp_server
                await inner.run(read, write, inner.create_initialization_options())

    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="error")
elif KIND == "mcp-stdio":
    server.run("stdio")
elif KIND == "fastmcp-http":
    server.run(transport="http", host="127.0.0.1", port=PORT, show_banner=False)
else:
    server.run({"mcp-http": "streamable-http", "mcp-sse": "sse"}[KIND], host="127.0.0.1", port=PORT)
