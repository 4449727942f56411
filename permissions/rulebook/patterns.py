"""Path globs of rules, made absolute: what they match and what they might match.

A pattern is tried in both spellings of its literal prefix, as written and as resolved.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import msgspec

from gatewright.permissions.paths import MAX_PATH, Place, Resolver, components_meet, lexical
from gatewright.permissions.rulebook.rules import PathForm, Rank, Rule
from gatewright.tools.system.patterns import later

_MAGIC = later(r"[*?\[{]")
_BARE = later(r"[\w/. -]*", re.ASCII)  # means itself in a glob
_WILD = later(r"[*?]+")
_UNSURE = later(r"[^\w.,=*?/ -]")  # classes, escapes, braces and what else may mean more
MAX_GROUPS = 64


class PathPattern(msgspec.Struct, frozen=True):
    """`literal` is the prefix without wildcards, absolute; `anywhere` patterns have none of their
    own and match below a directory at any depth."""

    literal: str
    globs: tuple[str, ...]
    anywhere: bool
    literal_names: tuple[str, ...]
    _excluded: tuple[str, ...]
    holds: frozenset[str]
    folded: str  # the literal prefix without case
    words: tuple[str, ...]  # one of them stands in each ASCII path it matches; none: not known

    def matches(self, path: str) -> bool:
        """Whether an absolute lexical path, or a directory above it, fits the pattern."""
        if len(path) > MAX_PATH or not _may_match(self.words, path):
            return False
        if _compiled(self.globs).match(path) is None:
            return False
        return not self._is_excluded(path)

    def joined(self, other: PathPattern) -> PathPattern:
        """About what either is about."""
        globs = tuple(dict.fromkeys((*self.globs, *other.globs)))
        return msgspec.structs.replace(
            self,
            globs=globs,
            words=_words(globs),
            literal_names=(*self.literal_names, *other.literal_names),
            holds=self.holds | other.holds,
        )

    def _is_excluded(self, path: str) -> bool:
        return bool(self._excluded) and _compiled(self._excluded).match(path) is not None

    def restricts(self, path: str) -> bool:
        """Like `matches`; a pattern for all that is in a directory also means the directory."""
        return self.matches(path) or path.casefold() in self.holds

    def could_match(self, glob: str) -> bool:
        """Whether some path fits both this pattern and an absolute shell glob."""
        parts = glob.split("/")
        if not any(globs_meet(mine.split("/"), parts) for mine in self.globs):
            return False
        if not self._excluded or self.matches(glob):
            return True
        if _MAGIC.search(glob) is None:
            return False
        # what lies below an exception is one, whatever the rest of the glob may be
        return not self._is_excluded(_literal_prefix(glob))


def compile_pattern(
    form: PathForm, place: Place, *, builtin: bool, real: Callable[[str], str]
) -> PathPattern:
    """Anchor and compile; `real` resolves the literal prefix."""
    from gatewright.permissions.rulebook.braces import expanded  # noqa: PLC0415  lazy

    bases, rest, anywhere = _anchored(form.pattern, place, builtin=builtin)
    globs: list[str] = []
    for base in bases:
        for variant in expanded(rest, keep_escapes=True) or ():  # too many: no rule of its own
            globs.extend(_spellings(base, variant, real))
    excluded = tuple(_join("/", pattern) for pattern in form.exceptions)
    literal = _literal_prefix(_join(bases[0], rest))
    names = [literal]
    if anywhere and not _MAGIC.search(rest.removeprefix("**/")):
        names.append(f"{bases[0]}/{rest.removeprefix('**/')}")
    unique = tuple(dict.fromkeys(globs))
    holds = frozenset(
        re.sub(r"\\(.)", r"\1", one[:-3]).casefold()
        for one in unique
        if one.endswith("/**") and not _MAGIC.search(re.sub(r"\\.", "", one[:-3]))
    )
    return PathPattern(
        literal,
        unique,
        anywhere,
        tuple(names),
        excluded,
        holds,
        literal.casefold(),
        _words(unique),
    )


class PatternGroup:
    """Several path rules with one expression that tells whether any of them could match."""

    __slots__ = ("_globs", "_holds", "_words", "entries")

    def __init__(self, entries: tuple[tuple[Rule, PathPattern], ...]) -> None:
        self.entries = entries
        globs = tuple(dict.fromkeys(one for _, pattern in entries for one in pattern.globs))
        self._globs = globs
        self._holds = frozenset[str]().union(*(pattern.holds for _, pattern in entries))
        self._words = _words(globs)

    def maybe(self, path: str) -> bool:
        """False when no rule of the group is about this one path."""
        if not self._globs or len(path) > MAX_PATH:
            return False
        if not _may_match(self._words, path):
            return False
        return _compiled(self._globs).match(path) is not None or path.casefold() in self._holds


class Patterns:
    """The compiled path rules of one place; empty it when links may have changed."""

    __slots__ = ("_groups", "_known", "_main", "_place", "_resolver")

    def __init__(self, place: Place, resolver: Resolver, main: Place | None = None) -> None:
        """In a work tree of ours what restricts is about the checkout it came from, too."""
        self._main = main
        self._place = place
        self._resolver = resolver
        self._known: dict[tuple[PathForm, bool, bool], PathPattern] = {}
        self._groups: dict[int, tuple[tuple[Rule, ...], PatternGroup]] = {}

    def of(self, rule: Rule, form: PathForm) -> PathPattern:
        """`form` is the rule's; what a grant is about may not be moved by the project's links."""
        grants, builtin = rule.behavior == "allow", rule.source == "builtin"
        key = (form, builtin, grants)
        found = self._known.get(key)
        if found is None:
            real = self._own_real if grants else self._resolver.real
            found = compile_pattern(form, self._place, builtin=builtin, real=real)
            if self._main is not None and not grants:
                found = found.joined(compile_pattern(form, self._main, builtin=builtin, real=real))
            self._known[key] = found
        return found

    def _own_real(self, path: str) -> str:
        from gatewright.permissions.machine.links import own_real  # noqa: PLC0415  lazy

        return own_real(path, self._place, self._resolver)

    def group(self, rules: tuple[Rule, ...]) -> PatternGroup:
        """The compiled path rules among `rules`; remembered for as long as the tuple lives."""
        known = self._groups.get(id(rules))
        if known is None or known[0] is not rules:
            found = tuple(
                (rule, self.of(rule, rule.form))
                for rule in rules
                if isinstance(rule.form, PathForm)
            )
            if len(self._groups) > MAX_GROUPS:
                self._groups.clear()
            known = rules, PatternGroup(found)
            self._groups[id(rules)] = known
        return known[1]

    def rank(self, rule: Rule) -> Rank:
        """How specific a rule is, the literal prefix of path rules included."""
        if isinstance(rule.form, PathForm):
            pattern = self.of(rule, rule.form)
            return (2, len(pattern.literal), 0)
        return rule.rank

    def clear(self) -> None:
        self._known.clear()
        self._groups.clear()


def _anchored(pattern: str, place: Place, *, builtin: bool) -> tuple[tuple[str, ...], str, bool]:
    """The directories a pattern starts at, what is left of it, and whether it floats."""
    text = pattern.strip()
    if text.startswith("//"):
        return ("/",), text[2:], False
    if text == "~" or text.startswith("~/"):
        return (place.home,), text[2:], False
    if text.startswith("/"):
        return (place.root, *place.spelled), text[1:], False
    base = "/" if builtin else place.start
    if text.startswith("./"):
        return (base,), text[2:], False
    bare = text.rstrip("/")
    if "/" not in bare:
        everywhere = (
            (base,)
            if builtin
            else tuple(dict.fromkeys((place.start, place.root, *place.spelled, *place.directories)))
        )
        return everywhere, "**/" + bare, True
    return (base,), text, text.startswith("**/")


def _join(base: str, rest: str) -> str:
    escaped = base
    if not _BARE.fullmatch(base):
        from wcmatch import glob  # noqa: PLC0415  lazy: 12 ms

        escaped = glob.escape(base, unix=True)
    return escaped + rest if base == "/" else f"{escaped}/{rest}"


def _spellings(base: str, rest: str, real: Callable[[str], str]) -> list[str]:
    """The glob as written, and with its literal prefix resolved."""
    base = base.rstrip("/")
    parts = [part for part in rest.split("/") if part not in ("", ".")]
    literal: list[str] = []
    for part in parts:
        if _MAGIC.search(part) or "\\" in part:
            break
        literal.append(part)
    tail = "/".join(parts[len(literal) :])
    written = "/".join([base, *literal]) or "/"
    found = [lexical(written), real(written)]
    return [_join(prefix, tail).rstrip("/") or "/" for prefix in dict.fromkeys(found)]


def _literal_prefix(glob: str) -> str:
    plain = re.sub(r"\\(.)", r"\1", glob)
    found = _MAGIC.search(plain)
    if found is None:
        return plain.rstrip("/") or "/"
    return plain[: found.start()].rpartition("/")[0] or "/"


@lru_cache(maxsize=2048)
def _compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    """One regular expression for all globs and everything below them."""
    from wcmatch import glob  # noqa: PLC0415  lazy: 12 ms

    flags = glob.GLOBSTAR | glob.DOTGLOB | glob.IGNORECASE | glob.FORCEUNIX
    wanted: list[str] = []
    for pattern in globs:
        wanted.extend((pattern, pattern.rstrip("/") + "/**"))
    included, _ = glob.translate(wanted, flags=flags, limit=0)
    return re.compile("|".join(f"(?:{regex})" for regex in included))


def _may_match(words: tuple[str, ...], path: str) -> bool:
    """False where no word stands in it: an expression is not even made for that."""
    if not words or not path.isascii():  # beyond it, case is folded in more ways than one
        return True
    folded = path.lower()
    return any(word in folded for word in words)


def _words(globs: tuple[str, ...]) -> tuple[str, ...]:
    """The words of all of them; none where one has none."""
    words = [_word(one) for one in globs]
    return tuple(dict.fromkeys(words)) if all(words) else ()


def _word(glob: str) -> str:
    """Text that stands in every ASCII path the glob matches, in lower case; "" if unknown.

    The last one is taken: what stands before it is often the project's own path.
    """
    if not glob.isascii() or _UNSURE.search(glob):
        return ""
    for part in reversed(glob.split("/")):
        words = [word for word in _WILD.split(part) if word.strip(".")]
        if words:
            return max(words, key=len).lower()
    return ""


def globs_meet(one: list[str], two: list[str]) -> bool:
    """Whether some path fits both lists of components; a shorter `one` covers what is below."""
    states = {(0, 0)}
    seen: set[tuple[int, int]] = set()
    while states:
        state = states.pop()
        if state in seen:
            continue
        seen.add(state)
        i, j = state
        if i == len(one):
            return True  # a rule's directory covers its content
        if one[i] == "**":
            states.add((i + 1, j))
            if j < len(two):
                states.add((i, j + 1))
            continue
        if j == len(two):
            continue
        if two[j] == "**":
            states.update({(i, j + 1), (i + 1, j)})
        elif components_meet(one[i], two[j]):
            states.add((i + 1, j + 1))
    return False
