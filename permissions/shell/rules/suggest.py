"""The rules "always" would store for the commands of a line that nothing covers."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gatewright.permissions.decision import Grant
from gatewright.permissions.rulebook.rules import Rule, parse_rule
from gatewright.permissions.rulebook.runners import is_interpreter, is_runner
from gatewright.permissions.shell.danger.danger_table import runs_input
from gatewright.permissions.shell.files.operands import touched
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.rules.arity import is_stable, stable_prefix
from gatewright.permissions.shell.rules.coverage import PEELED, Coverage
from gatewright.permissions.shell.rules.rule_index import RuleIndex
from gatewright.permissions.shell.safe.safe_table import SAFE
from gatewright.permissions.shell.wrappers import SHELLS

FETCHERS = frozenset({"npx", "uvx", "bunx"})
CODE_OPTIONS: frozenset[str] = frozenset(
    {"-c", "-e", "-E", "-r", "-p", "--eval", "--print", "--command"}
)

LONGEST = 6  # words of a prefix


class Suggested(NamedTuple):
    """What a rule for one command would hold, and less and more than that; or why there is none,
    where the question does not say so anyway.

    `steps` are further specifiers, the narrowest first, with `text` among them.
    """

    text: str = ""
    steps: tuple[str, ...] = ()
    why: str = ""


def suggestions(parts: Sequence[Part], reach: Reach) -> tuple[Grant, ...]:
    """One rule per command, or none at all if one of them may not be stored."""
    found: dict[str, Grant] = {}
    for part in parts:
        made = suggested(part, reach)
        if not made.text:
            return ()
        rule, problem = parse_rule(f"Bash({made.text})", "allow", "session")
        if rule is None or problem:
            return ()
        found[rule.text] = Grant(rule.text, steps=tuple(f"Bash({one})" for one in made.steps))
    return tuple(found.values())


def suggested(part: Part, reach: Reach) -> Suggested:
    """The most stable rule for one command, or why it cannot be one."""
    bare, why = _storable(part, reach)
    if bare is None:
        return Suggested(why=why)
    exact = _exact(bare)
    if _reads_outside(bare, reach) or is_interpreter(bare.argv[0].text):
        return _only(exact)
    if any(reach.opened_of(bare)) or bare.argv[0].text in SAFE:
        return _only(exact)  # a prefix of a reader would read anything anywhere
    prefix = stable_prefix(bare.texts)
    if prefix is None or is_runner(" ".join(bare.texts[:2]), whole=True):
        return _only(exact or _starred(bare))
    text = " ".join(prefix) + ":*"
    return Suggested(text, (*([exact] if exact else []), *_prefixes(bare.texts, text)))


def rules_of(grants: Iterable[Grant]) -> Iterator[Rule]:
    """As the gate reads them once they are stored."""
    for grant in grants:
        rule, problem = parse_rule(grant.rule, "allow", "session")
        if rule is not None and not problem:
            yield rule


def _only(text: str) -> Suggested:
    return Suggested(text, (text,)) if text else Suggested(why="it holds what no rule can spell")


def _storable(part: Part, reach: Reach) -> tuple[Part | None, str]:
    """The command that a rule would be about, or why none may be: files are told of elsewhere."""
    if unknown := next((arg.raw for arg in part.argv if arg.dynamic), ""):
        return None, f"only the shell knows what {unknown} is"
    if not part.argv or any(one.file for one in part.redirects):
        return None, ""
    bare = _unwrapped(part, reach)
    if bare is None:
        return None, "what is set before it, or what it runs, is not settled by a rule"
    if runs_code(bare):
        return None, "it carries the program that it runs"
    return (None, "") if writes_outside(bare, reach) else (bare, "")


def _prefixes(words: tuple[str, ...], offered: str) -> Iterator[str]:
    """From the longest prefix of words that name what is done; what runs anything is left out."""
    for length in range(min(len(words), LONGEST), 0, -1):
        head, text = words[:length], " ".join(words[:length])
        plain = all(map(is_stable, head[1:])) and not is_runner(text)
        if plain or f"{text}:*" == offered:
            yield f"{text}:*"


def _unwrapped(part: Part, reach: Reach) -> Part | None:
    """Without harmless assignments and transparent wrappers; None if some are not harmless."""
    coverage = Coverage(RuleIndex(()), reach, lambda _: False, lambda _: True, ())
    last = part
    for one in coverage.peeled(part):
        last = one
    if last.assigns or not last.argv or last.argv[0].text in PEELED:
        return None
    return last if last.argv[0].literal else None


def runs_code(part: Part) -> bool:
    """An interpreter with its program on the line, in a here-document or on a pipe."""
    program = part.program
    if not is_interpreter(program):
        return False
    if program in ("find", "env", "xargs", "awk", "gawk", "mawk", "nawk", "sudo", "su", "eval"):
        return program in ("eval", "sudo", "su") or bool(part.argv[1:] and program != "find")
    if program in FETCHERS and part.argv[1:] and _names_a_program(part.argv[1].text):
        return False
    listed = runs_input(program)
    texts = part.texts[1:]
    coded = any(
        text in CODE_OPTIONS or (program in SHELLS and text[:1] == "-" and "c" in text)
        for text in texts
    )
    here = any(one.operator.startswith("<<") for one in part.redirects)
    return coded or here or (listed and (part.fed or not texts))


def _names_a_program(word: str) -> bool:
    """What a program of packages is told to run, where that is no interpreter itself."""
    return word[:1] not in ("-", "") and not is_interpreter(word)


def _exact(part: Part) -> str:
    """The command as an exact rule; impossible when it holds a wildcard of the rule language."""
    if any("*" in arg.text or "\n" in arg.text for arg in part.argv):
        return ""
    text = " ".join(shlex.quote(arg.text) if not arg.patterns else arg.raw for arg in part.argv)
    return "" if text.endswith(":*") else text


def _starred(part: Part) -> str:
    """A command with `*` can only be stored as the glob it looks like."""
    if any("\n" in arg.text for arg in part.argv):
        return ""
    return " ".join(arg.raw for arg in part.argv)


def writes_outside(part: Part, reach: Reach) -> bool:
    paths = reach.paths
    for one in (part, *reach.opened_of(part)):
        for operand in touched(one).writes:
            if operand.arg.unknown or None in operand.bases:
                return True
            for located in reach.locations(operand.arg, operand.bases):
                if paths.tier(located) or not paths.is_inside(located):
                    return True
    return False


def _reads_outside(part: Part, reach: Reach) -> bool:
    paths = reach.paths
    for operand in touched(part).reads:
        if None in operand.bases:
            return True
        for located in reach.locations(operand.arg, operand.bases):
            if not paths.is_inside(located):
                return True
    return False
