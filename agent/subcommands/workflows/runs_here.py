"""The runs of workflows that sessions of this project left, read from their folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gatewright.agent.errors import SessionError
from gatewright.agent.subcommands.place import here
from gatewright.agent.text.redact import Redactor
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.workflows.runs.journal import AnyLine, CallSettled, read_lines, value_of
from gatewright.agent.workflows.runs.looked_up import earlier, folder_of, past_view
from gatewright.agent.workflows.runs.past import SCRIPT, read_run
from gatewright.agent.workflows.runs.views import RunView
from gatewright.tools.system.regular import read_regular

FOLDER = "workflows"  # of a session
BYTES = 1_000_000


def _places() -> Sequence[Path]:
    """The folders of runs, one for each session."""
    project = project_folder(here().places.home, Path.cwd())
    return [place for place in sorted(project.glob(f"*/{FOLDER}")) if place.is_dir()]


def runs_here() -> Sequence[RunView]:
    return earlier(_places(), ())


def run_here(id: str) -> RunView:
    """Raises SessionError."""
    found = past_view(_places(), id)
    if found is None:
        raise SessionError(f"There is no run {id} here: agent workflows runs lists them.")
    return found


def session_of(run: RunView) -> str:
    """The session that it goes on in; empty where that one was never written down."""
    folder = run.folder.parents[1]
    return run.session if folder.with_name(f"{folder.name}.jsonl").exists() else ""


def _whole(folder: Path, line: AnyLine) -> AnyLine:
    """With its value, where that has a file of its own."""
    if isinstance(line, CallSettled) and line.spill:
        return msgspec.structs.replace(line, value=value_of(folder, line), spill="")
    return line


def exported(id: str) -> str:
    """All that is kept of it as one JSON document. Raises SessionError, GatewrightError."""
    folder = folder_of(_places(), id)
    if folder is None:
        raise SessionError(f"There is no run {id} here: agent workflows runs lists them.")
    view, run = run_here(id), read_run(folder)
    document = {
        "format": "gatewright-workflow-run-1",
        "run": run,
        "status": view.status,
        "why": view.why,
        "cost": view.cost,
        "usage": view.usage,
        "script": read_regular(folder / SCRIPT, BYTES).decode("utf-8", "replace"),
        "journal": [_whole(folder, line) for line in read_lines(folder)],
    }
    text = msgspec.json.format(msgspec.json.encode(document), indent=1).decode()
    return Redactor(os.environ, here().secrets).text(f"{text}\n")
