"""Why a line asks, in words that lead to what is missing: a rule, or a look at a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Line, Part


def why_it_asks(
    lacking: Sequence[Part], line: Line, mode: str, covered: Callable[[Part], bool]
) -> str:
    """`lacking` are the commands nothing covers; `covered` says whether anything covers one.

    A command that only its redirection keeps from running is told by that alone.
    """
    by_redirection = [part for part in lacking if _only_opens(part) or covered(_bare(part))]
    others = [part.source.strip() for part in lacking if part not in by_redirection]
    said = list(_redirections(by_redirection))
    if not said and (len(line.parts) == 1 or not others):
        return f"No rule covers this command, and it asks in {mode} mode."
    if others and len(others) == len(line.parts):
        said.insert(0, "No rule covers any of these commands.")  # they are shown whole
    elif others:
        said.insert(0, f"No rule covers: {', '.join(others)}.")
    return " ".join(said)


def out_of(operands: Iterable[tuple[Operand, bool]], reach: Reach) -> str:
    """The first file of a command that lies outside: no rule about a program is about that."""
    for operand, written in operands:
        if operand.redirect or operand.arg.unknown or None in operand.bases:
            continue
        holds = reach.paths.is_inside if written else reach.paths.reads_inside
        for located in reach.locations(operand.arg, operand.bases):
            if not holds(located):
                verb = "writes to" if written else "reads"
                shown = operand.arg.text if "/" in operand.arg.text else located.lexical
                return f"It {verb} {shown}, which is outside the project."
    return ""


def _only_opens(part: Part) -> bool:
    return bool(part.redirects) and not part.argv and not part.assigns


def _bare(part: Part) -> Part:
    return replace(part, redirects=tuple(one for one in part.redirects if not one.file))


def _redirections(parts: Iterable[Part]) -> Iterable[str]:
    files = [one for part in parts for one in part.redirects if one.file]
    for verb, chosen in (
        ("writes to", [one for one in files if one.writes]),
        ("reads", [one for one in files if not one.writes]),
    ):
        names = ", ".join(dict.fromkeys(one.arg.text for one in chosen))
        if names:
            yield f"A redirection {verb} {names}."
