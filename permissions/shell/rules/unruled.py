"""What of a line no rule can hold and why, where "always" is not offered for it.

A line that is not read in parts may still be a rule word for word, if what it changes is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from gatewright.permissions.decision import Grant
from gatewright.permissions.rulebook.runners import is_interpreter
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Line, Part
from gatewright.permissions.shell.rules.arity import EXACT_ONLY, stable_prefix
from gatewright.permissions.shell.rules.suggest import runs_code, suggested, writes_outside
from gatewright.permissions.shell.safe.safe_table import SAFE

MOST = 3  # parts that are told about
CUT = 60
Grants: TypeAlias = tuple[Grant, ...]


def unruled(line: Line, lacking: Sequence[Part], reach: Reach, drafted: Grants) -> str:
    """Sentences about the parts that nothing covers; empty where there is nothing to say."""
    if not any(_unknown_name(part) or suggested(part, reach).why for part in lacking):
        return ""
    told = list(dict.fromkeys(_told(line, lacking, reach, drafted)))
    more = f"There are {len(told) - MOST} more such parts." if len(told) > MOST else ""
    return " ".join((*told[:MOST], more)).rstrip()


def _told(line: Line, lacking: Sequence[Part], reach: Reach, drafted: Grants) -> Iterator[str]:
    for part in lacking:
        shown, head = _shown(part.source), _head(part)
        if not shown:
            continue
        if why := _unknown_name(part):
            yield f"No rule can hold {shown}: {why}."
        elif (made := suggested(part, reach)).text:
            if len(lacking) > 1 or not line.understood:
                yield f"{shown} alone could be a rule: Bash({made.text})."
        elif drafted and line.understood and head:
            yield f"Bash({head}) would hold {shown} whatever comes: {made.why}."
        elif made.why:
            other = f"; without it Bash({head}) could be one" if head else ""
            only = f"Only word for word could {shown} be a rule"
            yield f"{only if drafted else f'No rule can hold {shown}'}: {made.why}{other}."


def _unknown_name(part: Part) -> str:
    if not part.argv or part.argv[0].literal or not part.argv[0].dynamic:
        return ""
    return f"only the shell knows which program {part.argv[0].raw} is"


def _head(part: Part) -> str:
    """The words before the first that nobody knows, where they make a rule."""
    at = next((n for n, arg in enumerate(part.argv) if arg.dynamic), 0)
    known = part.argv[:at]
    if not known or part.assigns or not all(arg.literal for arg in known):
        return ""
    prefix = stable_prefix(tuple(arg.text for arg in known))
    return "" if prefix is None or known[0].text in SAFE else " ".join(prefix) + ":*"


def drafts(line: Line, parts: Sequence[Part], lacking: Sequence[Part], reach: Reach) -> Grants:
    """Where a person who wants a rule all the same may begin; who calls tries whether it counts."""
    if not line.understood:
        return _word_for_word(line, parts, reach)
    found: dict[str, Grant] = {}
    for part in lacking:
        steps = suggested(part, reach).steps or tuple(filter(None, (_head(part),)))
        if not steps:
            return ()
        rules = tuple(f"Bash({text})" for text in steps)
        found[rules[0]] = Grant(rules[0], steps=rules)
    return tuple(found.values())


def _word_for_word(line: Line, parts: Sequence[Part], reach: Reach) -> Grants:
    """The whole line as an exact rule, where it is known what it runs and which files it is on."""
    text = line.text.strip()
    if not line.parsable or set(text) & set("*\n") or not parts:
        return ()
    if any(_open_ended(part, reach) or writes_outside(part, reach) for part in parts):
        return ()
    return (Grant(f"Bash({text})", steps=(f"Bash({text})",)),)


def _open_ended(part: Part, reach: Reach) -> bool:
    """Whether what a variable holds decides what runs, is read or is lost."""
    if any(one.file for one in part.redirects) or part.background:
        return True
    if not part.argv or any(one.arg.unknown for one in reach.touched(part).reads):
        return True
    program = part.argv[0]
    coded = not program.literal or is_interpreter(program.text) or runs_code(part)
    return coded or (part.program in EXACT_ONLY and any(arg.dynamic for arg in part.argv))


def _shown(source: str) -> str:
    text = " ".join(source.split())
    return text if len(text) <= CUT else text[: CUT - 1] + "…"
