"""Rows of the targets about skills and plugins in use: the screen, an invocation, an install.

Run by `tests/bench/skills.py`. Compare within one run only.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from gatewright.agent.plugins.installing import install_path
from gatewright.agent.plugins.record import Record
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.switching import switch
from gatewright.agent.plugins.tree import remove_tree
from gatewright.agent.record.events import ToolFinished, ToolStarted
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.traits import Source
from tests.bench.figures import MS, Verdict, at_most, ratio
from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread
from tests.fakes.plugin_trees import full_plugin, write
from tests.fakes.terminal import Terminal
from tests.permissions.composed import desk
from tests.skills.trees import Tree, settle

READY, TYPED = "\u276f", "comm"
FILES, PLUGINS, COMMANDS, SKILLS = 100, 20, 500, 200
BYTES = 20_000
SEEN_MS, KEY_MS, MORE_MS = 50.0, 16.0, 5.0
ABOUT = "description: Does the thing number {n} well. Use when somebody asks for number {n}"


def ran(pid: int) -> float:
    """Seconds of the processor that its main thread had: what draws and takes keys."""
    text = Path(f"/proc/{pid}/task/{pid}/schedstat").read_text(encoding="utf-8")
    return int(text.split()[0]) / 1e9


def screen(made: Program, url: str) -> Terminal:
    return made.terminal(env={"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url})


def painted(made: Program, url: str) -> float:
    with screen(made, url) as terminal:
        terminal.wait_for(READY, within=60)
        return ran(terminal.pid)


def prepared(folder: Path) -> tuple[Program, Tree]:
    folder.mkdir()
    made = Program.prepare(folder)
    tree = Tree(folder)
    tree.home = made.home
    return made, tree


def paints(top: Path, runs: int) -> Sequence[Verdict]:
    """The first prompt of homes with nothing, with skills, with plugins."""
    none, _ = prepared(top / "bare")
    skilled, tree = prepared(top / "skilled")
    for n in range(SKILLS):
        tree.skill(tree.home / ".claude/skills", f"skill-{n:03}", ABOUT.format(n=n), "Do it.\n")
    settle(tree.top)
    plugged, _ = prepared(top / "plugged")
    places = Places(home=plugged.home / ".gatewright", root=plugged.project)
    for n in range(PLUGINS):
        source = hundred(top / "sources" / f"kit-{n:02}", f"kit-{n:02}")
        switch(places, installed(Store(places.home), source).id, Source.USER, on=True)
    found: list[list[float]] = [[], [], []]
    with ServerThread("say: x\n", repeat=True) as model:
        for run in range(2 * runs + 1):
            for times, made in zip(found, (none, skilled, plugged), strict=True):
                seconds = painted(made, model.url)
                if run:  # the first fills caches
                    times.append(seconds)
    return [
        ratio("first paint, 200 skills / none", found[1], found[0], 1.02),
        ratio("first paint, 20 plugins / none", found[2], found[0], 1.03),
    ]


def menu(top: Path, runs: int) -> Sequence[Verdict]:
    """Keys behind a slash with many commands, and a changed file in the next look."""
    made, tree = prepared(top / "menu")
    for n in range(COMMANDS):
        tree.command(tree.home / ".claude/commands", f"command-{n:03}.md", f"Do {n}.\n")
    settle(tree.top)
    found: list[float] = []
    with ServerThread("say: x\n", repeat=True) as model:
        for _ in range(max(2, runs // 4)):
            with screen(made, model.url) as terminal:
                terminal.wait_for(READY, within=60)
                terminal.look(1.0)
                terminal.send("/")
                terminal.wait_for("more", within=60)
                terminal.look(1.0)
                for end in range(1, len(TYPED) + 1):
                    before = ran(terminal.pid)
                    terminal.send(TYPED[end - 1])
                    terminal.wait_for(f"/{TYPED[:end]}", within=60)
                    terminal.look(0.1)
                    found.append((ran(terminal.pid) - before) * MS)
                terminal.wait_for("command-000", within=60)
    return [
        at_most("key of the / menu, 500 commands", statistics.median(found), KEY_MS, "ms"),
        at_most("changed SKILL.md, until it is seen", _seen(top, runs), SEEN_MS, "ms"),
    ]


def _seen(top: Path, runs: int) -> float:
    """A look of 200 skills that finds one of them changed."""
    tree = Tree(top / "seen")
    for n in range(SKILLS):
        tree.skill(tree.home / ".claude/skills", f"skill-{n:03}", ABOUT.format(n=n), "Do it.\n")
    book = tree.book()
    book.now()
    times: list[float] = []
    for run in range(runs):
        about = f"description: Changed {run} times"
        tree.skill(tree.home / ".claude/skills", "skill-007", about, "Do it.\n")
        began = time.thread_time()
        seen = book.now().find("skill-007")
        times.append((time.thread_time() - began) * MS)
        assert seen is not None and seen.said.description == f"Changed {run} times"
    return statistics.median(times)


def invocation(top: Path, runs: int) -> Sequence[Verdict]:
    return asyncio.run(_invocation(top / "invoked", runs))


async def _invocation(top: Path, runs: int) -> Sequence[Verdict]:
    """A call of Skill beside a call of Read of that very file, each its own."""
    count = max(10, runs)
    body = "Do this, then that, and look at what came of it.\n" * (BYTES // 49)
    folder = top / "project/.claude/skills"
    script: list[str] = []
    for n in range(count):
        write(folder / f"s{n}/SKILL.md", f"---\nname: s{n}\ndescription: Does {n}.\n---\n\n{body}")
        script.append(f'call[k{n}]: Skill {{"skill": "s{n}"}}')
        file = json.dumps({"file_path": str(folder / f"s{n}/SKILL.md")})
        script.append(f"call[r{n}]: Read {file}")
    async with desk(top, [*script, "say: done"]) as made:
        made.session.submit("go")
        for n in range(count):
            await made.finished(f"r{n}")
        await made.ended()
        began = {e.event.call_id: e.timestamp for e in made.seen.envelopes
                 if isinstance(e.event, ToolStarted)}  # fmt: skip
        took = {e.event.call_id: e.timestamp - began[e.event.call_id] for e in made.seen.envelopes
                if isinstance(e.event, ToolFinished)}  # fmt: skip
    skill = statistics.median(took[f"k{n}"] for n in range(count)) * MS
    read = statistics.median(took[f"r{n}"] for n in range(count)) * MS
    row = at_most("invocation of 20 kB, over Read of it", skill - read, MORE_MS, "ms")
    return [row._replace(found=f"{row.found} ({skill:.1f} / {read:.1f})")]


def hundred(root: Path, name: str) -> Path:
    """A plugin with every part, and references of 20 kB up to a hundred files."""
    full_plugin(root, name)
    there = sum(1 for path in root.rglob("*") if path.is_file())
    for n in range(FILES - there):
        write(root / "skills/sweep/references" / f"{n}.md", f"{n} {'text ' * (BYTES // 5)}\n")
    return root


def installed(store: Store, source: Path) -> Record:
    return install_path(store, source, lambda about: bool(about)).record


def copied(source: Path, into: Path) -> None:
    """The least that an install must do, with nothing of ours."""
    shutil.copytree(source, into)
    for folder, _, names in os.walk(into):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:  # noqa: PTH118, PTH123
                hashlib.file_digest(file, "sha256").hexdigest()


def install(top: Path, runs: int) -> Sequence[Verdict]:
    """A directory of a hundred files; in memory where there is such a place: disks differ."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else top) as made:
        return [_install(Path(made), runs)]


def _install(top: Path, runs: int) -> Verdict:
    source = hundred(top / "kit", "kit")
    ours: list[float] = []
    plain: list[float] = []
    for run in range(runs + 1):
        store = Store(top / f"home{run}")
        into = top / f"copy{run}"
        acts: tuple[Callable[[], object], ...] = (
            partial(installed, store, source),
            partial(copied, source, into),
        )
        for times, act in zip((ours, plain), acts, strict=True):
            began = time.thread_time()
            act()
            if run:
                times.append(time.thread_time() - began)
        remove_tree(into)
        remove_tree(store.folder)
    return ratio("install of 100 files / copying and hashing", ours, plain, 1.5)


ROWS = (paints, menu, invocation, install)
