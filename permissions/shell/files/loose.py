"""Words that may be files of a program nobody here knows: deny rules hold for them, too.

They only restrict, and only for a person's rules: a literal word that one covers is denied, one
that is a pattern or an expansion asks. Nothing is granted, and no other stage looks at them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from gatewright.permissions.shell.files.coded import named_in
from gatewright.permissions.shell.files.git_files import git_words
from gatewright.permissions.shell.files.git_files_table import ROWS
from gatewright.permissions.shell.files.git_shown import is_blob
from gatewright.permissions.shell.files.loose_table import (
    CODE,
    EXTRACTS,
    INTERPRETERS,
    MORE,
    READERS,
    RUNNERS,
    TASKS,
    TEXT,
)
from gatewright.permissions.shell.files.operand import Operand, text_arg
from gatewright.permissions.shell.files.operand_table import OPERANDS, OperandRow
from gatewright.permissions.shell.files.operands import find_names, find_roots, touched
from gatewright.permissions.shell.line import Bases, Part
from gatewright.permissions.shell.parse.options import Grammar, parse_arguments
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.wrapper_table import WRAPPERS
from gatewright.permissions.shell.wrappers import SHELLS
from gatewright.tools.system.patterns import later

MAX_WORDS = 2000  # of one command; a line has 10,000 characters
MAX_DEPTH = 4


class Loose(msgspec.Struct, frozen=True):
    """What may be read, what may be written, and directories where unnamed files are written."""

    reads: tuple[Operand, ...] = ()
    writes: tuple[Operand, ...] = ()
    sweeps: tuple[Operand, ...] = ()


_NONE = Loose()
Opened: TypeAlias = Callable[[Part], Sequence[Part]]
_ANYHOW = MORE | {"find", "gfind", "git", "ln", "curl"}


def loose_of(part: Part, opened: Opened, depth: int = 0) -> Loose:
    """`opened` tells what the command wraps: those words are judged as commands of their own."""
    program = part.program
    if not part.argv or program in TEXT:
        return _NONE
    if program in OPERANDS and program not in _ANYHOW:
        return _of_known(part, OPERANDS[program])
    if program in _HANDING_ON:
        return _HANDING_ON[program](part, opened(part), depth)
    if program == "git":
        return _of_git(part)
    if program == "ln":
        found = tuple(Operand(arg, part.bases) for arg in part.argv[1:])
        return Loose(reads=found, writes=found)
    if program == "curl":
        return Loose(reads=tuple(_of_curl(part.argv[1:], part.bases)))
    argv = part.argv[1 : len(part.argv) - _wrapped(part, opened(part))]
    if program in WRAPPERS:
        return _both(_of_words(argv, part.bases, bare=False))
    words, in_texts = _of_unknown(program, argv[:MAX_WORDS], part), tuple(_in_texts(part))
    return replace(words, reads=(*words.reads, *in_texts), writes=(*words.writes, *in_texts))


def _of_known(part: Part, row: OperandRow) -> Loose:
    """Files in program texts, and values of options that the table does not have."""
    found = [*_in_texts(part)]
    known = tuple(f"--{name}" for name in row.long)
    for arg in part.argv[1:MAX_WORDS]:
        name, equals, value = arg.text.partition("=")
        if not name.startswith("--"):
            if row == OPERANDS["awk"] and (glued := _WRITES.fullmatch(arg.text)) is not None:
                found.append(Operand(_as_file(glued[1], arg), part.bases))
        elif equals and value and not any(each.startswith(name) for each in known):
            found.append(Operand(_as_file(value, arg), part.bases))
    if part.program == "jq":  # a name and a file
        pairs = zip(part.argv, part.argv[2:], strict=False)
        found.extend(Operand(file, part.bases) for option, file in pairs if option.text in _FILLS)
    return Loose(tuple(found), tuple(found))


_FILLS = frozenset({"--slurpfile", "--rawfile"})
_WRITES = later(r"-[opdE](.+)", re.DOTALL)  # of awk


def _in_texts(part: Part) -> Iterator[Operand]:
    program = part.program
    bodies = (one.body for one in part.redirects if one.body is not None)
    words = (*((arg.text, arg) for arg in part.argv[1:MAX_WORDS]), *((b, _BODY) for b in bodies))
    for text, arg in words:
        for name in named_in(program, text):
            yield Operand(text_arg(name, arg), part.bases)


_BODY = Arg("", "")


def _of_curl(argv: Sequence[Arg], bases: Bases) -> Iterator[Operand]:
    """`file:` addresses, and whatever stands behind an `@`."""
    yield from _of_words(argv, bases, bare=False, urls=True)
    for arg in argv[:MAX_WORDS]:
        _, mark, name = arg.text.partition("@")
        if mark and name:
            yield Operand(_as_file(name, arg), bases)


def _both(found: Iterator[Operand]) -> Loose:
    operands = tuple(found)
    return Loose(operands, operands)


def _wrapped(part: Part, inner: Sequence[Part]) -> int:
    """How many words at the end are a command of their own."""
    longest = 0
    for one in inner:
        count = len(one.argv)
        if longest < count < len(part.argv) and part.argv[-count:] == one.argv:
            longest = count
    return longest


def _of_unknown(program: str, argv: tuple[Arg, ...], part: Part) -> Loose:
    bases = part.bases
    if program in INTERPRETERS or program in SHELLS or _VERSIONED.fullmatch(program):
        return _of_interpreter(argv, bases)
    name, rest = _really(program, argv)
    if name in READERS:
        options = (arg for arg in rest if arg.text.startswith("-"))
        return Loose(
            tuple(_of_words(rest, bases)),
            tuple(_of_words(tuple(options), bases)),
        )
    found = _both(_of_words(argv, bases, bare=program not in TASKS))
    if program in EXTRACTS:
        more = tuple(replace(one, walks=True) for one in _prefixed(program, argv, bases))
        here = Operand(Arg(".", "."), bases)
        return Loose(found.reads, (*found.writes, *more), (here,))
    return Loose(found.reads, (*found.writes, *_prefixed(program, argv, bases)))


_VERSIONED = later(r"(?:python|pypy|ruby|lua|php)[0-9.]+")


def _really(program: str, argv: tuple[Arg, ...]) -> tuple[str, tuple[Arg, ...]]:
    """`uv run pytest a`, `npx jest a`: the program that is run, and its words."""
    if program not in RUNNERS:
        return program, argv
    for index, arg in enumerate(argv[:3]):
        if arg.text in READERS:
            return arg.text, argv[index + 1 :]
    return program, argv


def _of_interpreter(argv: tuple[Arg, ...], bases: Bases) -> Loose:
    """`-m module` is the module's program; a script is read, and its words are anybody's."""
    kept: list[Arg] = []
    index = 0
    while index < len(argv):
        text = argv[index].text
        if text == "-m" and index + 1 < len(argv):
            module, rest = argv[index + 1].text, argv[index + 2 :]
            given = tuple(_of_words((*kept, *rest), bases))
            return Loose(given) if module in READERS else Loose(given, given)
        if text in CODE or (text.startswith("-") and text[-1:] == "c" and "-" not in text[1:]):
            return _both(_of_words((*kept, *argv[index + 2 :]), bases))
        if not text.startswith("-"):
            script = tuple(_of_words((*kept, argv[index]), bases))
            given = tuple(_of_words(argv[index + 1 :], bases))
            return Loose((*script, *given), given)
        kept.append(argv[index])
        index += 1
    return _both(_of_words(tuple(kept), bases))


def _prefixed(program: str, argv: Sequence[Arg], bases: Bases) -> Iterator[Operand]:
    """Files that are named after a word: `split in PREFIX`, `csplit -f PREFIX`, `ssh-keygen -f`."""
    if program == "split":
        named = [arg for arg in argv if not arg.text.startswith("-")][-1:]
    elif program == "csplit":
        named = [
            text_arg(arg.text[2:], arg) if len(arg.text) > 2 else argv[index + 1]
            for index, arg in enumerate(argv[:-1])
            if arg.text.startswith("-f")
        ]
    elif program == "unzip":
        named = [argv[index + 1] for index, arg in enumerate(argv[:-1]) if arg.text == "-d"]
    else:
        return
    for arg in named:
        glob = f"{arg.text}*" if program != "unzip" else arg.text
        yield Operand(replace(arg, patterns=(glob,)) if glob != arg.text else arg, bases)


# --- words -------------------------------------------------------------------------------------


def _of_words(
    argv: Sequence[Arg], bases: Bases, *, bare: bool = True, urls: bool = False
) -> Iterator[Operand]:
    """Every reading of every word as a file; `bare` ones may lack both a slash and a dot."""
    valued = False  # the word before was an option: this may be its value
    for arg in argv[:MAX_WORDS]:
        for text in _candidates(arg.text):
            if urls and not arg.text.startswith("file:"):
                continue
            if bare or valued or "/" in text or "." in text or arg.patterns:
                yield Operand(_as_file(text, arg), bases)
        valued = arg.text.startswith("-") and "=" not in arg.text and not bare


def _as_file(text: str, arg: Arg) -> Arg:
    if text == arg.text:
        return arg
    if not arg.patterns:
        return text_arg(text, arg)
    cut = arg.text.find(text)
    return replace(arg, text=text, variants=(), patterns=tuple(p[cut:] for p in arg.patterns))


_GLUED = later(r"-[A-Za-z](.+)", re.DOTALL)
_ODD = later(r"[\s\0]")


def _candidates(text: str) -> Iterator[str]:
    """`FILE`, `--out=FILE`, `-fFILE`, `of=FILE`, `@FILE`, `a:FILE`, `file:///FILE`."""
    if text.startswith("file://"):
        yield unquote(text.removeprefix("file://"))
        return
    if "\n" in text or "://" in text or not text.strip("-"):
        return
    if not text.startswith("-"):
        yield text
    if _ODD.search(text):
        return  # a sentence has no parts that are files
    glued = _GLUED.fullmatch(text) if not text.startswith("--") else None
    if glued is not None and not glued.group(1).startswith("="):
        yield glued.group(1)
    pieces = [one for one in re.split(r"[=:,]", text) if one]
    if text.startswith("-"):
        pieces = pieces[1:] if "=" in text or ":" in text else []
    for piece in dict.fromkeys(pieces):
        cleaned = piece.removeprefix("@").removeprefix("<")
        if cleaned and cleaned != text:
            yield cleaned


# --- what runs a command on files, and git ----------------------------------------------------


def _of_find(part: Part, inner: Sequence[Part], depth: int) -> Loose:
    """What `-exec` and `-delete` do to whatever is found: somewhere below the roots, by name."""
    patterns = tuple(
        f"{root.rstrip('/')}/**/{name}" if name else f"{root.rstrip('/')}/**"
        for root in find_roots(part)
        for name in find_names(part)
    )
    found = Arg("{}", "{}", dynamic=True, patterns=patterns)
    loose = _filled(inner, found, "{}", depth, adds=part.program in ("fd", "fdfind"))
    if "-delete" not in part.texts:
        return loose
    return replace(loose, writes=(Operand(found, part.bases), *loose.writes))


def _of_xargs(part: Part, inner: Sequence[Part], depth: int) -> Loose:
    """What it runs gets its words from its input: they may be any file."""
    anything = Arg("{}", "{}", dynamic=True, patterns=("/**",))
    mark = "{}"
    for item in parse_arguments(part.argv[1:], _XARGS):
        if item.name in ("-I", "-i", "--replace") and item.value:
            mark = item.value
    given = replace(part, argv=part.argv[: len(part.argv) - _wrapped(part, inner)])
    own = _both(_of_words(given.argv[1:], part.bases, bare=False))
    loose = _filled(inner, anything, mark, depth, adds=True)
    return Loose((*own.reads, *loose.reads), (*own.writes, *loose.writes))


_XARGS = Grammar("adEILnPs", ("arg-file", "delimiter", "max-args", "replace"), first=True)


def _filled(inner: Sequence[Part], found: Arg, mark: str, depth: int, *, adds: bool) -> Loose:
    """What commands do to a file whose name they are given at `mark`, or else as a last word."""
    reads: list[Operand] = []
    writes: list[Operand] = []
    for one in inner if depth < MAX_DEPTH else ():
        argv = tuple(replace(found, raw=arg.raw) if mark in arg.text else arg for arg in one.argv)
        if argv == one.argv and not adds:
            continue
        filled = replace(one, argv=argv if argv != one.argv else (*argv, found))
        of_one, more = touched(filled), loose_of(filled, lambda _: (), depth + 1)
        reads.extend((*of_one.reads, *more.reads))
        writes.extend((*of_one.writes, *of_one.maybe, *more.writes))
    return Loose(tuple(reads), tuple(writes))


_HANDING_ON: Mapping[str, Callable[[Part, Sequence[Part], int], Loose]] = {
    **dict.fromkeys(("find", "gfind", "fd", "fdfind"), _of_find),
    "xargs": _of_xargs,
}


def _of_git(part: Part) -> Loose:
    """A file that is given another name is read by that name; messages come from files, too."""
    words = git_words(part)
    name, rest = words[0].text if words else "", words[1:]
    found: list[Operand] = []
    if name == "mv":
        found.extend(Operand(arg, part.bases) for arg in rest[:-1])
    elif name in ("hash-object", "merge-file"):
        found.extend(_of_words(rest, part.bases))
    elif name in ("commit", "tag", "notes", "merge"):
        found.extend(_message_files(rest, part.bases))
    elif name in ("blame", "annotate"):
        pairs = zip(words, rest, strict=False)
        found.extend(Operand(arg, part.bases) for one, arg in pairs if one.text in _LISTS)
        found.extend(_of_words([arg for arg in rest if "=" in arg.text], part.bases))
    elif name and name not in _NO_FILES and name not in ROWS:
        found.extend(_of_words(rest, part.bases, bare=False))
    if (
        name not in ROWS or ROWS[name].files == "none"
    ):  # `tag x HEAD:file`, `update-ref x :file`: shown by another name later
        blobs = (arg for arg in rest if is_blob(arg.text))
        found.extend(Operand(text_arg(b.text.partition(":")[2], b), part.bases) for b in blobs)
    return Loose(reads=tuple(found))


_LISTS = frozenset({"-S", "--ignore-revs-file", "--contents"})
# Their words are names of revisions, remotes and branches, or files that stay in the repository.
_NO_FILES = frozenset(
    {"add", "am", "bisect", "branch", "cherry", "cherry-pick", "describe", "fetch", "for-each-ref",
     "gc", "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev", "pull", "push", "rebase",
     "remote", "replace", "revert", "rev-list", "rev-parse", "shortlog", "show-ref", "status",
     "symbolic-ref", "update-ref", "verify-commit", "verify-tag", "version", "help",
     "sparse-checkout", "check-ignore", "check-attr", "count-objects", "fsck", "prune", "reset",
     "show-branch"}
)  # fmt: skip


def _message_files(words: Sequence[Arg], bases: Bases) -> Iterator[Operand]:
    for index, arg in enumerate(words):
        option, _, value = arg.text.partition("=")
        if option in ("--file", "--template") and value:
            yield Operand(text_arg(value, arg), bases)
        elif option in ("-F", "-t", "--file", "--template") and index + 1 < len(words):
            yield Operand(words[index + 1], bases)
        elif arg.text.startswith("-F"):
            yield Operand(text_arg(arg.text[2:], arg), bases)
