"""`agent sessions`: the stored sessions of this directory, and what was said in them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from gatewright.agent.events import Envelope, UserMessage
from gatewright.agent.frontends.spoken import Spoken
from gatewright.agent.subcommands.place import here
from gatewright.agent.transcript.index import Listed, find_session, list_sessions
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.reader import read_transcript
from gatewright.tools.blocks import Table, plain
from gatewright.tools.protocol import TextContent

group = typer.Typer(help="Stored sessions.", no_args_is_help=True)

Everywhere = Annotated[bool, typer.Option("--all", help="Of every directory.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")]
UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="sessions")


@group.command(name="list")
def list_(everywhere: Everywhere = False, as_json: AsJson = False, limit: Limit = 50) -> None:
    """List sessions, newest first."""
    found = _sessions(everywhere)[:limit]
    if as_json:
        typer.echo(json.dumps([_facts(listed) for listed in found], indent=2, ensure_ascii=False))
        return
    if not found:
        typer.echo("There are no sessions here yet." if everywhere else "None here; try --all.")
        return
    head = ("Session", "Age", "Size", "Title", *(("Directory",) if everywhere else ()))
    now = time.time()
    rows = tuple(
        (
            listed.id,
            _age(now - listed.changed),
            f"{max(1, listed.size // 1024)} kB",
            listed.title[:60],
            *((listed.cwd,) if everywhere else ()),
        )
        for listed in found
    )
    typer.echo(plain(Table(head, rows)))


@group.command()
def show(session: Annotated[str, typer.Argument(help="Its id, file, or words of it.")]) -> None:
    """Print a session as text."""
    stored = read_transcript(find_session(_folder(), session))
    spoken = Spoken()
    for envelope in stored.branch:
        typer.echo(_said(envelope) or spoken.text(envelope), nl=False)
    if stored.skipped:
        typer.echo(f"{stored.skipped} unreadable records were left out.", err=True)


def _said(envelope: Envelope) -> str:
    """What the person said, marked as theirs."""
    event = envelope.event
    if not isinstance(event, UserMessage) or event.hidden:
        return ""
    text = "\n".join(part.text for part in event.content if isinstance(part, TextContent))
    return "".join(f"> {line}\n" for line in text.splitlines())


def _folder() -> Path:
    return project_folder(here().places.home, Path.cwd())


def _sessions(everywhere: bool) -> list[Listed]:
    folders = [_folder()]
    if everywhere:
        folders = [path for path in _folder().parent.glob("*") if path.is_dir()]
    found = [listed for folder in folders for listed in list_sessions(folder)]
    return sorted(found, key=lambda listed: listed.changed, reverse=True)


def _facts(listed: Listed) -> dict[str, object]:
    return {
        "id": listed.id,
        "title": listed.title,
        "cwd": listed.cwd,
        "path": str(listed.path),
        "changed": listed.changed,
        "size": listed.size,
    }


def _age(seconds: float) -> str:
    for size, unit in UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"
