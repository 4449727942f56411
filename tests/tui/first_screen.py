"""Run the screen in this terminal with a session that never opens, as `python -m` of a test."""

from __future__ import annotations

import asyncio
import sys

from gatewright.agent.settings.schema import Ui
from gatewright.tui import app


async def never() -> None:
    await asyncio.Event().wait()


if __name__ == "__main__":
    sys.exit(app.run(never, ui=Ui(theme=sys.argv[1])))  # type: ignore[arg-type]  # pyright: ignore
