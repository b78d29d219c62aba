"""An MCP server on FastMCP with the habits that servers have: pages of two tools, errors, structure, progress, logs."""

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from mcp.types import ToolAnnotations

server = FastMCP("habits", instructions="Weather of one city.", list_page_size=2)
READS = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READS)
def weather(city: str) -> dict:
    """The weather in a city."""
    return {"city": city, "degrees": 21}


@server.tool(annotations=READS)
def broken() -> str:
    """Fails."""
    raise ToolError("the thermometer is frozen")


@server.tool
async def slow(steps: int, ctx: Context) -> str:
    """Says how far it is."""
    for step in range(steps):
        await ctx.report_progress(step, steps)
        await ctx.info(f"step {step}")
    return f"{steps} steps done"


@server.tool
def nothing() -> None:
    """Returns nothing."""


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
def forget() -> str:
    """Forgets everything."""
    return "forgotten"


server.run(show_banner=False)
