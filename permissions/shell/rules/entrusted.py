"""What no rule grants that a skill or a project wrote, though its words fit: handing on.

Such a rule names a program; what that program is told to run, or to be from now on, is named by
nobody. A rule for the whole command, word by word, is not asked about this.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gatewright.permissions.shell.line import Line, Part
from gatewright.permissions.shell.rules.coverage import Coverage
from gatewright.tools.system.patterns import later

# Of git: what runs programs, shows secrets, or changes what git does later.
_GIT = frozenset(
    {"credential", "daemon", "difftool", "fast-import", "filter-branch", "filter-repo", "gui",
     "citool", "hook", "instaweb", "maintenance", "mergetool", "p4", "replace", "send-email", "svn",
     "imap-send", "http-backend", "shell", "submodule", "update-index", "update-ref", "var"}
)  # fmt: skip
_GIT_LEADS = ("credential-", "cvs", "remote-", "http-", "archimport", "web--")
_BEFORE = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"})
_LOOKS = frozenset({"--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"})
_WHERE = frozenset(
    {"--global", "--local", "--system", "--worktree", "--show-origin", "--show-scope", "--null",
     "-z", "--name-only", "--includes", "--no-includes"}
)  # fmt: skip
_CHANGES = frozenset({"edit", "set", "unset", "rename-section", "remove-section"})
_REMOTES: tuple[list[str], ...] = ([], ["-v"], ["--verbose"], ["show"], ["get-url"])
_HANDS = ("--ext-d", "--textc", "--templ", "--upload-p", "--receive-p", "--exec")
_TRANSPORT = later(r"[\w+-]+::")
_SED_RUNS = later(
    r"s([^\\\w\s])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1\w*e|(?:^|[;{}\d$/!\n])\s*e(?:\s|$)",
    re.DOTALL,
)


def entrusted(line: Line, opened: Sequence[Part], coverage: Coverage) -> bool:
    """Whether a line that `coverage` covers may run by rules that come with a text."""
    if coverage.whole_line(line) is not None:
        return True
    covers = {index: coverage.of(part, hook=False) for index, part in enumerate(opened)}
    return all(
        cover is not None and (cover.exact or not hands_on(opened[index]))
        for index, cover in covers.items()
    )


def hands_on(part: Part) -> bool:
    """Whether more is in it than the words of a rule can name."""
    words = part.texts[1:]
    if part.program == "git":
        return _git(words)
    return part.program in ("sed", "gsed") and any(map(_SED_RUNS.search, words))


def _git(words: Sequence[str]) -> bool:
    index = next((at for at, word in enumerate(words) if word not in _BEFORE), len(words))
    if index == len(words) or words[index] == "--version":
        return False
    sub, rest = words[index], list(words[index + 1 :])
    if sub.startswith("-") or sub in _GIT or sub.startswith(_GIT_LEADS):
        return True
    if sub == "config":
        return not _only_looks(rest)
    if sub == "remote":
        return rest[:1] not in _REMOTES
    if sub == "grep" and any(word.startswith(("-O", "--op")) for word in rest):
        return True
    # A transport with two colons is a program.
    return any(_TRANSPORT.match(word) or word.startswith(_HANDS) for word in rest)


def _only_looks(rest: Sequence[str]) -> bool:
    """Nothing is set, and no other file named; a single name is one that is looked up."""
    options = {word for word in rest if word.startswith("-")}
    operands = [word for word in rest if not word.startswith("-")]
    if not options <= _LOOKS | _WHERE or (operands and operands[0] in _CHANGES):
        return False
    return bool(options & _LOOKS) or operands[:1] in (["get"], ["list"]) or len(operands) == 1
