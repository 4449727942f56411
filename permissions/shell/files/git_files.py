"""Which files a git command reads and writes, and where it changes files that no word names.

Moving between commits (switch, merge, pull, rebase, ...) is not a change of files here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from gatewright.permissions.paths import absolute
from gatewright.permissions.shell.files.git_files_table import ROWS, WRITTEN_BY_ALL, FileRow
from gatewright.permissions.shell.files.git_shown import ids, of_unnamed, prints, takes_excludes
from gatewright.permissions.shell.files.operand import Operand, Touched, text_arg
from gatewright.permissions.shell.line import Bases, Part
from gatewright.permissions.shell.parse.words import Arg

TREE = Arg(":/", ":/")  # the whole work tree; git's own spelling of it
_VALUES = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env",
     "--super-prefix", "--attr-source", "--list-cmds"}
)  # fmt: skip


def git_words(part: Part) -> tuple[Arg, ...]:
    """The sub-command and what follows, git's global options left out."""
    argv = part.argv[1:]
    index = 0
    while index < len(argv) and argv[index].text.startswith("-"):
        index += 2 if argv[index].text in _VALUES else 1
    return argv[index:]


class _Words(msgspec.Struct, frozen=True):
    """What follows a sub-command, sorted. `flags` are all options, without their values."""

    flags: frozenset[str]
    values: tuple[tuple[str, Arg], ...]
    operands: tuple[Arg, ...]
    behind: tuple[Arg, ...] | None  # operands after `--`, None without one


def git_touched(part: Part) -> Touched:
    """The files behind a sub-command that shows or replaces their contents."""
    words = git_words(part)
    if not words:
        return Touched()
    row = ROWS.get(words[0].text)
    if row is None:
        if words[0].text not in _SPECIAL and not any(a.text.startswith("--o") for a in words):
            return Touched()
        row = FileRow()
    part = replace(part, bases=_bases(part))
    found = _sorted(words[1:], row)
    written = [
        Operand(arg, part.bases)
        for name, arg in found.values
        if any(_is(name, one) for one in (*row.written, *WRITTEN_BY_ALL)) and arg.text != "-"
    ]
    special = _SPECIAL.get(words[0].text)
    more = special(found, part) if special is not None else _by_row(row, found, part)
    if row.files == "read":
        more = _printed(words[0].text, row, found, part)
    renames = any(text.startswith(("--work-tree", "--prefix")) for text in part.texts)
    if renames or row.shows_alone or _has(found, *row.shows):
        more = replace(more, shown=(*more.shown, Operand(TREE, part.bases)))  # by other names
    return replace(more, writes=(*more.writes, *written))


def _printed(name: str, row: FileRow, found: _Words, part: Part) -> Touched:
    """What a command that shows contents reads: the files its words name, else the whole tree."""
    found = _searched(found) if name == "grep" else found
    ranged = [arg for option, arg in found.values if option == "-L" and name != "grep"]
    named = [Operand(one, part.bases) for arg in ranged for one in _behind_colons(arg)]
    named.extend(Operand(a, part.bases) for o, a in found.values if o == "-f" and name == "grep")
    operands, behind = (
        tuple(arg.text for arg in args) for args in (found.operands, found.behind or ())
    )
    where = text_arg(".", part.argv[0]) if name == "grep" else TREE
    unnamed = of_unnamed(name, found.flags, operands, behind)
    return Touched(
        (*_by_row(row, found, part).reads, *named),
        shown=(Operand(where, part.bases),) if unnamed else (),
    )


def _searched(found: _Words) -> _Words:
    """Without the pattern of a search, which is its first word where no option gives one."""
    if {"-e", "-f"} & found.flags:
        return found
    if found.operands:
        return replace(found, operands=found.operands[1:])
    return replace(found, behind=found.behind[1:] if found.behind else None)


def _behind_colons(arg: Arg) -> Iterator[Arg]:
    """`-L/re/,5:file`: the expression may hold colons as well, so whatever follows one."""
    rest = arg.text
    while ":" in rest:
        rest = rest.partition(":")[2]
        yield text_arg(rest, arg)


