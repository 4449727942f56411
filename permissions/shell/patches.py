"""The files that a patch changes, where its text can be read before it is applied."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gatewright.permissions.paths import Paths
from gatewright.permissions.shell.files.operand import Operand, Touched
from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.parse.words import Arg
from gatewright.tools.system.patterns import later

MAX_NAMED = 200
MAX_CHARS = 1_000_000

_HEADER = later(
    r"(---|\+\+\+|\*\*\*|Index:|diff --git|rename from|rename to|copy from|copy to) (.*)"
)
_LINK = later(r"(?:(?:new|old|new file|deleted file) mode|index \S+) 1[26]0000")
_TIME = later(r"\t.*$| \d{4}-\d\d-\d\d \d\d:.*$")
_STRIP = later(r"-p(\d+)|--strip=(\d+)")
_MOVES = ("-d", "--directory", "--unsafe-paths", "-R", "-o", "--output", "--reject-file", "-r")


def applied(part: Part, found: Touched, paths: Paths, *, still: bool) -> Touched:
    """What a command that applies a patch touches, by the names in the patch itself.

    `still`: nothing else of the line can change the patch first. Where the text is not to be had,
    what it changes stays unknown, and no rule for more than the very line covers it.
    """
    if not found.sweeps or not _applies(part):
        return found
    texts = _texts(part, found, paths, still=still)
    strip = _strip(part)
    names: list[str] = []
    for text in texts or (None,):
        some = None if text is None else named(text, strip)
        if some is None or len(names) > MAX_NAMED:
            return replace(found, opaque=True)
        names.extend(some)
    bases = tuple(dict.fromkeys((*found.sweeps[0].bases, paths.place.root)))
    writes = tuple(Operand(Arg(name, name), bases) for name in dict.fromkeys(names))
    return replace(found, writes=(*found.writes, *writes), sweeps=())


def _applies(part: Part) -> bool:
    return part.program == "patch" or (
        part.program == "git" and bool({"apply", "am"} & set(part.texts[1:]))
    )


def _strip(part: Part) -> int | None:
    """How many leading directories are left out; None: any number."""
    given = [one for one in map(_STRIP.fullmatch, part.texts) if one is not None]
    if given:
        return int(given[-1].group(1) or given[-1].group(2))
    return None if part.program == "patch" or "-p" in part.texts else 1


def _texts(part: Part, found: Touched, paths: Paths, *, still: bool) -> list[str | None]:
    """The patches, None for one that cannot be read."""
    odd = any(text.partition("=")[0] in _MOVES for text in part.texts[1:])
    if odd or part.fed or (part.program == "patch" and found.writes):
        return [None]
    texts: list[str | None] = [
        None if one.expands and set(one.body) & set("$`\\") else one.body
        for one in part.redirects
        if one.body is not None
    ]
    for operand in found.reads:
        base = operand.bases[0] if len(operand.bases) == 1 else None
        if not still or base is None or not operand.arg.literal:
            return [None]
        real = paths.locate(operand.arg.text, base).real
        texts.append(paths.resolver.text(real, MAX_CHARS))
    return texts


def named(text: str, strip: int | None) -> tuple[str, ...] | None:
    """The names in its headers.

    None where they cannot be told: no header, quoted names, links and modules, too much. More than
    the patch really changes may come back, because a changed line can look like a header.
    """
    if len(text) > MAX_CHARS:
        return None
    found: dict[str, None] = {}
    for line in text.splitlines():
        if _LINK.match(line):
            return None
        header = _HEADER.match(line)
        if header is None:
            continue
        rest = _TIME.sub("", header.group(2)).strip()
        if '"' in rest or "\\" in rest:
            return None
        word = header.group(1)
        less = 1 if word.startswith(("rename", "copy")) and strip else 0
        for name in rest.split(" ") if word == "diff --git" else [rest]:
            found.update(dict.fromkeys(_stripped(name, None if strip is None else strip - less)))
        if len(found) > MAX_NAMED:
            return None
    return tuple(found) or None


def _stripped(name: str, strip: int | None) -> Iterator[str]:
    """Without so many of its directories; None: with every number of them."""
    if name == "/dev/null":
        return
    count = 0
    while name:
        if strip is None or count == strip:
            yield name
        _, slash, rest = name.partition("/")
        name = rest.lstrip("/") if slash else ""
        count += 1
