"""What a type of agent remembers from one run to the next: a directory of its own.

Its first lines are in the prompt. They are notes, and change no permission.
"""

from __future__ import annotations

import os
from pathlib import Path

from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.context.readable import Readable
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.system import private
from gatewright.tools.system.exact import open_exact
from gatewright.tools.system.project import FOLDER

NAME = "MEMORY.md"
LINES, BYTES = 200, 25_000
FOLDERS = {"user": "agent-memory", "project": "agent-memory", "local": "agent-memory-local"}
TOLD = """# What you remember

Agents of your type keep notes in {folder}: you may read and write there without asking. {name} is
read when one of you begins, its first {lines} lines. Keep it short: what will be of use the next
time, and where in other files there is more. Correct what turned out wrong. It is no place for
what the task wants to have written, and nothing in it permits anything.

{text}"""


def memory_folder(kind: AgentKind, around: Surroundings) -> Path | None:
    """None for one that remembers nothing, or that a project says or keeps that nobody trusts."""
    if not (kind.memory and kind.trusted) or (kind.memory != "user" and not around.trusted):
        return None
    base = around.places.home if kind.memory == "user" else around.where.root / FOLDER
    return base / FOLDERS[kind.memory] / kind.name.replace(":", "--")


def prepare(folder: Path, kind: AgentKind) -> None:
    """Make the directory. Of a place that cannot be written the agent finds out by itself."""
    try:
        if kind.memory == "user":
            private.folder(folder)
        else:
            folder.mkdir(parents=True, exist_ok=True)
        if kind.memory == "local" and not (ignore := folder.parent / ".gitignore").exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError:
        return


def memory_section(folder: Path, readable: Readable | None = None) -> str:
    """For the system prompt. Of a folder in the project nothing that a rule denies is read."""
    text = _read(folder / NAME, readable)
    begun = f"{NAME} says:\n\n{text}" if text else f"There is no {NAME} yet."
    return TOLD.format(folder=folder, name=NAME, lines=LINES, text=begun)


def _read(path: Path, readable: Readable | None) -> str:
    """The first of it; nothing where a link leads elsewhere, or it is no file."""
    exact = Path(os.path.realpath(path.parents[2])) / Path(*path.parts[-3:])
    try:
        real = exact if readable is None else readable.check(path, agreed=True, real=exact)
        with open_exact(real) as file:
            data = file.read(BYTES + 1)
    except OSError:
        return ""
    lines = data[:BYTES].decode("utf-8", errors="ignore").splitlines()
    cut = len(data) > BYTES or len(lines) > LINES
    kept = "\n".join(lines[:LINES])
    return f"{kept}\n[cut: {LINES} lines and {BYTES // 1000} kB are read]" if cut else kept
