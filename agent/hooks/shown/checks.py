"""Whether what handlers would start is there: looks at the disk, starts nothing.

Only what is written out is judged; a word that a shell would still have to make is left alone.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.hooks.events import Kind
from gatewright.agent.hooks.handlers import SCRUBBED, Fault, Handler
from gatewright.agent.hooks.kinds.posting import refused
from gatewright.tools.system.regular import head_of

_BUILT_IN = """
. : [ [[ { } ! ( alias bg break builtin case cd command continue echo eval exec exit export false fg
for function getopts hash if jobs let local printf pwd read readonly return select set shift source
test time times trap true type ulimit umask unalias unset until wait while
"""
BUILT_IN = frozenset(_BUILT_IN.split())
INTERPRETERS = re.compile(r"(?:python|node|ruby|perl|bun|deno|php|bash|sh|zsh)[\d.]*")
_MADE = re.compile(r"[$`*?\[\]{}()<>|&;\n]")  # what a shell makes something else of
_ASSIGNMENT = re.compile(r"\w+=")
_SEPARATORS = "|&;\n<>()"
HEAD = 200  # bytes of a file that can be its first line


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Where handlers would run."""

    root: Path
    home: Path
    env: Mapping[str, str]
    urls: Sequence[str]  # allowedHttpHookUrls
    kinds: frozenset[Kind]  # those that run here


def troubles(handlers: Iterable[Handler], ground: Ground) -> Iterator[tuple[Handler, Fault]]:
    """Those that will not run, and why."""
    for each in handlers:
        if why := trouble(each, ground):
            yield each, Fault(place=each.place, event=each.event, message=why)


def trouble(handler: Handler, ground: Ground) -> str:
    """Why it will not run, after "PreToolUse hook"; empty where nothing is known against it."""
    said = handler.said
    if handler.broken:
        return handler.broken
    if handler.kind not in ground.kinds:
        return f"is of the kind {handler.kind}, which does not run here yet"
    if handler.kind == "http":
        of_project = handler.place.origin in SCRUBBED
        why = refused(said.url, ground.urls, of_project=of_project)
        return f"would be refused: {why}" if why else ""
    if handler.kind != "command" or said.shell == "powershell":
        return ""
    words = [said.command, *said.args] if said.args is not None else _words(said.command)
    return _program([_filled(word, ground) for word in words], ground)


def _words(command: str) -> list[str]:
    """The first simple command of a line; nothing where it does not begin with one."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=_SEPARATORS)
    lexer.whitespace_split = True
    lexer.commenters = ""
    found: list[str] = []
    try:
        for word in lexer:
            if word and set(word) <= set(_SEPARATORS):
                break
            if found or not _ASSIGNMENT.match(word):
                found.append(word)
    except ValueError:
        return []
    return found


def _filled(word: str, ground: Ground) -> str:
    """With the directories that every hook knows."""
    for name in ("CLAUDE_PROJECT_DIR", "GATEWRIGHT_PROJECT_DIR"):
        word = word.replace(f"${{{name}}}", str(ground.root)).replace(f"${name}", str(ground.root))
    word = word.replace("${HOME}", str(ground.home)).replace("$HOME", str(ground.home))
    return f"{ground.home}{word[1:]}" if word.startswith("~/") else word


def _program(words: Sequence[str], ground: Ground) -> str:
    if not words or not words[0] or _MADE.search(words[0]) or words[0] in BUILT_IN:
        return ""
    name = words[0]
    found = _found(name, ground)
    if found is None:
        return f"starts {name}, which is not there"
    if found.is_dir():
        return f"starts {name}, which is a directory"
    if not os.access(found, os.X_OK):
        return f"starts {name}, which may not be executed: chmod +x"
    script = next((word for word in words[1:2] if INTERPRETERS.fullmatch(found.name)), "")
    if script and "/" in script and not script.startswith("-") and not _MADE.search(script):
        return "" if (ground.root / script).exists() else f"runs {script}, which is not there"
    return _interpreter(name, found, ground)


def _found(name: str, ground: Ground) -> Path | None:
    if "/" in name:
        path = ground.root / name
        return path if path.exists() else None
    entries = ground.env.get("PATH", os.defpath).split(os.pathsep)  # as the shell will look
    paths = (ground.root / entry / name for entry in entries)
    return next((path for path in paths if path.is_file() and os.access(path, os.X_OK)), None)


def _interpreter(name: str, path: Path, ground: Ground) -> str:
    """What the first line of a script names has to be there, too."""
    if "/" not in name:
        return ""
    try:
        head = head_of(path, HEAD)
    except OSError:
        return ""
    if not head.startswith(b"#!"):
        return ""
    words = head[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
    if words and words[0].rpartition("/")[2] == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if words and _found(words[0], ground) is None:
        return f"starts {name}, whose first line names {words[0]!r}, which is not there"
    return ""


def summary(faults: Sequence[Fault]) -> str:
    """One line for the person; empty where all is well."""
    if not faults:
        return ""
    count = f"{len(faults)} hooks" if len(faults) > 1 else "1 hook"
    first = faults[0].text()
    more = "; …" if len(faults) > 1 else ""
    return f"{count} will not run: {first}{more}. /hooks and agent hooks check show more."
