"""Which formats and sort keys of git only print what the repository holds.

A positive list: a placeholder that is not on it may run a program (a signature is verified by the
one that the configuration names), so its command is not safe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_NAMED = frozenset(
    {"oneline", "short", "medium", "full", "fuller", "reference", "email", "mboxrd", "raw"}
)  # any other name is one that the configuration gives to a format of its own
_LOG = re.compile(
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
_REF = re.compile(rf"%(?:%|[0-9A-Fa-f]{{2}}|\({_ATOM}\))")
_KEY = re.compile(rf"-?(?:v:|version:)?{_ATOM}")
_ENTRY = re.compile(
    r"%(?:%|x?[0-9A-Fa-f]{2}|\((?:object(?:mode|type|name|size(?::padded)?)|stage|path|eolattr"
    r"|eolinfo:(?:index|worktree))\))"
)
_GROUP = re.compile(r"author|committer|trailer:[\w-]+")


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


EXAMPLES: tuple[tuple[str, str, bool], ...] = (
    ("G", "%h %an%n%C(auto)%d %s%x09%ad", True),
    ("G", "format:%<(20,trunc)%s %>|(30)%cr%w(72,2,4)%b", True),
    ("G", "%+s%-b% d %% %gd %(trailers:key=Reviewed-by,valueonly,separator=%x2C)", True),
    ("G", "tformat:100%%", True),
    ("G", "oneline", True),
    ("G", "", True),
    ("G", "%G?", False),
    ("G", "%+GK", False),
    ("G", "%-G?", False),
    ("G", "% GS", False),
    ("G", "%%%GG", False),
    ("G", "%<(20)%GP", False),
    ("G", "%(trailers:separator=%GK)", False),
    ("G", "%C(%G?)", False),
    ("G", "%(signature)", False),
    ("G", "mine", False),
    ("G", "%h %", False),
    ("R", "%(refname:short) %(*objectname) %(if:equals=x)%(HEAD)%(then)*%(end)%00", True),
    ("R", "%(committerdate:format:%Y)", False),
    ("R", "%(contents:subject) %(upstream:track,nobracket)", True),
    ("R", "%(signature)", False),
    ("R", "%(*signature:grade)", False),
    ("R", "%(contents:signature)", False),
    ("R", "%(describe)", False),
    ("R", "%(if)%(signature:key)%(then)x%(end)", False),
    ("K", "-committerdate", True),
    ("K", "-v:refname", True),
    ("K", "authordate:iso", True),
    ("K", "signature", False),
    ("K", "-*signature:key", False),
    ("K", "refname(signature)", False),
    ("L", "%(objectmode) %(path)%x00", True),
    ("L", "%(signature)", False),
    ("U", "author", True),
    ("U", "trailer:co-authored-by", True),
    ("U", "format:%cd", True),
    ("U", "%ae", True),
    ("U", "format:%G?", False),
    ("U", "%GS", False),
    ("U", "mine", False),
)
