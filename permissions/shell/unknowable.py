"""What a line runs that only the running shell knows, so that no rule can be compared with it.

A name that is a variable or comes out of a command, text that is evaluated later, names that a
program reads from its input. Where a deny or ask rule speaks of commands, such a line asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from gatewright.permissions.shell.line import Line, Part, Start
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.wrappers import SHELLS, opened, wrapped_by
from gatewright.tools.system.patterns import later

# They set variables in ways that are not followed.
_ASSIGNERS = frozenset(
    {"printf", "mapfile", "readarray", "getopts", "let", "eval", "source", ".", "wait", "read",
     "declare", "typeset", "local", "export", "readonly", "unset", "set", "shift", "select",
     "coproc"}
)  # fmt: skip
# They evaluate a word, or what stands between brackets in a name, once more.
_EVALUATES = _ASSIGNERS - {"eval", "source", ".", "coproc"} | {"test", "[", "[[", "compgen"}
_LATER = later(r"\[[^\]]*(?:\$\(|`|\$\{)|\$\(|`")
_SUBSCRIPT = later(r"\[.*(?:\$\(|`)", re.DOTALL)
_RUN_LATER = frozenset({"PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND"})
_FILES_RUN = frozenset({"BASH_ENV", "ENV"})
_ASSIGNED = later(r"(BASH_ENV|ENV|PS[0124]|PROMPT_COMMAND|BASH_FUNC_[^=]*)\+?=(.*)", re.DOTALL)
_EVALUATED_AGAIN = later(r"\$\{[^}]*@P\}")
_INPUT = Arg("$input", "$input", dynamic=True, unknown=True, leads=True)


def unknowable(line: Line, parts: Sequence[Part], start: Start) -> str:
    """Which words keep the line from being compared with rules; empty where none do."""
    if _EVALUATED_AGAIN.search(line.text):
        return "${...@P}"
    followed = not any(_assigns(part) for part in parts)
    for part in parts:
        if part.program in SHELLS and part.fed and not _fed_literally(part, parts):
            return part.source or part.program
        for one in (part, *_fed(part, start)):
            if found := _of_part(one, followed=followed):
                return found
    return ""


def _of_part(part: Part, *, followed: bool) -> str:
    for name, arg in part.assigns:
        if _set_for_later(name, arg.text) or _hides(arg, _SUBSCRIPT):
            return f"{name}={arg.raw}"
    if not part.argv:
        return ""
    if _name_unknown(part.argv[0], followed=followed):
        return part.argv[0].raw
    return _by_program(part)


def _fed_literally(shell: Part, parts: Sequence[Part]) -> bool:
    """Whether the text that is piped into a shell stands in the line as it is."""
    if shell.argv[1:] and any(not arg.text.startswith(("-", "+")) for arg in shell.argv[1:]):
        return True  # a text or a script of its own
    sources = (one for one in parts if one.statement == shell.statement and not one.via)
    return all(one is shell or _as_written(one) for one in sources)


def _as_written(part: Part) -> bool:
    if part.program in ("cat", "tee") and all(arg.literal for arg in part.argv):
        return part.program == "tee" or not part.argv[1:]
    plain = all(arg.literal and not set(arg.text) & set("%\\") for arg in part.argv[1:])
    return part.program in ("echo", "printf", *SHELLS) and plain


def _name_unknown(arg: Arg, *, followed: bool) -> bool:
    if arg.unknown or arg.substitution or (arg.dynamic and not (followed and arg.text)):
        return True
    return "{}" in arg.text or any(not one.strip("*?/") for one in arg.patterns)


def _by_program(part: Part) -> str:
    program, words = part.program, part.argv[1:]
    if program in ("enable", "fc", "parallel", "gparallel") and not _harmless(program, words):
        return part.source or " ".join(part.texts)
    if program in ("export", "declare", "typeset", "readonly", "local", "env"):
        for arg in words:
            found = _ASSIGNED.match(arg.text)
            if found is not None and _set_for_later(found.group(1), found.group(2)):
                return arg.raw
    if program in _EVALUATES and (program != "printf" or _assigns(part)):
        pattern = _LATER if program == "let" else _SUBSCRIPT
        return next((arg.raw for arg in words if _hides(arg, pattern)), "")
    return ""


def _hides(arg: Arg, pattern: re.Pattern[str]) -> bool:
    """Text that is a command only later; one that runs at once is among the parts."""
    if pattern.search(arg.text) is None:
        return False
    return not arg.substitution or bool(set(arg.raw) & set("\\'"))


def _set_for_later(name: str, value: str) -> bool:
    return (
        name in _FILES_RUN
        or name.startswith("BASH_FUNC_")
        or (name in _RUN_LATER and bool(set(value) & set("$`\\")))
    )


def _harmless(program: str, words: Sequence[Arg]) -> bool:
    texts = [arg.text for arg in words]
    if program == "enable":
        return not any(text.startswith("-") and "f" in text for text in texts)
    if program == "fc":
        return any(text.startswith("-") and "l" in text for text in texts)
    return bool(texts) and not (texts[0].startswith(":::") or "{" in texts[0])


def _assigns(part: Part) -> bool:
    """Whether it changes a variable in a way that reading the line does not follow."""
    if part.program == "printf":
        return any(text.startswith("-v") for text in part.texts[1:2])
    return part.program in _ASSIGNERS or any(name == "IFS" for name, _ in part.assigns)


def _fed(part: Part, start: Start) -> Iterator[Part]:
    """What xargs runs, with a word of its input: a wrapper without a command runs that."""
    if part.program != "xargs":
        return
    for inner in wrapped_by(part, start):
        given = replace(inner, argv=(*inner.argv, _INPUT))
        yield from opened((given,), start)[1:]
