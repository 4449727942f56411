"""`agent import claude`: show what would be copied of Claude Code, ask, copy it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, get_args

import typer

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.foreign import claude as theirs
from gatewright.agent.settings.foreign.claude_files import HERE, Entry, Way, bring, entries
from gatewright.agent.settings.foreign.offers import remember
from gatewright.agent.settings.paths import Places
from gatewright.agent.subcommands.place import here, refuse_inside_session, wrong_rule
from gatewright.agent.subcommands.tell import tell

group = typer.Typer(help="Copy settings of another program.", no_args_is_help=True)
Sure = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Files = Annotated[
    str,
    typer.Option(help="Bring skills, commands, agents and styles over, too: link or copy."),
]
WAYS: tuple[Way, ...] = get_args(Way)
BRING = "--files link, or copy, brings them over"


@group.command()
def claude(yes: Sure = False, files: Files = "") -> None:
    """Copy permissions, env and model of Claude Code into our files; yours stay as they are."""
    refuse_inside_session()
    way = way_of(files) if files else None
    places = here().places
    copies, found = surveyed(places, os.environ), list(entries(places, os.environ))
    for line in (*shown(copies), *listed(found, way)):
        tell(line)
    if not (any(copy.values for copy in copies) or (way and any(not each.why for each in found))):
        tell("There is nothing to copy.")
        return
    if not yes:
        if not sys.stdin.isatty():
            raise SettingsError("Nothing was copied. Add --yes to copy this.")
        typer.confirm("Copy this?", abort=True)
    for line in (*copied(copies), *(brought(found, way) if way else ())):
        tell(line)
    tell("agent sessions import FILE copies a session.")


def way_of(text: str) -> Way:
    """Raises SettingsError."""
    for way in WAYS:
        if way == text:
            return way
    raise SettingsError(f"Files are brought over as link or copy, not as {text[:40]}.")


def surveyed(places: Places, env: Mapping[str, str]) -> list[theirs.Copy]:
    """What can be copied, of each file there is; who looks need not be told of them any more."""
    copies = list(theirs.survey(places, env, wrong_rule))
    remember(places, [copy.origin for copy in copies])
    return copies


def shown(copies: Iterable[theirs.Copy]) -> Iterator[str]:
    """What would be copied of their settings, and what not and why, in lines."""
    for copy in copies:
        yield f"{copy.origin} -> {copy.target}"
        yield from (f"  + {key}  {value}" for key, value in theirs.rows(copy.values))
        if not copy.values:
            yield "  nothing new"
        yield from (f"  - {left.what}: {left.why.rstrip('.')}." for left in copy.left)


def listed(found: Sequence[Entry], way: Way | None, bring: str = BRING) -> Iterator[str]:
    """Their files, by directory: each where it would be brought, else that it counts there.

    `bring` says how they are brought over, here.
    """
    folders = dict.fromkeys(each.origin.parent for each in found)
    for folder in folders:
        inside = [each for each in found if each.origin.parent == folder]
        if way is None:
            there = all(each.why == HERE for each in inside)
            told = "all are brought over" if there else f"they count where they lie; {bring}"
            yield f"{folder} ({len(inside)}): {told}."
            continue
        yield f"{folder} -> {inside[0].target.parent}"
        for each in inside:
            kept = f"  - {each.origin.name}: {each.why}."
            yield kept if each.why else f"  + {each.origin.name}  {way}"


def copied(copies: Iterable[theirs.Copy]) -> Iterator[str]:
    """Copies it, and says so. Raises SettingsError."""
    for copy in copies:
        if copy.values:
            theirs.apply(copy)
            yield f"Copied into {copy.target}"


def brought(found: Iterable[Entry], way: Way) -> Iterator[str]:
    """Each by itself: one that cannot be brought is told, and keeps no other."""
    for each in found:
        if not each.why:
            try:
                yield bring(each, way)
            except SettingsError as error:
                yield str(error)