def excludable(part: Part) -> bool:
    """Whether path specs behind its last word narrow what it prints."""
    words = git_words(part)
    row = ROWS.get(words[0].text) if words else None
    if row is None or any(arg.text == "--literal-pathspecs" for arg in part.argv):
        return False
    found = _sorted(words[1:], row)
    found = _searched(found) if words[0].text == "grep" else found
    if any(ids(words[0].text, text) > 1 for arg in found.operands for text in arg.readings):
        return False  # no range of files can be made one of commits
    return takes_excludes(words[0].text, found.flags, tuple(arg.text for arg in found.operands))


def numbered(part: Part) -> tuple[Arg, ...]:
    """The words that name an object by its number; it may be a file that no path spec is about."""
    words = git_words(part)
    row = ROWS.get(words[0].text) if words else None
    if row is None:
        return ()
    found = _sorted(words[1:], row)
    if not prints(words[0].text, found.flags):
        return ()
    found = _searched(found) if words[0].text == "grep" else found
    name = words[0].text
    return tuple(a for a in found.operands if any(ids(name, text) for text in a.readings))


def _bases(part: Part) -> Bases:
    """Where the words are relative to: `-C` moves there, a work tree may be elsewhere."""
    bases: Bases = part.bases
    argv = part.argv[1:]
    named = [value for name, value in part.assigns if name == "GIT_WORK_TREE"]
    for previous, arg in pairwise((*argv, Arg("", ""))):
        if previous.text == "-C":
            bases = tuple(_moved(base, arg) for base in bases)
        elif previous.text == "--work-tree":
            named.append(arg)
        elif previous.text.startswith("--work-tree="):
            named.append(text_arg(previous.text.partition("=")[2], previous))
        elif not previous.text.startswith("-"):
            if arg.text.startswith("-"):
                continue  # the value of a global option, or the sub-command
            break
    trees = (_moved(base, arg) for base in bases for arg in named)
    return tuple(dict.fromkeys((*bases, *trees)))


def _moved(base: str | None, to: Arg) -> str | None:
    if to.unknown or to.patterns or (base is None and not to.text.startswith("/")):
        return None
    return absolute(to.text, base or "/", "~")


def _sorted(words: Sequence[Arg], row: FileRow) -> _Words:
    flags: set[str] = set()
    values: list[tuple[str, Arg]] = []
    operands: list[Arg] = []
    behind: list[Arg] | None = None
    taken = ""
    for arg in words:
        text = arg.text
        if taken:
            values.append((taken, arg))
            taken = ""
        elif behind is not None:
            behind.append(arg)
        elif text == "--":
            behind = []
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            flags.add(name)
            if equals:
                values.append((name, text_arg(value, arg)))
            elif any(_is(name, one) for one in (*row.values, *row.written, *WRITTEN_BY_ALL)):
                taken = name
        elif text.startswith("-") and len(text) > 1:
            taken = _bundled(arg, row, flags, values)
        else:
            operands.append(arg)
    return _Words(frozenset(flags), tuple(values), tuple(operands), _tuple(behind))


def _bundled(arg: Arg, row: FileRow, flags: set[str], values: list[tuple[str, Arg]]) -> str:
    """`-pm text`: letters until one takes the rest, or the next word, as its value."""
    for position, letter in enumerate(arg.text[1:], start=1):
        name = f"-{letter}"
        flags.add(name)
        if name in row.values or name in row.written:
            rest = arg.text[position + 1 :]
            if not rest:
                return name
            values.append((name, text_arg(rest, arg)))
            break
    return ""


def _tuple(args: list[Arg] | None) -> tuple[Arg, ...] | None:
    return None if args is None else tuple(args)


def _is(name: str, option: str) -> bool:
    """In full, or abbreviated as git permits it; generous."""
    return name == option or (len(name) > 4 and option.startswith(name))


