"""Makes docs/screenshot.svg and .png: the real program at work in a small project of its own.

Tools, gate and edits are real; the model's words come from a script over the loopback interface.
Run it from the repository's root: `python docs/screenshot.py` (`rsvg-convert` makes the PNG).
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from PIL import Image

from gatewright.agent.build import open_session
from gatewright.agent.options import LaunchOptions
from gatewright.agent.session import Session
from gatewright.tui.app import AgentApp
from tests.fakes.model_server import ServerThread

FOLDER = Path(__file__).parent
SIZE = (112, 46)
MODEL = "anthropic/claude-sonnet-5-5"
QUESTION = "The lease test fails now and then. Why?"
LOCKS = '''\
"""Leases: a name belongs to one worker for a while."""

TTL = 30


async def hold(store, name, steps):
    lease = await store.acquire(name, ttl=TTL)
    for step in steps:
        await step()
    await lease.renew()
    return lease
'''
TEST = """\
import asyncio

from locks import hold


class Store:
    renewed = 0

    async def acquire(self, name, ttl):
        return self

    async def renew(self):
        self.renewed += 1


async def nothing():
    pass


store = Store()
asyncio.run(hold(store, "mail", [nothing, nothing, nothing]))
assert store.renewed == 3, f"renewed {store.renewed} times in 3 steps"
print("ok: renewed in every step")
"""
EDIT = {
    "file_path": "locks.py",
    "old_string": "        await step()\n    await lease.renew()\n",
    "new_string": (
        "        await step()\n        await lease.renew()  # a slow step must not outlive it\n"
    ),
}
SCRIPT = """\
say: I will read the lock and run its test.
call[a]: Read {"file_path": "locks.py"}
call[b]: Bash {"command": "python test_locks.py", "description": "Run the test"}
usage: in=2100 out=148 cache_read=14200
---
say: `renew` runs **once, after all steps**: a slow step outlives the lease, and another worker
  takes the name. Renewing after each step closes the gap.
call[c]: Edit {EDIT}
usage: in=900 out=231 cache_read=16300
---
say: Now the test again.
call[d]: Bash {"command": "python test_locks.py", "description": "Run the test again"}
usage: in=640 out=58 cache_read=17200
"""


async def wait(app: AgentApp, *words: str) -> None:
    """Until the screen shows these."""
    async with asyncio.timeout(20):
        shown = ""
        while not all(word in shown for word in words):
            await asyncio.sleep(0.05)
            shown = app.export_screenshot().replace("&#160;", " ")


async def picture(home: Path, url: str) -> str:
    env = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
    }

    async def opened() -> Session:
        return await open_session(LaunchOptions(model=MODEL), env, interactive=True)

    app = AgentApp(opened)
    async with app.run_test(size=SIZE) as pilot:
        await wait(app, "default")
        await pilot.press(*["space" if c == " " else c for c in QUESTION], "enter")
        for answered in range(3):
            await wait(app, "Yes, once")
            await pilot.pause(0.6)
            if answered < 2:
                await pilot.press("y")
                await pilot.pause(1.0)
        return app.export_screenshot(title="agent")


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        ServerThread(SCRIPT.replace("{EDIT}", json.dumps(EDIT))) as server,
    ):
        home, project = Path(folder, "home"), Path(folder, "harbour")
        home.mkdir()
        project.mkdir()
        (project / "locks.py").write_text(LOCKS, encoding="utf-8")
        (project / "test_locks.py").write_text(TEST, encoding="utf-8")
        back = Path.cwd()
        os.chdir(project)
        svg = asyncio.run(picture(home, server.url))
        os.chdir(back)
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("<svg ", '<svg xml:space="preserve" ', 1)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono").replace(
        "font-size: 20px", "font-size: 20.27px"
    )
    (FOLDER / "screenshot.svg").write_text(svg, encoding="utf-8")
    if shutil.which("rsvg-convert"):
        source, target = FOLDER / "screenshot.svg", FOLDER / "screenshot.png"
        subprocess.run(["rsvg-convert", "-z", "0.85", source, "-o", target], check=True)
        with Image.open(target) as image:
            image.convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE).save(
                target, optimize=True
            )


if __name__ == "__main__":
    main()
