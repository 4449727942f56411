"""Which formats and sort keys of git only print what the repository holds.

A positive list: a placeholder that is not on it may run a program (a signature is verified by the
one that the configuration names), so its command is not safe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gatewright.tools.system.patterns import later

_NAMED = frozenset(
    {"oneline", "short", "medium", "full", "fuller", "reference", "email", "mboxrd", "raw"}
)  # any other name is one that the configuration gives to a format of its own
_LOG = later(
    r"""%(?:%|[+\- ]?(?:
        [HhTtPpdDSesfbBNmn]
      | [ac][nNeElLdDrtiIsh]
      | g[dDnNeEs]
      | x[0-9A-Fa-f]{2}
      | C(?:reset|red|green|blue|\([\w\#, -]*\))
      | w\([\d, ]*\)
      | (?:<\|?|>>?\|?|>><)\([\d, a-z-]*\)
      | \(trailers(?::(?:[^()%]|%n|%x[0-9A-Fa-f]{2})*)?\)
      | \(decorate(?::[^()%]*)?\)
    ))""",
    re.VERBOSE,
)
_ATOM = (
    r"\*?(?:refname|object(?:type|size|name)?|upstream|push|HEAD|symref|worktreepath|tree|parent"
    r"|numparent|type|tag|(?:author|committer|tagger)(?:name|email|date)?|creator(?:date)?|subject"
    r"|body|contents|trailers|color|align|if|then|else|end|flag|deltabase|ahead-behind)"
    r"(?::(?!\w*signature)[^()%]*)?"
)
_REF = later(rf"%(?:%|[0-9A-Fa-f]{{2}}|\({_ATOM}\))")
_KEY = later(rf"-?(?:v:|version:)?{_ATOM}")
_ENTRY = later(
    r"%(?:%|x?[0-9A-Fa-f]{2}|\((?:object(?:mode|type|name|size(?::padded)?)|stage|path|eolattr"
    r"|eolinfo:(?:index|worktree))\))"
)
_GROUP = later(r"author|committer|trailer:[\w-]+")


def _only(placeholder: re.Pattern[str], text: str) -> bool:
    return "%" not in placeholder.sub("", text)


def _log(text: str) -> bool:
    if "%" in text or text.startswith(("format:", "tformat:")):
        return _only(_LOG, text)
    return not text or text in _NAMED


def _group(text: str) -> bool:
    return _GROUP.fullmatch(text) is not None or (
        ("%" in text or text.startswith("format:")) and _log(text)
    )


# By the mark behind an option's `=` in the tables.
_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "G": _log,
    "R": lambda text: _only(_REF, text),
    "K": lambda text: _KEY.fullmatch(text) is not None,
    "L": lambda text: _only(_ENTRY, text),
    "U": _group,
}


def harmless_format(mark: str, text: str) -> bool:
    return _CHECKS[mark](text)
