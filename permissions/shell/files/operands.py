"""The files a simple command reads and writes, as far as its words tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise

from msgspec.structs import replace

from gatewright.permissions.shell.files.git_files import git_touched
from gatewright.permissions.shell.files.grep_walks import GREPS
from gatewright.permissions.shell.files.grep_walks import walks as grep_walks
from gatewright.permissions.shell.files.operand import Operand, Touched, text_arg
from gatewright.permissions.shell.files.operand_table import OPERANDS, OperandRow
from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.parse.options import Grammar, Item, parse_arguments
from gatewright.permissions.shell.parse.words import Arg
from gatewright.tools.system.patterns import later


def touched(part: Part) -> Touched:
    """Redirections and operands of one simple command."""
    reads: list[Operand] = []
    writes: list[Operand] = []
    for one in part.redirects:
        if not one.file:
            continue
        operand = Operand(one.arg, part.bases, redirect=True)
        if one.writes:
            writes.append(operand)
        if one.reads:
            reads.append(operand)
    if part.argv:
        more = _of_program(part)
        reads.extend(_real_files(more.reads))
        writes.extend(_real_files(more.writes))
        return Touched(tuple(reads), tuple(writes), more.maybe, more.sweeps, more.shown)
    return Touched(tuple(reads), tuple(writes))


def _real_files(operands: Iterable[Operand]) -> list[Operand]:
    """Without the one file that holds nothing and keeps nothing."""
    return [one for one in operands if one.arg.text != "/dev/null"]


_OUTPUT = later(
    r"--?(?:o|out|output|out-?file|output-?file|out-?dir|dest|target|log-?file)(=?)(.*)", re.DOTALL
)


def _outputs(part: Part) -> tuple[Operand, ...]:
    """Values of options that name an output in most programs: `-o file`, `--output=file`."""
    found: list[Operand] = []
    for index, arg in enumerate(part.argv[1:], start=1):
        hit = _OUTPUT.fullmatch(arg.text) if arg.text.startswith("-") else None
        if hit is None:
            continue
        if hit.group(1):
            found.append(Operand(text_arg(hit.group(2), arg), part.bases))
        elif not hit.group(2) and index + 1 < len(part.argv):
            found.append(Operand(part.argv[index + 1], part.bases))
    return tuple(found)


def _of_program(part: Part) -> Touched:
    program = part.program
    match program:
        case "find" | "gfind":
            return _find(part)
        case "dd":
            return _dd(part)
        case "tar" | "bsdtar" | "gtar":
            return _tar(part)
        case "git":
            return git_touched(part)
        case "patch":
            found = _by_row(part, OPERANDS["patch"])
            return replace(found, sweeps=(Operand(Arg(".", "."), part.bases),))
        case "curl":
            found = _by_row(part, OPERANDS["curl"])
            return Touched((*found.reads, *_curl_uploads(part)), found.writes)
        case _:
            row = OPERANDS.get(program)
            return _by_row(part, row) if row is not None else Touched(maybe=_outputs(part))


@lru_cache(maxsize=128)
def _grammar(row: OperandRow) -> Grammar:
    named = (*row.reads, *row.writes, *row.skips)
    letters = "".join(name[1:] for name in named if not name.startswith("--"))
    long = tuple(name[2:] for name in named if name.startswith("--") and name != "--files")
    return Grammar(row.values + letters, (*row.long, *long), ("in-place", "recursive", "color"))


def _by_row(part: Part, row: OperandRow) -> Touched:
    bases = part.bases
    operands: list[Arg] = []
    reads: list[Operand] = []
    writes: list[Operand] = []
    target: Arg | None = None
    names: set[str] = set()
    for item in parse_arguments(part.argv[1:], _grammar(row)):
        if item.kind == "operand":
            operands.append(item.arg)
            continue
        name = _full(item.name, row)
        names.add(name)
        if item.kind != "value" or not item.value:
            continue
        value = _value(item)
        if name in row.writes:
            target = value if name in ("-t", "--target-directory") else target
            writes.append(Operand(value, bases))
        elif name in row.reads:
            reads.append(Operand(value, bases))
    operands = _named(operands, row)
    if part.program in GREPS:
        walks = grep_walks(part.argv)
    else:
        walks = row.walks is not None and (not row.walks or bool(names & set(row.walks)))
    if row.role.startswith("skip1") and operands and not names & set(row.skips):
        operands = operands[1:]
    if row.implicit and not operands and (row.walks is None or walks):
        operands = [Arg(".", ".")]
    more = _by_role(part, row, operands, target)
    edited = any(_is_edit(name, row) for name in names)
    sources = more.writes if edited else more.reads
    marked = tuple(replace(one, walks=one.walks or walks) for one in more.reads)
    if edited:
        return Touched((*reads, *marked), (*writes, *sources, *more.reads))
    return Touched((*reads, *marked), (*writes, *_walking(more.writes, walks, row)))


def _named(operands: list[Arg], row: OperandRow) -> list[Arg]:
    """Without stdin and stdout; but the first of zip is its archive, wherever that goes."""
    kept = 1 if row.role == "zip" else 0
    return operands[:kept] + [arg for arg in operands[kept:] if arg.text != "-"]


def _full(name: str, row: OperandRow) -> str:
    """What a long option may be short for; of several the one that is about a file."""
    if not name.startswith("--") or len(name) < 3 or name[2:] in row.long:
        return name
    about_files = (*row.writes, *row.reads, *row.edits, *row.skips, *(row.walks or ()))
    return next((each for each in about_files if each.startswith(name)), name)


def _walking(writes: Iterable[Operand], walks: bool, row: OperandRow) -> tuple[Operand, ...]:
    if row.role != "skip1-write":
        return tuple(writes)
    return tuple(replace(one, whole=one.whole or walks) for one in writes)


def _is_edit(name: str, row: OperandRow) -> bool:
    return any(
        name == edit or (edit.startswith("--") and name.startswith("--in-p")) for edit in row.edits
    )


def _value(item: Item) -> Arg:
    return item.arg if item.separate else text_arg(item.value, item.arg)


def _by_role(part: Part, row: OperandRow, operands: list[Arg], target: Arg | None) -> Touched:
    bases = part.bases
    match row.role:
        case "read" | "skip1-read":
            return Touched(tuple(Operand(arg, bases) for arg in operands))
        case "write" | "skip1-write":
            whole = part.program in ("rm", "rmdir", "unlink", "trash", "shred")
            return Touched(writes=tuple(Operand(arg, bases, whole=whole) for arg in operands))
        case "zip":
            first, rest = operands[:1], operands[1:]
            return Touched(
                tuple(Operand(arg, bases) for arg in rest),
                tuple(Operand(arg, bases) for arg in first),
            )
        case "copy" | "move" | "link":
            return _copied(part, row, operands, target)
        case _:
            return Touched()


def _copied(part: Part, row: OperandRow, operands: list[Arg], target: Arg | None) -> Touched:
    """Sources and target; inside a target directory the copy has its source's name."""
    bases = part.bases
    if target is None and part.program == "uniq" and len(operands) < 2:
        return Touched(tuple(Operand(arg, bases) for arg in operands))
    shares = links_hard(part)
    if target is None and len(operands) == 1 and row.role == "link":
        name = operands[0].text.rstrip("/").rpartition("/")[2]
        same = (Operand(operands[0], bases),) if shares else ()
        return Touched(same, (Operand(text_arg(name, operands[0]), bases), *same))
    sources = operands if target is not None else operands[:-1]
    if target is None and operands:
        target = operands[-1]
    writes: list[Operand] = []
    onto = any(text in ("-T", "--no-target-directory", "-n", "-nsf", "-sfn") for text in part.texts)
    whole = onto or any(text.endswith(("/.", "/")) for arg in sources for text in arg.readings)
    if target is not None:
        writes.append(Operand(target, bases, whole=whole))
        for source in sources:
            for text in source.readings:
                name = text.rstrip("/").rpartition("/")[2]
                if name and name not in (".", "..") and part.program != "uniq":
                    joined = f"{target.text.rstrip('/')}/{name}"
                    writes.append(Operand(text_arg(joined, target), bases))
    if row.role == "move":
        writes.extend(Operand(arg, bases, whole=True) for arg in sources)
    if shares:
        writes.extend(Operand(arg, bases) for arg in sources)
    reads = tuple(Operand(arg, bases) for arg in sources) if row.role != "link" or shares else ()
    return Touched(reads, tuple(writes))