def _has(found: _Words, *options: str) -> bool:
    return any(_is(flag, option) for flag in found.flags for option in options)


def _by_row(row: FileRow, found: _Words, part: Part) -> Touched:
    paths = (*found.operands, *(found.behind or ()))
    operands = tuple(Operand(_path(arg), part.bases, walks=row.walks) for arg in paths)
    unnamed = _has(found, *row.sweeps) or (row.sweeps_alone and not paths)
    sweeps = (*_wide(paths, part), *([Operand(TREE, part.bases)] if unnamed else []))
    match row.files:
        case "read":
            return Touched(operands)
        case "write":
            return Touched(writes=operands, sweeps=tuple(sweeps))
        case "both":
            return Touched(operands, operands, sweeps=tuple(sweeps))
        case "first":
            return Touched(writes=operands[:1])
        case "last":
            return Touched(writes=operands[-2:])
        case _:
            return Touched(sweeps=(Operand(TREE, part.bases),) if unnamed else ())


def _path(arg: Arg) -> Arg:
    """`commit:path` names a file as well; `:/x`, `:(top)x` are told as wide ones."""
    head, colon, rest = arg.text.partition(":")
    if not head and rest[:1] in ("0", "1", "2", "3") and rest[1:2] == ":":
        rest = rest[2:]  # `:0:path`, a stage of the index
    return text_arg(rest, arg) if colon and rest and not rest.startswith("/") else arg


def _wide(paths: Sequence[Arg], part: Part) -> Iterator[Operand]:
    """Path specs that git itself expands, or that name a directory."""
    for arg in paths:
        text = arg.text
        if text.startswith(":") or any(char in text for char in "*?["):
            yield Operand(TREE, part.bases)
        else:
            yield Operand(arg, part.bases, walks=True)


# --- sub-commands with a mind of their own ----------------------------------------------------


def _stash(found: _Words, part: Part) -> Touched:
    verb = found.operands[0].text if found.operands else "push"
    if verb in ("list", "show", "drop", "clear", "create", "store"):
        shown = verb in ("list", "show") and prints("stash", found.flags)
        return Touched(shown=(Operand(TREE, part.bases),) if shown else ())
    paths = found.behind or ()
    if verb == "push":
        paths = (*found.operands[1:], *paths)
    everything = verb not in ("push", "save") or _has(found, "--pathspec-from-file")
    row = FileRow("write", sweeps_alone=True, walks=True, sweeps=("--pathspec-from-file",))
    named = _Words(found.flags, found.values, paths, None)
    return _by_row(row, named if not everything else replace(named, operands=()), part)


def _unnamed(found: _Words, part: Part) -> Touched:
    """What it is given are no files of the work tree, and it changes some."""
    given = tuple(Operand(arg, part.bases) for arg in (*found.operands, *(found.behind or ())))
    return Touched(given, sweeps=(Operand(TREE, part.bases),))


_LOOKS = ("--check", "--stat", "--numstat", "--summary")


def _apply(found: _Words, part: Part) -> Touched:
    """What a patch changes stands in the patch; `--include` names files of it."""
    patches = tuple(Operand(arg, part.bases) for arg in (*found.operands, *(found.behind or ())))
    if _has(found, *_LOOKS) and "--apply" not in found.flags:
        return Touched(patches)
    named = [arg for name, arg in found.values if _is(name, "--include")]
    writes = tuple(Operand(arg, part.bases) for arg in named)
    where = (Arg("/", "/"),) if _has(found, "--unsafe-paths") else (TREE,)
    return Touched(patches, writes, sweeps=tuple(Operand(arg, part.bases) for arg in where))


def _clone(found: _Words, part: Part) -> Touched:
    operands = (*found.operands, *(found.behind or ()))
    if not operands:
        return Touched()
    source, *more = operands
    name = source.text.rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")
    into = more[0] if more else text_arg(name or ".", source)
    here = "://" not in source.text or source.text.startswith("file:")
    shown = (Operand(TREE, part.bases),) if here and ":" not in source.text[5:] else ()
    return Touched(writes=(Operand(into, part.bases),), shown=shown)


