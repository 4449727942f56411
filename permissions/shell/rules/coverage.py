"""Whether rules and the safe list together cover a line, and which rule grants which command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

import msgspec
from msgspec.structs import replace

from gatewright.permissions.paths import Located, absolute, lexical
from gatewright.permissions.rulebook.names_path import names_path
from gatewright.permissions.rulebook.rules import BARE, Rank, Rule, ShellForm
from gatewright.permissions.shell.files.operands import find_actions
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Line, Part
from gatewright.permissions.shell.parse.options import Grammar, parse_arguments
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.rules.matching import (
    canonical,
    canonical_rule,
    glob_matches,
    granted_text,
    same_line,
)
from gatewright.permissions.shell.rules.rule_index import RuleIndex
from gatewright.permissions.shell.wrapper_table import WRAPPERS
from gatewright.permissions.shell.wrappers import SHELLS
from gatewright.tools.system.patterns import later

# Wrappers that grants look through, with their options; the number is of own operands.
PEELED: dict[str, tuple[Grammar, int]] = {
    "time": (Grammar("", (), first=True), 0),
    "timeout": (Grammar("ks", ("kill-after", "signal"), first=True), 1),
    "nice": (Grammar("n", ("adjustment",), first=True), 0),
    "nohup": (Grammar("", (), first=True), 0),
    "stdbuf": (Grammar("ioe", ("input", "output", "error"), first=True), 0),
}
HARMLESS_NAMES: tuple[str, ...] = (
    "CI", "DEBUG", "NODE_ENV", "LANG", "LC_*", "TZ", "TERM", "NO_COLOR", "FORCE_COLOR", "COLUMNS",
    "LINES", "RUST_LOG", "RUST_BACKTRACE",
)  # fmt: skip


class Cover(msgspec.Struct, frozen=True):
    """What covers one command: a rule, a hook (no rule, `hook`), or the safe list (neither)."""

    rule: Rule | None = None
    hook: bool = False
    exact: bool = False

    @property
    def rank(self) -> Rank | None:
        if self.rule is not None:
            return self.rule.rank
        return BARE if self.hook else None


class Coverage:
    """Looks for covers among one set of allow rules."""

    def __init__(
        self,
        rules: RuleIndex,
        reach: Reach,
        is_safe: Callable[[Part], bool],
        readable: Callable[[Part], bool],
        harmless: Sequence[str],
    ) -> None:
        self._rules = rules
        self._reach = reach
        self._is_safe = is_safe
        self._input_ok = readable
        self._harmless = (*HARMLESS_NAMES, *harmless)

    def whole_line(self, line: Line) -> Rule | None:
        """An exact rule for the complete text."""
        words = line.text.split(None, 1)[:1]
        for rule in self._rules.about(words):
            form = rule.form
            if not isinstance(form, ShellForm) or form.kind != "exact":
                continue
            if same_line(form.text, line.text, parsable=line.parsable):
                return rule
        return None

    def of(self, part: Part, *, hook: bool) -> Cover | None:
        """What covers one simple command and everything it wraps, or None."""
        if not part.argv:
            if part.redirects and any(one.file for one in part.redirects):
                return self._exactly(part)
            return Cover() if self._harmless_assigns(part) else None
        exact = self._exactly(part)
        if exact is not None:
            return exact
        if not part.argv[0].literal or not self._redirects_allowed(part):
            return None
        best = self._by_rule(part, hook=hook)
        safe = any(self._is_safe(one) for one in self.peeled(part))
        if best is not None:
            return best
        return Cover() if safe else None

    def _exactly(self, part: Part) -> Cover | None:
        base = part.bases[0] if len(part.bases) == 1 else None
        candidates = [part, *self.peeled(part)]
        words = {one.argv[0].text for one in candidates if one.argv}
        exact = [rule for rule in self._rules.about(words) if _is_exact(rule)]
        forms = [canonical(one) for one in candidates] if exact else []
        for rule in exact:
            form = rule.form
            if isinstance(form, ShellForm):
                wanted = canonical_rule(form.text, self._reach.paths.place.home, base)
                if wanted is not None and wanted in forms:
                    return Cover(rule, exact=True)
        return None

    def _redirects_allowed(self, part: Part) -> bool:
        files = [one for one in part.redirects if one.file]
        return not files or (all(not one.writes for one in files) and self._input_ok(part))

    def _by_rule(self, part: Part, *, hook: bool) -> Cover | None:
        best: Rule | None = None
        bare = max(self._rules.bare, key=lambda rule: rule.rank, default=None)
        for one in self.peeled(part):
            text = granted_text(one.argv)
            for rule in self._rules.about((one.argv[0].text,)):
                better = best is None or rule.rank > best.rank
                if (
                    better
                    and _matches(rule, text)
                    and self._names(rule, part)
                    and self._inner_covered(one)
                ):
                    best = rule
        if best is not None:
            return Cover(best)
        if (bare is not None or hook) and self._names(None, part):
            return Cover(bare, hook=bare is None)
        return None

    def _names(self, rule: Rule | None, part: Part) -> bool:
        """Every outside or protected write target is named by the rule."""
        paths = self._reach.paths
        for one in (part, *self._reach.opened_of(part)):
            touched = self._reach.touched(one)
            if touched.opaque:
                return False
            for operand in touched.writes:
                if operand.arg.unknown or None in operand.bases:
                    return False
                for located in self._reach.locations(operand.arg, operand.bases):
                    tier = (
                        paths.glob_tier(located.lexical)
                        if operand.arg.patterns
                        else (paths.tier(located))
                    )
                    below = paths.tier_below(located) if operand.whole else ""
                    if not tier and not below and paths.is_inside(located):
                        continue
                    if rule is None or not self._named_by(rule, located, one):
                        return False
        return True

    def _named_by(self, rule: Rule, located: Located, part: Part) -> bool:
        if not isinstance(rule.form, ShellForm):
            return False
        base = part.bases[0] if part.bases and part.bases[0] else "/"
        home = self._reach.paths.place.home
        literals: list[str] = []
        for word in rule.form.head.split()[1:]:
            for text in (word, word.partition("=")[2]):
                cleaned = text.strip("'\"").rstrip("/")
                if cleaned and not cleaned.startswith("-"):
                    literals.append(lexical(absolute(cleaned, base, home)))
        return names_path(tuple(literals), located, self._reach.paths)

    def _inner_covered(self, part: Part) -> bool:
        """A rule for a wrapper covers what it wraps only if that is covered as well."""
        program = part.program
        if program in ("find", "gfind"):
            actions = find_actions(part.argv[1:])
            writes = any(text.startswith(("-fprint", "-fls")) for text in part.texts)
            if "-delete" in actions or writes:
                return False
        if program == "git" and any(
            text.startswith(("--exec-path=", "--config-env")) for text in part.texts
        ):
            return False  # they name the programs git runs
        inner = self._reach.opened_of(part)
        if program == "xargs":
            inner = tuple(replace(one, argv=(*one.argv, _FED)) for one in inner)
        if program in WRAPPERS or program in SHELLS or inner:
            return all(self._inner(one) for one in inner)
        return True

    def _inner(self, part: Part) -> bool:
        if not part.argv:
            return self._harmless_assigns(part)
        if not part.argv[0].literal or not self._redirects_allowed(part):
            return False
        return (
            self._is_safe(part)
            or self._by_rule(part, hook=False) is not None
            or (self._exactly(part) is not None)
        )

    # --- peeling ---

    def peeled(self, part: Part) -> Iterator[Part]:
        """The command without harmless assignments, then without transparent wrappers."""
        current = part
        if part.assigns:
            if not self._harmless_assigns(part):
                return
            current = replace(part, assigns=())
        yield current
        for _ in range(6):
            inner = peel(current.argv)
            if inner is None:
                return
            current = replace(current, argv=inner)
            yield current

    def _harmless_assigns(self, part: Part) -> bool:
        return bool(part.assigns) and all(
            any(fnmatchcase(name, pattern) for pattern in self._harmless)
            and not (arg.dynamic or arg.patterns or _ODD_VALUE.search(arg.text))
            for name, arg in part.assigns
        )


_ODD_VALUE = later(r"^[/:~]|\.\.|\n")  # locale and time zone values may be file names
_FED = Arg("$input", "$input", dynamic=True, unknown=True, leads=True)


def _is_exact(rule: Rule) -> bool:
    return isinstance(rule.form, ShellForm) and rule.form.kind == "exact"


def _matches(rule: Rule, text: str) -> bool:
    form = rule.form
    if not isinstance(form, ShellForm):
        return False
    if form.kind == "prefix":
        return text == form.text or text.startswith(form.text + " ")
    return form.kind == "glob" and glob_matches(form.text, text)


def peel(argv: tuple[Arg, ...]) -> tuple[Arg, ...] | None:
    """What a transparent wrapper runs, or None."""
    if not argv or not argv[0].literal:
        return None
    found = PEELED.get(argv[0].text)
    if found is None:
        return None
    grammar, operands = found
    for item in parse_arguments(argv[1:], grammar):
        if item.arg.dynamic:
            return None
        if item.kind == "operand":
            if operands:
                operands -= 1
                continue
            return argv[1 + item.index :]
        if argv[0].text == "time" and item.name != "-p":
            return None
    return None
