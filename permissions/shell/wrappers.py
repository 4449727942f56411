"""Programs that run other commands: what is inside is opened, so that a restriction sees it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from msgspec.structs import replace

from gatewright.permissions.paths import lexical
from gatewright.permissions.shell.carried import carried_texts, carried_values, carried_words
from gatewright.permissions.shell.command_options import GIT_RUNS, commands_in
from gatewright.permissions.shell.line import Part, Start, read_line
from gatewright.permissions.shell.own_cli import NAMES
from gatewright.permissions.shell.parse.options import Grammar, Item, parse_arguments
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.wrapper_table import WRAPPERS, Wrapper
from gatewright.tools.system.patterns import later

MAX_OPENED = 400
MAX_DEPTH = 8

SHELLS = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "rbash", "mksh", "yash", "csh", "tcsh"}
)


_GRAMMARS: Mapping[str, Grammar] = {
    name: Grammar(row.short, row.long, first=True) for name, row in WRAPPERS.items()
}
_CONFINED = Grammar(
    "", ("cwd", "write", "deny-read", "deny-write", "allow-domain", "limit"), first=True
)
_SHELL = Grammar("oO", ("rcfile", "init-file"), first=True)
_PLAIN = Grammar("", ("library-path", "preload", "argv0", "audit"), first=True)
_LOADER = later(r"ld-(?:linux|musl)|ld\.so|ld64?\.so")  # the program that starts programs
_SPLIT = later(r"\\[_tnvfr]")  # what env -S takes for a blank
_ASSIGN = later(r"[A-Za-z_]\w*=")
_EXPANDS = later(r"[$`~*?\[\0]")
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def opened(parts: tuple[Part, ...], start: Start) -> tuple[Part, ...]:
    """All parts and everything they wrap, outermost first."""
    found: list[Part] = []
    pending = [(part, 0) for part in reversed(parts)]
    while pending and len(found) < MAX_OPENED:
        part, depth = pending.pop()
        found.append(part)
        if depth < MAX_DEPTH:
            inner = [*wrapped_by(part, start), *_carried_by(part, start)]
            pending.extend((one, depth + 1) for one in reversed(inner))
    return tuple(found)


def wrapped_by(part: Part, start: Start) -> Iterator[Part]:
    """The commands one part runs besides itself."""
    if not part.argv:
        return
    program = part.program
    wrapper = WRAPPERS.get(program)
    if wrapper is not None:
        yield from _unwrap(part, program, wrapper, start)
    elif program in SHELLS:
        yield from _shell(part, start)
    elif program in _OPENERS:
        yield from _OPENERS[program](part, start)
    elif _LOADER.match(program):
        yield from _unwrap(part, program, Wrapper(), start)
    for text in commands_in(program, part.argv[1:]):
        yield from _text(part, text, start)


def _carried_by(part: Part, start: Start) -> Iterator[Part]:
    """What it may run besides, as far as words tell: for restrictions alone."""
    for text in carried_values(part.assigns):
        yield from _text(part, text, start)
    program = part.program
    for words in carried_words(program, part.argv[1:]):
        yield from _inner(part, words)
    bodies = (one.body for one in part.redirects if one.body is not None)
    for text in carried_texts(program, (*part.texts[1:], *bodies)):
        yield from _text(part, text, start)


def _bodies(source: Part, shell: Part, start: Start) -> Iterator[Part]:
    """Here-documents as the shell hands them on: where they expand, without what escapes."""
    for redirect in source.redirects:
        if redirect.body is not None:
            body = redirect.body
            yield from _text(shell, _ESCAPE.sub(r"\1", body) if redirect.expands else body, start)


_ESCAPE = later(r"\\([$`\\])")


def _source(part: Part, start: Start) -> Iterator[Part]:
    yield from _bodies(part, part, start)


def _eval(part: Part, start: Start) -> Iterator[Part]:
    yield from _text(part, " ".join(arg.text for arg in part.argv[1:]), start)


def _trap(part: Part, start: Start) -> Iterator[Part]:
    rest = part.argv[1:]
    if rest:
        index = 1 if rest[0].text == "--" and len(rest) > 1 else 0
        yield from _text(part, rest[index].text, start)


def _inner(part: Part, argv: tuple[Arg, ...]) -> Iterator[Part]:
    if argv:
        yield replace(part, argv=argv, assigns=(), via=(*part.via, part.program))


def _text(part: Part, text: str, start: Start) -> Iterator[Part]:
    """Shell text inside a command: read like a line of its own, in the same place."""
    line = read_line(text, replace(start, bases=part.bases))
    for one in line.parts:
        yield replace(
            one,
            statement=part.statement,
            fed=one.fed or part.fed,
            via=(*part.via, part.program),
        )


def _unwrap(part: Part, program: str, wrapper: Wrapper, start: Start) -> Iterator[Part]:
    operands = wrapper.operands
    rest = part.argv[1:]
    for item in parse_arguments(rest, _GRAMMARS.get(program, _PLAIN)):
        if item.kind in ("flag", "value"):
            if item.name in wrapper.never:
                return
            if item.kind == "value" and item.name in wrapper.text:
                yield from _text(part, item.value, start)
            if program == "env" and (item.name == "-S" or item.name.startswith("--s")):
                tail = " ".join((item.value, *_raws(rest, item.index + 1 + item.separate)))
                yield from _text(part, f"env {_SPLIT.sub(' ', tail)}", start)  # options, too
                return
            part = _moved(part, program, item)
        elif item.kind == "operand" and not (wrapper.assigns and _ASSIGN.match(item.value)):
            yield from _late_text(rest, item.index, part, start)
            if not operands:
                yield from _wrapped(part, rest[item.index :], wrapper, start)
                return
            operands -= 1


def _wrapped(part: Part, inner: tuple[Arg, ...], wrapper: Wrapper, start: Start) -> Iterator[Part]:
    if wrapper.joined:
        yield from _text(part, " ".join(arg.text for arg in _before_colons(inner)), start)
    yield from _inner(part, inner)


def _moved(part: Part, program: str, item: Item) -> Part:
    """`env -C dir` runs its command elsewhere."""
    if program != "env" or not (item.name == "-C" or item.name.startswith("--c")):
        return part
    if item.value.startswith("/"):
        return replace(part, bases=(item.value,), moved=True)
    # Never known well enough to grant anything; where it leads as written is looked at.
    known = (base for base in part.bases if base is not None and not _EXPANDS.search(item.value))
    led = (lexical(f"{base}/{item.value}") for base in known)
    return replace(part, bases=(None, *led), moved=True)


def _raws(rest: tuple[Arg, ...], index: int) -> tuple[str, ...]:
    return tuple(arg.raw for arg in rest[index:])


def _late_text(rest: tuple[Arg, ...], index: int, part: Part, start: Start) -> Iterator[Part]:
    """`-c text` behind the operands, as su, script and flock take it."""
    if part.program not in ("su", "script", "flock", "runuser", "sg"):
        return
    for place in range(index, len(rest) - 1):
        text = rest[place].text
        if re.fullmatch(r"-\w*c|--command", text):
            yield from _text(part, rest[place + 1].text, start)
        elif text.startswith("--command="):
            yield from _text(part, text.partition("=")[2], start)


def _before_colons(inner: tuple[Arg, ...]) -> tuple[Arg, ...]:
    for index, arg in enumerate(inner):
        if arg.text in (":::", "::::", ":::+"):
            return inner[:index]
    return inner


def _shell(part: Part, start: Start) -> Iterator[Part]:
    """`-c text`, a here-document, a here-string, or text echoed into it."""
    code = False
    for item in parse_arguments(_without_plus(part.argv[1:]), _SHELL):
        if item.kind == "flag" and item.name in ("-c", "--command"):
            code = True
        elif item.kind == "operand":
            if code:
                yield from _text(part, item.value, start)
            break
    yield from _bodies(part, part, start)


def _without_plus(argv: tuple[Arg, ...]) -> tuple[Arg, ...]:
    """Without what a shell is told to leave off: `+x`, `+o errexit`."""
    kept: list[Arg] = []
    words = iter(argv)
    for arg in words:
        if re.fullmatch(r"\+[A-Za-z]+", arg.text) is None:
            kept.append(arg)
        elif arg.text[-1] in "oO":
            next(words, None)
    return tuple(kept)


def _setarch(part: Part, start: Start) -> Iterator[Part]:
    """An architecture may stand before the command, or may not."""
    yield from _unwrap(part, part.program, Wrapper(), start)
    yield from _unwrap(part, part.program, Wrapper(operands=1), start)


def _capsh(part: Part, start: Start) -> Iterator[Part]:
    """Behind `--` come words for a shell."""
    if "--" in part.texts:
        rest = part.argv[part.texts.index("--") + 1 :]
        yield from _shell(replace(part, argv=(part.argv[0], *rest)), start)


def _find(part: Part, _: Start) -> Iterator[Part]:
    argv = part.argv
    runs = (
        _FIND_RUNS if "find" in part.program else frozenset({"-x", "-X", "--exec", "--exec-batch"})
    )
    index = 1
    while index < len(argv):
        if argv[index].text not in runs:
            index += 1
            continue
        stop = index + 1
        while stop < len(argv) and argv[stop].text not in (";", "+"):
            stop += 1
        yield from _inner(part, argv[index + 1 : stop])
        index = stop


def _git(part: Part, start: Start) -> Iterator[Part]:
    """Configuration and sub-commands whose words are commands."""
    texts = part.texts
    for previous, text in pairwise(texts):
        found = GIT_RUNS.fullmatch(text) if previous == "-c" else None
        if found is not None:
            yield from _text(part, found.group(1).strip().removeprefix("!"), start)
        elif previous in ("-x", "--exec") and "rebase" in texts:
            yield from _text(part, text, start)
        elif text.startswith(("--exec=", "-x")) and "rebase" in texts:
            yield from _text(part, text.removeprefix("-x").removeprefix("--exec="), start)
        elif previous == "foreach" and "submodule" in texts:
            index = texts.index("foreach")
            tail = [word for word in texts[index + 1 :] if word != "--recursive"]
            everywhere = replace(part, bases=(*part.bases, None))  # in each of them
            yield from _text(everywhere, " ".join(tail), start)
        elif previous == "run" and "bisect" in texts:
            yield from _inner(part, part.argv[texts.index("run") + 1 :])


def _confined(part: Part, _: Start) -> Iterator[Part]:
    """`agent sandbox run`: its own options, then the command."""
    if part.texts[1:3] != ("sandbox", "run"):
        return
    rest = part.argv[3:]
    for item in parse_arguments(rest, _CONFINED):
        if item.kind == "operand":
            yield from _inner(part, rest[item.index :])
            return


_OPENERS: Mapping[str, Callable[[Part, Start], Iterator[Part]]] = {
    **dict.fromkeys(("source", "."), _source),
    "eval": _eval,
    "trap": _trap,
    "setarch": _setarch,
    "capsh": _capsh,
    **dict.fromkeys(("find", "gfind", "fd", "fdfind"), _find),
    "git": _git,
    **dict.fromkeys(NAMES, _confined),
}

_TAKES_TEXT = SHELLS | {"eval", "source", "."}


def literal_feeds(parts: tuple[Part, ...], start: Start) -> Iterator[Part]:
    """Text that a literal echo, printf or here-document hands to a shell."""
    for shell in parts:
        if shell.program not in _TAKES_TEXT:
            continue
        if not (shell.fed or any(arg.substitution for arg in shell.argv)):
            continue
        for source in parts:
            if source.statement != shell.statement or source is shell:
                continue
            yield from _bodies(source, shell, start)
            if source.program in ("echo", "printf"):
                words = [arg.text for arg in source.argv[1:] if not arg.text.startswith("-")]
                yield from _text(shell, " ".join(words).replace("\\n", "\n"), start)