def links_hard(part: Part) -> bool:
    """Whether a second name for the same file comes about: what is done to it is done to both."""
    if part.program not in ("ln", "cp"):
        return False
    wanted, name = ("s", "symbolic") if part.program == "ln" else ("l", "link")
    found, words = False, iter(part.texts[1:])
    for text in words:
        if text == "--":
            break
        letters = re.match(r"-([^-tS][^tS]*|)([tS]?)(.*)", text, re.DOTALL)
        if text in ("--target-directory", "--suffix"):
            next(words, "")
        elif text.startswith("--"):
            found |= len(text) > 3 and name.startswith(text[2:])
        elif letters is not None:
            found |= wanted in letters[1]
            if letters[2] and not letters[3]:
                next(words, "")  # it is the option's value
    return found is (part.program == "cp")


def _find(part: Part) -> Touched:
    roots: list[Arg] = []
    acts = False
    argv = part.argv[1:]
    for index, arg in enumerate(argv):
        text = arg.text
        if (text.startswith("-") and len(text) > 1) or text in ("(", "!", ","):
            if text in ("-L", "-H", "-P") or text.startswith(("-O", "-D")):
                continue
            acts = bool(find_actions(argv[index:]))
            break
        roots.append(arg)
    roots = roots or [Arg(".", ".")]
    reads = [Operand(arg, part.bases, walks=acts) for arg in roots]
    writes: list[Operand] = []
    previous = ""
    for arg in argv:
        if previous in ("-fprint", "-fprint0", "-fprintf", "-fls"):
            writes.append(Operand(arg, part.bases))
        if previous in ("-newer", "-anewer", "-cnewer", "-samefile", "-files0-from"):
            reads.append(Operand(arg, part.bases))
        previous = arg.text
    if "-delete" in find_actions(argv):
        writes.extend(Operand(arg, part.bases, walks=True) for arg in roots)
    return Touched(tuple(reads), tuple(writes))