def _worktree(found: _Words, part: Part) -> Touched:
    verb, paths = found.operands[:1], (*found.operands[1:], *(found.behind or ()))
    word = verb[0].text if verb else ""
    most = {"add": 1, "move": 2, "remove": 1}.get(word, 0)
    whole = word != "add"
    return Touched(
        writes=tuple(Operand(arg, part.bases, whole=whole) for arg in paths[:most]),
        shown=() if whole else (Operand(TREE, part.bases),),  # under another name
    )


def _submodule(found: _Words, part: Part) -> Touched:
    verb, paths = found.operands[:1], (*found.operands[1:], *(found.behind or ()))
    match verb[0].text if verb else "":
        case "add":
            return _clone(replace(found, operands=paths, behind=None), part)
        case "deinit":
            row = FileRow("write", sweeps=("--all",), walks=True)
            return _by_row(row, replace(found, operands=paths, behind=None), part)
        case _:
            return Touched()


def _bundle(found: _Words, part: Part) -> Touched:
    creates = found.operands[:1] and found.operands[0].text == "create"
    chosen = found.operands[1:2] if creates else ()
    writes = tuple(Operand(arg, part.bases) for arg in chosen if arg.text != "-")
    return Touched(writes=writes, shown=(Operand(TREE, part.bases),) if creates else ())


def _format_patch(found: _Words, part: Part) -> Touched:
    shown = () if found.behind else (Operand(TREE, part.bases),)
    reads = tuple(Operand(arg, part.bases, walks=True) for arg in found.behind or ())
    if _has(found, "--stdout") or any(_is(name, "--output") for name, _ in found.values):
        return Touched(reads, shown=shown)
    given = [arg.text for name, arg in found.values if name in ("-o", "--output-directory")]
    name = f"{given[-1].rstrip('/')}/*.patch" if given else "*.patch"
    writes = (Operand(Arg(name, name, patterns=(name,)), part.bases),)
    return Touched(reads, writes, shown=shown)


def _sparse(found: _Words, part: Part) -> Touched:
    verb = found.operands[0].text if found.operands else "list"
    quiet = verb in ("list", "check-rules")
    return Touched(sweeps=() if quiet else (Operand(TREE, part.bases),))


def _tree(found: _Words, part: Part) -> Touched:
    """switch, reset: with force they throw changes away that nobody named."""
    thrown = _has(found, "--hard", "--merge", "--keep", "--discard-changes", "--force")
    forced = thrown or "-f" in found.flags
    return Touched(sweeps=(Operand(TREE, part.bases),) if forced else ())


def _checkout(found: _Words, part: Part) -> Touched:
    row = ROWS["checkout"]
    creates = bool({"-b", "-B", "--orphan"} & found.flags)
    if creates:
        return Touched()
    forced = bool({"-f", "--force"} & found.flags) and found.behind is None
    picking = bool({"-p", "--patch"} & found.flags) and not found.behind
    more = _by_row(row, found, part)
    if forced or picking:
        return replace(more, sweeps=(*more.sweeps, Operand(TREE, part.bases)))
    return more


def _config(found: _Words, part: Part) -> Touched:
    """The file that `-f` names, which is read at least."""
    named = [arg for name, arg in found.values if name == "-f" or _is(name, "--file")]
    files = tuple(Operand(arg, part.bases) for arg in named)
    return Touched(files, files)


_SPECIAL: Mapping[str, Callable[[_Words, Part], Touched]] = {
    "stash": _stash,
    "apply": _apply,
    "clone": _clone,
    "worktree": _worktree,
    "submodule": _submodule,
    "bundle": _bundle,
    "format-patch": _format_patch,
    "sparse-checkout": _sparse,
    "switch": _tree,
    "reset": _tree,
    "checkout": _checkout,
    "config": _config,
    **dict.fromkeys(("am", "filter-branch", "filter-repo", "rerere"), _unnamed),
}
