"""A report about a defect: versions, terminal, names of settings, the last errors; no secrets.

What was said, what files hold and what settings are worth is not in it.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.redact import Redactor
from gatewright.agent.version import VERSION
from gatewright.tools.system import private
from gatewright.tools.system.git import of_itself

TERMINAL = ("TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLORTERM", "LANG", "LC_ALL")
PRESENT = ("TMUX", "STY", "SSH_TTY", "NO_COLOR", "WSL_DISTRO_NAME")  # only whether they are set
TABLES = ("env", "providers", "projects")
LOG_BYTES = 64 * 1024
LOG_LINES = 120
GIT_TIME = 5.0
_BEGINS = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ([A-Z]+) ")  # a record of the log


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What the session knows: the person's own words, the model, the mode."""

    said: str
    model: str
    mode: str


def write_report(around: Surroundings, told: Told) -> Path:
    """Returns the file, which only the person can read. Raises OSError."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    folder = around.places.home / "reports"
    private.folder(folder)
    text = "\n".join([*_head(told), *_machine(around), *_settings(around), *_errors(around)])
    path = folder / f"bug-{stamp}-{os.getpid()}.md"
    with open(path, "w", encoding="utf-8", opener=private.opener) as file:
        redacted = Redactor(around.env, around.secrets).text(text)
        file.write(redacted.replace(str(around.where.home), "~") + "\n")
    return path


def _head(told: Told) -> Iterator[str]:
    yield "# Report about a defect"
    yield ""
    yield told.said or "(What happened, what should have happened, and how to see it again.)"
    yield ""
    yield f"- model {told.model or 'none'}, mode {told.mode}"


def _machine(around: Surroundings) -> Iterator[str]:
    yield f"- version {VERSION}, Python {platform.python_version()}"
    yield f"- {platform.system()} {platform.release()} {platform.machine()}"
    yield f"- {of_itself(around.caller, GIT_TIME) or 'git not found'}"
    size = shutil.get_terminal_size()
    yield f"- terminal {size.columns} x {size.lines}, output to one: {sys.stdout.isatty()}"
    for name in TERMINAL:
        if value := around.env.get(name):
            yield f"- {name}={value}"
    there = [name for name in PRESENT if around.env.get(name)]
    yield f"- set: {', '.join(there) or 'none of ' + ', '.join(PRESENT)}"


def _settings(around: Surroundings) -> Iterator[str]:
    """Names and where they come from; of tables with names of the person's own only the table."""
    yield ""
    yield "## Settings that are set"
    yield ""
    found: dict[str, set[str]] = {}
    for key, sources in around.loaded.provenance.items():
        parts = key.split(".")
        name = parts[0] if parts[0] in TABLES else key
        found.setdefault(name, set()).update(str(source) for source in sources)
    for name, layers in sorted(found.items()):
        yield f"- {name} ({', '.join(sorted(layers))})"
    if not found:
        yield "None."
    count = len(around.loaded.problems)
    if count:
        yield f"- {count} of them {'has a problem' if count == 1 else 'have problems'}"


def _errors(around: Surroundings) -> Iterator[str]:
    """The end of the newest log, and of the file with defects."""
    folder = around.places.home / "logs"
    logs = [path for path in folder.glob("*.log") if path.name != "errors.log"]
    newest = sorted(logs, key=_changed)[-1:]
    for path in (folder / "errors.log", *newest):
        yield ""
        yield f"## The end of {path.name}"
        yield ""
        yield "```"
        yield from _tail(path)
        yield "```"


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _tail(path: Path) -> Sequence[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_BYTES))
            text = file.read(LOG_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ["(there is none: no error was kept)"]
    lines = list(_of_errors(text.splitlines()))
    return lines[-LOG_LINES:] or ["(nothing but messages about normal work)"]


def _of_errors(lines: Sequence[str]) -> Iterator[str]:
    """A message may have many lines: those after its first have no level of their own."""
    wanted = False  # the first may be the rest of a message whose beginning was not read
    for line in lines:
        if found := _BEGINS.match(line):
            wanted = found[1] not in ("DEBUG", "INFO")
        if wanted:
            yield line