_FIND_TAKES: Mapping[str, int] = {
    **dict.fromkeys(
        ("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex",
         "-type", "-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-atime", "-amin",
         "-ctime", "-cmin", "-perm", "-user", "-group", "-uid", "-gid", "-links", "-inum", "-lname",
         "-ilname", "-printf", "-regextype", "-fstype", "-used", "-newer", "-anewer", "-cnewer",
         "-samefile", "-fprint", "-fprint0", "-fls", "-context", "-files0-from", "-newermt"), 1),
    "-fprintf": 2,
}  # fmt: skip
_FIND_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-delete"})


def find_actions(argv: Iterable[Arg]) -> tuple[str, ...]:
    """The actions of a find expression, parsed as find does: `-name -delete` is none."""
    found: list[str] = []
    words = [arg.text for arg in argv]
    index = 0
    while index < len(words):
        text = words[index]
        if text in _FIND_ACTIONS:
            found.append(text)
            if text != "-delete":
                while index < len(words) and words[index] not in (";", "+"):
                    index += 1
        index += 1 + _FIND_TAKES.get(text, 0)
    return tuple(found)


def find_roots(part: Part) -> tuple[str, ...]:
    """Where find begins, fd everywhere below."""
    if part.program not in ("find", "gfind"):
        return (".",)
    roots: list[str] = []
    for arg in part.argv[1:]:
        if arg.text in ("-L", "-H", "-P"):
            continue
        if arg.text.startswith("-") or arg.text in ("(", "!", ","):
            break
        roots.append(arg.text)
    return tuple(roots) or (".",)


