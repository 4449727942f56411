"""What fits the last word of a command line: sub-commands, flags, and the values they take.

Runs at every press of Tab, so typer is imported for flags of a sub-command only. What sessions and
settings say is data of others: one line each, without what could act on a terminal.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.flags import BY_NAME, FLAGS, Flag
from gatewright.agent.subcommands.names import SUBCOMMANDS
from gatewright.agent.text.printable import visible

Offer: TypeAlias = tuple[str, str]  # a word, and what it is
MOST = 200
BREAKS = (":", "=")  # bash makes words of their own of these
WITH_SESSION = ("show", "export", "repair", "delete")


def answer(shell: str, words: Sequence[str]) -> str:
    """One line for each offer, for shells that show it with what it is."""
    joined = rejoined(words) if shell == "bash" else list(words or ("",))
    last = joined[-1]
    flag, equals, value = last.partition("=")
    if equals and flag in BY_NAME:
        found = [(f"{flag}={word}", help) for word, help in _values(BY_NAME[flag], value)]
    else:
        found = list(itertools.islice(offers(joined), MOST))
    if shell != "bash":
        return "".join(f"{_line(word)}\t{_line(help)}\n" for word, help in found)
    cut = max(last.rfind(mark) for mark in BREAKS) + 1
    return "".join(f"{_line(word)[cut:]}\n" for word, _ in found)


def rejoined(words: Sequence[str]) -> list[str]:
    """The words as they were typed, from those that bash broke at colons and equals signs."""
    joined: list[str] = []
    glue = False
    for word in words or ("",):
        if joined and (glue or word in BREAKS):
            joined[-1] += word
        else:
            joined.append(word)
        glue = word in BREAKS
    return joined


def offers(words: Sequence[str]) -> Iterator[Offer]:
    """What the last word may become; nothing where names of files fit."""
    *before, last = words
    if before and before[0] in SUBCOMMANDS:
        return _begun(_below(before, last), last)
    flag = BY_NAME.get(before[-1]) if before else None
    if flag is not None and flag.kind != "switch":
        return _values(flag, last)
    if last.startswith("-"):
        return _begun(((name, f.help) for f in FLAGS if not f.hidden for name in f.names), last)
    return _begun(SUBCOMMANDS.items() if not before else (), last)


def _below(before: Sequence[str], last: str) -> Iterable[Offer]:
    from gatewright.agent.launch.cli import (  # noqa: PLC0415  lazy: 44 ms, typer
        application,
        below,
        choices_of,
        flags_of,
        named_by,
    )

    command, path = named_by(application(before[0]), before)
    flags = {name: (help, choices) for name, help, choices in flags_of(command)}
    if before[-1] in flags and flags[before[-1]][1]:
        return ((choice, "") for choice in flags[before[-1]][1])
    if last.startswith("-"):
        return ((name, help) for name, (help, _) in flags.items())
    if inside := below(command):
        return ((name, each.short_help or "") for name, each in inside.items())
    given = [word for word in before[len(path) :] if not word.startswith("-")]
    if path[0] == "sessions" and path[-1] in WITH_SESSION and not given:
        return _sessions()
    if path[0] == "workflows" and not given:
        return _workflows(path[-1])
    return ((choice, "") for choice in choices_of(command, len(given)))


def _values(flag: Flag, begun: str) -> Iterator[Offer]:
    if flag.choices:
        return _begun(((choice, "") for choice in flag.choices), begun)
    return _begun(VALUES[flag.field](), begun) if flag.field in VALUES else iter(())


def _begun(found: Iterable[Offer], begun: str) -> Iterator[Offer]:
    return ((word, help) for word, help in found if word.startswith(begun))


def _modes() -> Iterable[Offer]:
    from gatewright.permissions.modes import MODES, flag_mode  # noqa: PLC0415  lazy: 3 ms

    for name, mode in MODES.items():
        try:
            flag_mode(name)
        except ValueError:
            continue
        yield name, mode.runs


def _models() -> Iterable[Offer]:
    from gatewright.agent.providers.catalog import load_catalog  # noqa: PLC0415  lazy: 5 ms

    catalog = load_catalog()
    yield "demo", "needs no key and no network"
    yield from ((alias, "") for alias in catalog.aliases)
    yield from ((name, "") for name in sorted(catalog.models))


def _workflows(verb: str) -> Iterable[Offer]:
    """Saved ones, or runs."""
    try:
        if verb in ("show", "run"):
            from gatewright.agent.subcommands.workflows.workflows_here import WorkflowsHere  # noqa: PLC0415  lazy

            return [(row.name, row.description) for row in WorkflowsHere().rows()]
        if verb in ("resume", "export"):
            from gatewright.agent.subcommands.workflows.runs_here import runs_here  # noqa: PLC0415  lazy

            return [(run.id, f"{run.name}, {run.status}") for run in runs_here()]
    except (OSError, GatewrightError):  # settings that cannot be read, for one
        return ()
    return ()


def _sessions() -> Iterable[Offer]:
    """Those of this directory, newest first."""
    from gatewright.agent.settings.paths import places  # noqa: PLC0415  lazy: 10 ms
    from gatewright.agent.transcript.index import list_sessions  # noqa: PLC0415
    from gatewright.agent.transcript.place import project_folder  # noqa: PLC0415

    try:
        cwd = Path.cwd()
        found = list_sessions(project_folder(places(cwd, os.environ).home, cwd))
    except (OSError, GatewrightError):
        return
    yield from ((each.id, each.title) for each in found[:MOST])


def _tools() -> Iterable[Offer]:
    from gatewright.tools.registry import TOOLS  # noqa: PLC0415  lazy: 5 ms

    return ((name, "") for name in TOOLS)


def _tools_and_presets() -> Iterable[Offer]:
    from gatewright.tools.registry import PRESETS  # noqa: PLC0415  lazy: 5 ms

    yield from ((name, ", ".join(preset.tools)) for name, preset in PRESETS.items())
    yield from _tools()


VALUES: Mapping[str, Callable[[], Iterable[Offer]]] = {
    "mode": _modes,
    "model": _models,
    "fallback_model": _models,
    "resume": _sessions,
    "allowed_tools": _tools,
    "disallowed_tools": _tools,
    "tools": _tools_and_presets,
}


def _line(text: str) -> str:
    return " ".join(visible(text).split())
