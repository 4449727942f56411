"""Shell rules against commands: every text a command may be called, and the one it is granted by."""

# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from gatewright.permissions.paths import components_meet
from gatewright.permissions.rulebook.rules import Bare, Rule, ShellForm
from gatewright.permissions.shell.line import Line, Part, Start, read_line, sweep
from gatewright.permissions.shell.parse.words import Arg
from gatewright.tools.system.patterns import later

# Options before the sub-command, which a restriction looks past; True: takes a value.
GLOBAL_OPTIONS: dict[str, frozenset[str]] = {
    "git": frozenset(
        {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}
    ),
    "npm": frozenset({"--prefix", "-C", "--userconfig", "--registry", "--cache", "-w", "--workspace"}),
    "pnpm": frozenset({"--dir", "-C", "--filter", "-F"}),
    "yarn": frozenset({"--cwd"}),
    "docker": frozenset({"-H", "--host", "-c", "--context", "--config", "-l", "--log-level"}),
    "kubectl": frozenset({"-n", "--namespace", "--context", "--kubeconfig", "--cluster", "-s", "--user"}),
    "cargo": frozenset({"--config", "-Z", "--color", "-C", "--manifest-path"}),
}  # fmt: skip

_QUOTE = later(r"[^\w@%+=:,./*?\[\]{}~!^#$()-]")


def granted_text(argv: Sequence[Arg]) -> str:
    """The command with its words kept apart: a blank inside a word cannot pass for two words."""
    return " ".join(_kept(arg) for arg in argv)


def _kept(arg: Arg) -> str:
    if arg.dynamic:
        return arg.raw
    text = arg.text
    if not text or _QUOTE.search(text):
        return "'" + text.replace("'", "'\\''") + "'"
    return text


def texts_of(line: Line, parts: Iterable[Part]) -> Iterator[str]:
    """Every text a restriction is compared with, the line's own first; `parts` are its opened ones."""
    yield from (line.text.strip(), " ".join(line.text.split()))
    for part in parts:
        yield from restricted_texts(part)
    if not line.understood:
        for words in sweep(line.text):
            yield " ".join(words)
            if "/" in words[0]:
                yield " ".join((words[0].rpartition("/")[2], *words[1:]))


def restricted_texts(part: Part) -> Iterator[str]:
    """Every spelling a restriction is compared with."""
    texts = part.texts
    plain = " ".join(texts)
    yield plain
    if part.assigns:
        yield " ".join((*(f"{name}={arg.text}" for name, arg in part.assigns), plain))
    if not texts:
        return
    if part.redirects:
        yield part.source
    program = part.program
    if "/" in texts[0]:
        plain = " ".join((program, *texts[1:]))
        yield plain
    values = GLOBAL_OPTIONS.get(program)
    if values is not None and len(texts) > 1 and texts[1].startswith(("-", "+")):
        yield " ".join((program, *_without_globals(texts[1:], values)))
    for arg in part.argv[:1]:
        for variant in arg.variants[1:]:
            yield " ".join((variant.rpartition("/")[2], *texts[1:]))
    if any(arg.variants for arg in part.argv):
        words = [variant for arg in part.argv for variant in arg.readings]
        yield " ".join(words)


def without_globals(part: Part) -> Sequence[str]:
    """The words behind the program and its own options."""
    return _without_globals(part.texts[1:], GLOBAL_OPTIONS.get(part.program, frozenset()))


def _without_globals(words: Sequence[str], values: frozenset[str]) -> Sequence[str]:
    index = 0
    while index < len(words) and words[index].startswith(("-", "+")):
        index += 2 if words[index] in values else 1
    return words[index:]


@lru_cache(maxsize=4096)
def _glob(pattern: str) -> tuple[tuple[str, ...], str]:
    """The literal pieces between the stars, and the bare command of a trailing ` *`."""
    text = " ".join(pattern.split())
    return tuple(text.split("*")), text.removesuffix(" *") if text.endswith(" *") else ""