def find_names(part: Part) -> tuple[str, ...]:
    """Globs of the last component of what is found; "" is any name."""
    texts = part.texts
    names = [after for before, after in pairwise(texts) if before in ("-name", "-iname")]
    if len(names) != 1 or {"-o", "-or", "!", "-not", ","} & set(texts):
        return ("",)
    name = names[0]  # unlike the shell's, its wildcards mean dotfiles as well
    return (name, f".{name}") if name[:1] in ("*", "?", "[") else (name,)


def _dd(part: Part) -> Touched:
    reads: list[Operand] = []
    writes: list[Operand] = []
    for arg in part.argv[1:]:
        name, _, value = arg.text.partition("=")
        if name == "if":
            reads.append(Operand(text_arg(value, arg), part.bases))
        elif name == "of":
            writes.append(Operand(text_arg(value, arg), part.bases))
    return Touched(tuple(reads), tuple(writes))


_TAR = Grammar(
    "fCTXbgHIKNVL",
    ("file", "directory", "files-from", "exclude-from", "exclude", "transform", "to-command",
     "use-compress-program", "checkpoint-action", "rsh-command", "strip-components", "owner",
     "group", "mode", "mtime", "checkpoint"),
)  # fmt: skip


_TAR_LISTS = later(r"--(?:files?-?.*|exclude-f.*)")


def _tar(part: Part) -> Touched:
    argv = part.argv[1:]
    if argv and not argv[0].text.startswith("-"):  # the old style: letters without a dash
        argv = (text_arg("-" + argv[0].text, argv[0]), *argv[1:])
    modes: set[str] = set()
    archives: list[Arg] = []
    places: list[Arg] = []
    members: list[Arg] = []
    reads: list[Operand] = []
    for item in parse_arguments(argv, _TAR):
        if item.kind == "operand":
            members.append(item.arg)
        elif item.name in ("-f", "--file"):
            archives.append(_value(item))
        elif item.name in ("-C", "--directory"):
            places.append(_value(item))
        elif item.name in ("-T", "-X") or _TAR_LISTS.fullmatch(item.name):
            reads.append(Operand(_value(item), part.bases))
        modes.add(item.name)
    creates = modes & {"-c", "-r", "-u", "-A", "--create", "--append", "--update"}
    if creates:
        reads.extend(Operand(arg, part.bases, walks=True) for arg in (*members, *places))
        return Touched(tuple(reads), tuple(Operand(arg, part.bases) for arg in archives))
    reads.extend(Operand(arg, part.bases) for arg in archives)
    if modes & {"-t", "--list", "-d", "--diff"}:
        return Touched(tuple(reads))
    places = places or [Arg(".", ".")]
    into = tuple(Operand(arg, part.bases) for arg in places)
    return Touched(tuple(reads), into, sweeps=into)


_UPLOADS = later(r"(?:-[dF]|--(?:data|form|json|url-query)[a-z-]*)(=?)(.*)", re.DOTALL)


def _curl_uploads(part: Part) -> Iterable[Operand]:
    """Files behind an `@` (or `<`) in what curl sends: `-d @file`, `-F x=@file;type=t`."""
    argv = part.argv[1:]
    for index, arg in enumerate(argv):
        found = _UPLOADS.fullmatch(arg.text)
        if found is None:
            continue
        value = arg if found.group(2) else argv[index + 1] if index + 1 < len(argv) else arg
        text = found.group(2) or value.text
        named = re.search(r"(?:^|=)[@<]([^;]+)", text)
        if named is not None and named.group(1) != "-":
            yield Operand(text_arg(named.group(1), value), part.bases)
