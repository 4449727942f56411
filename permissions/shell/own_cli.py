"""This program's own command line, called by a command: what of it would loosen the gate.

Changing settings, rules or trust counts as writing the files they are kept in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gatewright.permissions.paths import components_meet
from gatewright.permissions.rulebook.runners import is_runner
from gatewright.permissions.shell.danger.hazard import Hazard
from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.parse.words import Arg
from gatewright.tools.system.patterns import later

NAMES: tuple[str, ...] = ("agent", "gatewright")
_ENTRIES = ("gatewright/agent/main.py", "agent/launch/main.py")
_OUR_NAME = later(r"(?:^|[^\w-])(?:agent|gatewright)(?:[^\w-]|$)")
_MODULE = later(r"gatewright(?:\.[\w.]+)?")

# sub-command -> what of it changes what the person set up; "" is the sub-command by itself.
CHANGING: Mapping[str, frozenset[str]] = {
    "config": frozenset({"set", "unset"}),
    "permissions": frozenset({"add", "remove"}),
    "trust": frozenset({"add", "remove"}),
    "login": frozenset({""}),
    "logout": frozenset({""}),
    "import": frozenset({""}),
    "agents": frozenset({"new", "stop"}),
    **dict.fromkeys(("bg", "attach", "stop", "kill", "__background"), frozenset({""})),
    "auto-mode": frozenset({"reset"}),
    "workflows": frozenset({"run", "resume"}),  # which only a person begins
    "schedule": frozenset({"add", "rm", "run", "install"}),
    "dream": frozenset({""}),  # it asks a model about what only the person's memory holds
    "skills": frozenset({"new"}),
    "plugin": frozenset(
        {"install", "uninstall", "enable", "disable", "update", "configure", "init"}
    ),
    "marketplace": frozenset({"add", "update", "remove"}),  # of `plugin`
    "mcp": frozenset({"add", "add-json", "remove", "approve", "reset-project-choices"}),
}
# Flags that give another agent more than this one has, and modes that do.
FREEING: frozenset[str] = frozenset(
    {"-y", "--dangerously-skip-permissions", "--auto", "--auto-continue", "--enable-auto-mode",
     "--trust", "--allowedTools", "--allowed-tools", "--add-dir", "--settings",
     "--mcp-config", "--agents", "--agent", "--plugin-dir"}
)  # fmt: skip
TABLE: frozenset[str] = frozenset({"-i", "--interactive"})  # of `ps`: what attach and stop do, too
FEEDING: frozenset[str] = frozenset({"xargs", "gxargs", "parallel"})  # they add words to a command
VALUED: frozenset[str] = frozenset(
    {"-I", "-J", "-n", "-L", "-P", "-s", "-d", "-E", "-a", "-j", "--arg-file", "--delimiter",
     "--max-args", "--max-lines", "--max-procs", "--max-chars", "--jobs"}
)  # fmt: skip
MODE_FLAGS: frozenset[str] = frozenset({"--mode", "--permission-mode"})
_FREE_MODE = later(r"bypass|auto|fullaccess|acceptedits|code|work")


def own_hazards(part: Part) -> Iterator[Hazard]:
    words = own_words(part.argv)
    if words is None:
        return
    change = _fed(part.argv, words) or _change(words)
    if change:
        yield Hazard(2, f"It would change the agent's own set-up: {change}.")
    elif _frees(words):
        yield Hazard(1, "It would start an agent that may do more than this one.")


def own_words(argv: Sequence[Arg]) -> Sequence[Arg] | None:
    """The words behind this program's name, or None where another program runs."""
    if _is_us(argv[0]):
        return argv[1:]
    if not is_runner(" ".join(arg.text for arg in argv[:2])):
        return None
    for index, arg in enumerate(argv[1:], 1):
        if _is_us(arg) or _names_module(argv[index - 1].text, arg.text):
            return argv[index + 1 :]
    return None


def _is_us(arg: Arg) -> bool:
    for text in arg.readings:
        name = text.rpartition("/")[2].partition("@")[0]
        if name.removesuffix(".exe") in NAMES or text.endswith(_ENTRIES):
            return True
    if arg.unknown and _OUR_NAME.search(arg.raw):  # $(which agent)
        return True
    tails = (pattern.rpartition("/")[2] for pattern in arg.patterns)
    return any(components_meet(name, tail) for tail in tails for name in NAMES)


def _names_module(before: str, text: str) -> bool:
    glued = re.fullmatch(r"-[A-Za-z]*m(gatewright[\w.]*)", text)
    if glued is not None:
        return _MODULE.fullmatch(glued.group(1)) is not None
    return re.fullmatch(r"-[A-Za-z]*m", before) is not None and _MODULE.fullmatch(text) is not None


def _fed(argv: Sequence[Arg], words: Sequence[Arg]) -> str:
    """What another program chooses as our sub-command; empty where it does not."""
    if argv[0].text.rpartition("/")[2] not in FEEDING:
        return ""
    first = words[0].text if words else ""
    before = [arg.text for arg in argv[1 : len(argv) - len(words) - 1]]
    given = (text.lstrip("-IJi") for text in before)
    chosen = not first or "{" in first or any(text and text in first for text in given)
    return f"whatever {argv[0].text} adds" if chosen and _lead_to_program(before) else ""


def _lead_to_program(before: Sequence[str]) -> bool:
    """Whether what stands behind these words of xargs is run, and not given to what is."""
    value = False
    for text in before:
        if not (value or text.startswith("-")):
            return is_runner(text)
        value = not value and text in VALUED
    return True


def _change(words: Sequence[Arg]) -> str:
    """The changing sub-command, wherever it stands: before it may be options with values."""
    if words and _may_change(words[0]):
        return words[0].raw
    if words and words[0].text == "ps" and TABLE.intersection(arg.text for arg in words):
        return "ps -i"
    plain = [word for arg in words for word in _spelled(arg)]
    for index, (text, _) in enumerate(plain):
        actions = CHANGING.get(text)
        if actions is None:
            continue
        following, unknown = plain[index + 1] if index + 1 < len(plain) else ("", False)
        if "" in actions and index == 0:
            return text
        if following in actions or unknown:
            return f"{text} {following}".strip()
    return ""


def _may_change(arg: Arg) -> bool:
    """Whether nobody knows which sub-command this is, and it may be one of those."""
    tails = arg.patterns
    return arg.unknown or any(components_meet(name, tail) for tail in tails for name in CHANGING)


def _spelled(arg: Arg) -> Iterator[tuple[str, bool]]:
    """The words an argument becomes, options left out, with whether one may be anything."""
    for text in arg.readings:
        if arg.unknown or not text.startswith("-"):
            yield text, arg.unknown or bool(arg.patterns)


def _frees(words: Sequence[Arg]) -> bool:
    texts = [arg.text for arg in words]
    for index, text in enumerate(texts):
        name, joined, value = text.partition("=")
        if name in FREEING:
            return True
        if name in MODE_FLAGS:
            value = value if joined else (*texts, "")[index + 1]
            if _FREE_MODE.match(value.lower().replace("-", "").replace("_", "")):
                return True
    return False