def glob_matches(pattern: str, text: str) -> bool:
    """`*` crosses everything; a trailing ` *` also matches the bare command. Linear time."""
    pieces, bare = _glob(pattern)
    if _in_order(pieces, text):
        return True
    return bool(bare) and _in_order(tuple(bare.split("*")), text)


def _in_order(pieces: tuple[str, ...], text: str) -> bool:
    if len(pieces) == 1:
        return text == pieces[0]
    first, *middle, last = pieces
    if not text.startswith(first) or len(text) < len(first) + len(last):
        return False
    if not text.endswith(last):
        return False
    index, end = len(first), len(text) - len(last)
    for piece in middle:
        found = text.find(piece, index, end)
        if found < 0:
            return False
        index = found + len(piece)
    return True


def fires(rule: Rule, texts: Iterable[str], programs: Iterable[Arg]) -> bool:
    """Whether a restricting rule is about one of these commands."""
    form = rule.form
    if isinstance(form, Bare):
        return True
    if not isinstance(form, ShellForm):
        return False
    if form.kind == "glob":
        return any(glob_matches(form.text, text) for text in texts) or _program_meets(
            form.head, programs
        )
    if form.kind == "prefix":
        prefix = form.text
        spaced = prefix + " "
        hit = any(text == prefix or text.startswith(spaced) for text in texts)
        return hit or _program_meets(prefix, programs)
    wanted = _exact_texts(form.text)
    return any(text in wanted or " ".join(text.split()) in wanted for text in texts)


def _program_meets(head: str, programs: Iterable[Arg]) -> bool:
    """A program written as a glob could expand to the rule's."""
    words = head.split()
    if len(words) != 1:
        return False
    return any(
        components_meet(words[0], pattern.rpartition("/")[2])
        for arg in programs
        for pattern in arg.patterns
        if pattern.strip("*?") or len(pattern) > 1
    )


@lru_cache(maxsize=2048)
def _exact_texts(text: str) -> frozenset[str]:
    """An exact rule as written, and with its quotes removed."""
    found = {text.strip(), " ".join(text.split())}
    line = read_line(text, Start((None,), "~", {}))
    if len(line.parts) == 1:
        found.update(restricted_texts(line.parts[0]))
    return frozenset(found)


class Canonical(msgspec.Struct, frozen=True):
    """A simple command for exact comparison."""

    assigns: tuple[tuple[str, str], ...]
    argv: tuple[str, ...]
    redirects: tuple[tuple[str, str], ...]


def canonical(part: Part) -> Canonical:
    return Canonical(
        tuple((name, _exactly(arg)) for name, arg in part.assigns),
        tuple(_exactly(arg) for arg in part.argv),
        tuple((one.operator, _exactly(one.arg)) for one in part.redirects if one.file),
    )


def _exactly(arg: Arg) -> str:
    if arg.dynamic:
        return "\0" + arg.raw
    if arg.patterns:
        return "\1" + "\1".join(arg.patterns)
    return arg.text


@lru_cache(maxsize=2048)
def canonical_rule(text: str, home: str, base: str | None) -> Canonical | None:
    """The one simple command an exact rule spells, if it is one."""
    line = read_line(text, Start((base,), home, {}))
    outer = [part for part in line.parts if part.source.strip() or part.redirects]
    if not line.parsable or not outer:
        return None
    return canonical(outer[-1]) if len(outer) == 1 else None


_TOKEN = later(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|[ \t]+|[^ \t'\"\\]+", re.DOTALL)


@lru_cache(maxsize=2048)
def collapsed(text: str) -> str:
    """The line with unquoted blanks collapsed; line ends are kept, they separate commands."""
    stripped = text.strip()
    return "".join(" " if one[0] in " \t" else one for one in _TOKEN.findall(stripped))


def same_line(rule_text: str, line: str, *, parsable: bool) -> bool:
    if rule_text.strip() == line.strip():
        return True
    return parsable and "<<" not in line and collapsed(rule_text) == collapsed(line)
