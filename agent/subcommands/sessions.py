"""`agent sessions`: the stored sessions of this directory, and what was said in them."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gatewright.agent.errors import SessionError
from gatewright.agent.frontends.sentences import Spoken
from gatewright.agent.record.codec import Header
from gatewright.agent.record.events import Envelope, UserMessage
from gatewright.agent.subcommands.place import here
from gatewright.agent.subcommands.tell import give, tell
from gatewright.agent.text.printable import visible
from gatewright.agent.transcript.index import (
    ago,
    describe,
    find_session,
    list_everywhere,
    list_sessions,
)
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.reader import branch_of, read_transcript
from gatewright.tools.blocks import Table, plain
from gatewright.tools.protocol import TextContent

group = typer.Typer(help="Stored sessions.", no_args_is_help=True)


class Format(StrEnum):
    MD = "md"
    JSON = "json"
    HTML = "html"


Session = Annotated[str, typer.Argument(help="Its id, the start of one, a file, or title words.")]
Everywhere = Annotated[bool, typer.Option("--all", help="Of every directory.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")]
Kind = Annotated[Format, typer.Option("--format", "-f", help="What to write.")]
Target = Annotated[str, typer.Option("--output", "-o", help="A new file, instead of the screen.")]
WithAgents = Annotated[bool, typer.Option("--with-agents", help="And what its agents did.")]
Sure = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@group.command(name="list")
def list_(everywhere: Everywhere = False, as_json: AsJson = False, limit: Limit = 50) -> None:
    """List sessions, newest first."""
    home = here().places.home
    found = list_everywhere(home, limit=limit) if everywhere else list_sessions(_folder())[:limit]
    if as_json:
        give(msgspec.json.format(msgspec.json.encode(found, enc_hook=str)).decode())
        return
    if not found:
        tell("There are no sessions yet." if everywhere else "None here; try --all.")
        return
    head = ("Session", "Age", "Size", "Branch", "Title", *(("Directory",) if everywhere else ()))
    now = time.time()
    rows = tuple(
        (
            listed.id,
            ago(now - listed.changed),
            f"{max(1, listed.size // 1024)} kB",
            listed.branch,
            listed.title[:60],
            *((listed.cwd,) if everywhere else ()),
        )
        for listed in found
    )
    tell(plain(Table(head, rows)))


@group.command()
def show(session: Session) -> None:
    """Print a session as text."""
    path = find_session(_folder(), session)
    spoken = Spoken()
    for envelope in branch_of(path):
        tell(_said(envelope) or spoken.text(envelope), nl=False)


@group.command()
def search(words: list[str], limit: Limit = 20, as_json: AsJson = False) -> None:
    """Find messages with all of these words, in the sessions of every directory."""
    from gatewright.agent.transcript.search import search as find  # noqa: PLC0415  lazy: sqlite3

    hits = find(here().places.home, " ".join(words), limit=limit)
    if as_json:
        facts = [
            {"session": hit.session, "path": str(hit.path), "who": hit.who, "snippet": hit.snippet}
            for hit in hits
        ]
        give(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for hit in hits:
        age = ago(time.time() - hit.time)
        tell(f"{hit.session}  {age.rjust(7)}  {hit.who}: {' '.join(hit.snippet.split())}")
    if not hits:
        tell("Nothing found.")
        raise typer.Exit(1)


@group.command()
def export(
    session: Session, format: Kind = Format.MD, output: Target = "", agents: WithAgents = False
) -> None:
    """Write a session as a document, without the secrets that are known."""
    from gatewright.agent.text.redact import Redactor  # noqa: PLC0415  only to export
    from gatewright.agent.transcript import export as document  # noqa: PLC0415

    path = find_session(_folder(), session)
    header = read_transcript(path).header
    redactor = Redactor(os.environ, here().secrets)
    below = _agents_of(path) if agents else ()
    text = document.export(header, branch_of(path), format.value, redactor, below)
    if not output:
        give("".join(text), nl=False)
        return
    try:
        with Path(output).open("x", encoding="utf-8") as file:
            file.writelines(text)
    except OSError as error:
        raise SessionError(f"{output} cannot be written: {error.strerror}.") from error
    tell(f"Written to {output}")


@group.command()
def repair(session: Session) -> None:
    """Write a session's file anew without what cannot be read; the original stays beside it."""
    from gatewright.agent.transcript import upkeep  # noqa: PLC0415  only to repair

    done = upkeep.repair(find_session(_folder(), session))
    if done.backup is None:
        tell("Nothing had to be repaired.")
        return
    tell(f"{done.kept} records kept, {done.dropped} dropped, {done.rejoined} rejoined.")
    tell(f"As it was: {done.backup}")


@group.command()
def delete(session: Session, yes: Sure = False) -> None:
    """Delete a session with everything kept beside it."""
    from gatewright.agent.transcript import upkeep  # noqa: PLC0415  only to delete

    path = find_session(_folder(), session)
    listed = describe(path)
    name = f"{path.stem} ({listed.title})" if listed and listed.title else path.stem
    if not yes:
        if not sys.stdin.isatty():
            raise SessionError(f"Add --yes to delete {name}.")
        typer.confirm(visible(f"Delete {name}?"), abort=True)
    upkeep.delete(path)
    tell(f"Deleted {name}")


@group.command(name="import")
def import_(file: Annotated[Path, typer.Argument(help="A session file of Claude Code.")]) -> None:
    """Copy a session of Claude Code, to go on with it here."""
    from gatewright.agent.transcript.importers import import_claude  # noqa: PLC0415

    target = import_claude(file, here().places.home)
    tell(f"Imported. In its directory: agent --resume {target.stem}")


def _agents_of(session: Path) -> Iterator[tuple[Header, Iterator[Envelope]]]:
    """In the order of their starts; of one that cannot be read, why it is left out."""
    found: list[tuple[Header, Path]] = []
    for file in session.with_suffix("").glob("agents/*.jsonl"):
        try:
            found.append((read_transcript(file).header, file))
        except SessionError as error:
            tell(f"Left out: {error}", err=True)
    for header, file in sorted(found, key=lambda one: (one[0].created, one[0].id)):
        yield header, branch_of(file)


def _said(envelope: Envelope) -> str:
    """What the person said, marked as theirs."""
    event = envelope.event
    if not isinstance(event, UserMessage) or event.hidden:
        return ""
    text = "\n".join(part.text for part in event.content if isinstance(part, TextContent))
    return "".join(f"> {line}\n" for line in text.splitlines())


def _folder() -> Path:
    return project_folder(here().places.home, Path.cwd())
