"""Makes docs/screenshot.svg: the real program at work in a small project of its own.

Everything is real but the model, which is the offline demo, and how long things took.
Run it from the repository's root: `python docs/screenshot.py`; a test says when it is due.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from docs.pictures import FOLDER, stored

from gatewright.agent.build import open_session
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.session.session import Session
from gatewright.tui.app import AgentApp

SIZE = (112, 52)
LOCKS = '''\
"""Leases: a name belongs to one worker for a while."""


async def hold(store, name, steps):
    lease = await store.acquire(name, ttl=30)
    for step in steps[1:]:
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
ASKED = (
    "run python test_locks.py",
    'replace "steps[1:]" by "steps" in locks.py',
    "run python test_locks.py",
)
ENDS = (("It did not end well",), ("Done:", "is now"))


async def wait(app: AgentApp, *words: str) -> None:
    """Until the screen shows these."""
    async with asyncio.timeout(40):
        shown = ""
        while not all(word in shown for word in words):
            await asyncio.sleep(0.05)
            shown = app.export_screenshot().replace("&#160;", " ")


async def picture(home: Path) -> str:
    own = Path(sys.executable).parent  # has a `python`, which not every machine has
    env = {"HOME": str(home), "PATH": f"{own}{os.pathsep}{os.environ['PATH']}"}

    async def opened() -> Session:
        return await open_session(LaunchOptions(model="demo"), env, interactive=True)

    app = AgentApp(opened)
    async with app.run_test(size=SIZE) as pilot:
        await wait(app, "default")
        for number, words in enumerate(ASKED, start=1):
            app.repl.box.put(words)
            await pilot.pause(0.8)  # an answer's last key may still be on its way
            await pilot.press("enter")
            await wait(app, "Yes, once")
            if number < len(ASKED):
                await pilot.pause(0.6)  # a key that comes earlier is no answer
                await pilot.press("y")
                await wait(app, *ENDS[number - 1])
        return app.export_screenshot(title="agent")


def taken() -> str:
    """The picture as it is now."""
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "harbour")
        home.mkdir()
        project.mkdir()
        (project / "locks.py").write_text(LOCKS, encoding="utf-8")
        (project / "test_locks.py").write_text(TEST, encoding="utf-8")
        back = Path.cwd()
        os.chdir(project)
        try:
            svg = asyncio.run(picture(home))
        finally:
            os.chdir(back)
    return stored(svg.replace(folder, "/home/me"))


def main() -> None:
    (FOLDER / "screenshot.svg").write_text(taken(), encoding="utf-8")


if __name__ == "__main__":
    main()
