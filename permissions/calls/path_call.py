"""Calls about files: reads and edits, judged by both readings of every path."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from gatewright.permissions.calls.declared import glob_roots
from gatewright.permissions.calls.subject import (
    Permit,
    PlanKind,
    Verdict,
    covers,
    param_matches,
)
from gatewright.permissions.context import Call, Context
from gatewright.permissions.decision import Grant, Stage
from gatewright.permissions.modes import Mode
from gatewright.permissions.paths import Located, Paths, Tier, unusable
from gatewright.permissions.rulebook.names_path import names_path
from gatewright.permissions.rulebook.rules import Bare, ParamForm, PathForm, Rule
from gatewright.tools.access import Family


class PathCall:
    """The files that a call reads, or those that it writes."""

    def __init__(
        self, family: Literal["read", "edit"], call: Call, context: Context, paths: Paths
    ) -> None:
        self.family: Family = family
        self._call = call
        self._context = context
        self._paths = paths
        self._edit = family == "edit"
        given = call.access.writes if self._edit else call.access.reads
        if call.row.globs:
            given = (*given, *glob_roots(call.input, context.place.cwd, context.place))
        self._texts = tuple(str(path) for path in given)
        self._located = tuple(paths.locate(text) for text in self._texts)

    @property
    def target(self) -> str:
        return ", ".join(self._texts)

    def impossible(self) -> tuple[Stage, str] | None:
        if any(unusable(text) for text in self._texts):
            return Stage.PATH, "The path contains a NUL or a newline; no real path does."
        return None

    def denied(self) -> Rule | None:
        """An edit is stopped by a read denial too: it would show what it changes."""
        for rule in self._context.rules.closed_reads:
            if any(self._covers(rule, located) for located in self._located):
                return rule
        for rule in self._context.rules.deny:
            if self._fires(rule, self._located):
                return rule
            if self._edit and self._read_fires(rule):
                return rule
        return None

    def _read_fires(self, rule: Rule) -> bool:
        about_reading = rule.tool == "Read" and isinstance(rule.form, PathForm | Bare)
        return about_reading and any(self._covers(rule, located) for located in self._located)

    def remembered(self) -> bool:
        """Whether it is about nothing but what the agent remembers."""
        return bool(self._located) and all(map(self._paths.in_memory, self._located))

    def asked(self) -> Rule | None:
        rank = self._context.patterns.rank
        fired = (rule for rule in self._context.rules.ask if self._fires(rule, self._located))
        return max(fired, key=rank, default=None)

    def _fires(self, rule: Rule, located: Iterable[Located]) -> bool:
        return covers(rule, self._call, self.family) and (
            any(self._covers(rule, path) for path in located)
        )

    def _covers(self, rule: Rule, located: Located) -> bool:
        """Whether a restricting rule is about this path in either reading."""
        match rule.form:
            case Bare():
                return True
            case PathForm() as form:
                pattern = self._context.patterns.of(rule, form)
                return any(pattern.restricts(reading) for reading in located.readings)
            case ParamForm() as form:
                return param_matches(form, self._call)
            case _:
                return False

    def _grants_path(self, rule: Rule, located: Located) -> bool:
        """Whether an allow rule is about this path in both readings, and names it if it must."""
        if not covers(rule, self._call, self.family):
            return False
        form = rule.form
        if isinstance(form, PathForm):
            pattern = self._context.patterns.of(rule, form)
            if not all(pattern.matches(reading) for reading in located.readings):
                return False
            return not self._must_be_named(located) or names_path(
                pattern.literal_names, located, self._paths
            )
        return isinstance(form, Bare) and not self._must_be_named(located)

    def _must_be_named(self, located: Located) -> bool:
        return self._edit and (bool(self._tier(located)) or not self._paths.is_inside(located))

    def floor(self) -> str:
        if self._edit and any(self._tier(path) == "A" for path in self._located):
            return "It would change the agent's own configuration."
        if self._edit and any(map(self._paths.in_main, self._located)):
            return (
                f"It would change your own checkout; this agent works in {self._paths.place.root}."
            )
        return ""

    def _tier(self, located: Located) -> Tier:
        """The session's plan file lies in a protected directory and is not protected."""
        tier = self._paths.tier(located)
        return "" if tier and is_plan_file(located, self._context) else tier

    def trusted(self, *, hook: bool) -> Permit | None:
        return self._permit(self._context.rules.trusted, hook=hook)

    def untrusted(self) -> Permit | None:
        if self.skippable():
            return self._permit(self._context.rules.untrusted, hook=False, beats_asks=False)
        return None

    def _permit(
        self, rules: tuple[Rule, ...], *, hook: bool, beats_asks: bool = True
    ) -> Permit | None:
        rank = self._context.patterns.rank
        asks = self._context.rules.ask
        permit: Permit | None = None
        for located in self._located:
            best = max(
                (rule for rule in rules if self._grants_path(rule, located)),
                key=rank,
                default=None,
            )
            by_hook = best is None and hook and not self._must_be_named(located)
            if best is None and not by_hook:
                return None
            strength = rank(best) if best is not None else (1, 0, 0)
            if beats_asks and any(
                rank(ask) > strength or (ask.source == "builtin" and strength < (2, 0, 0))
                for ask in asks
                if self._fires(ask, (located,))
            ):
                return None
            permit = permit or Permit(best)
        return permit

    def skippable(self) -> bool:
        return all(
            self._open_to(path) and not (self._edit and self._tier(path)) for path in self._located
        )

    def _open_to(self, located: Located) -> bool:
        paths = self._paths
        return paths.is_inside(located) if self._edit else paths.reads_inside(located)

    def danger(self) -> str:
        return ""

    def always_asks(self) -> str:
        return ""

    def plan_kind(self) -> PlanKind:
        return "edit" if self._edit else "read"

    def strategy(self, mode: Mode) -> Verdict:
        outside = [path for path in self._located if not self._open_to(path)]
        if not self._edit:
            if outside and mode.read_out != "allow":
                return Verdict(False, _outside(outside[0]))
            return Verdict(True)
        if outside:
            return Verdict(False, _outside(outside[0]))
        if any(self._tier(path) for path in self._located):
            return Verdict(False, "The file is protected: it can run code or change settings.")
        if mode.edit_in == "root":
            contained = all(self._paths.in_root(path) for path in self._located)
            return Verdict(contained, "" if contained else "The file is not in the project root.")
        return Verdict(mode.edit_in == "allow", "Edits ask in this mode.")

    def grants(self) -> tuple[Grant, ...]:
        if self._edit and self._located and self.skippable():
            return (Grant(mode="acceptEdits"),)
        return ()

    def lacking(self) -> tuple[str, ...]:
        return ()


def _outside(located: Located) -> str:
    """A link is said with where it leads: that is the file in question."""
    if located.real in ("", located.lexical):
        return f"{located.lexical} is outside the project."
    return f"{located.lexical} leads to {located.real}, outside the project."


def is_plan_file(located: Located, context: Context) -> bool:
    """Exactly the session's plan file, with no link anywhere on the way below the root."""
    if not context.plan_file:
        return False
    if located.lexical != context.plan_file:
        return False
    place = context.place
    expected = {
        context.plan_file.replace(base, context.resolver.real(base), 1)
        for base in (place.root, place.home)
        if context.plan_file.startswith(base + "/")
    }
    return located.real == context.plan_file or located.real in expected
