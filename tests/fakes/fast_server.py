"""A server made with fastmcp: a picture that is one, progress, and a tool that comes later."""

from __future__ import annotations

import asyncio
import base64

from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image
from mcp_types import ToolListChangedNotification

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
server = FastMCP("fast")


@server.tool
def add(a: int, b: int) -> int:
    return a + b


@server.tool
def picture() -> Image:
    return Image(data=PIXEL, format="png")


@server.tool
async def work(steps: int, context: Context) -> str:
    for step in range(steps):
        await context.report_progress(step, steps, f"step {step}")
        await asyncio.sleep(0.25)
    return "worked"


@server.tool
async def grow(context: Context) -> str:
    """Offers one tool more from now on."""

    def later(word: str) -> str:
        return f"later {word}"

    server.tool(later)
    await context.send_notification(ToolListChangedNotification())
    return "grown"


if __name__ == "__main__":
    server.run(show_banner=False)
