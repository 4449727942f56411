"""Which restricting rules are about a line: by its text, by files it names, by unnamed ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from msgspec.structs import replace

from gatewright.permissions.context import Context
from gatewright.permissions.rulebook.rules import Bare, PathForm, Rule
from gatewright.permissions.shell.files.excludes import left_out, pinned
from gatewright.permissions.shell.files.following import follows_links, led_to
from gatewright.permissions.shell.files.git_files import TREE, numbered
from gatewright.permissions.shell.files.loose_table import TEXT
from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.operand_table import OPERANDS
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Line, Part
from gatewright.permissions.shell.rules.matching import fires
from gatewright.permissions.shell.rules.restricting import (
    fired_by_paths,
    fired_by_shown,
    fired_by_sweeps,
    nearer,
)
from gatewright.permissions.shell.rules.rule_index import RuleIndex, index_of

Operands = Sequence[tuple[Operand, bool]]
Groups = tuple[tuple[Rule, ...], tuple[Rule, ...]]


class Firing:
    """The deny and ask rules of one context, asked about the commands of one line."""

    def __init__(self, context: Context, reach: Reach, line: Line, tool: str) -> None:
        self._rules = context.rules
        self._patterns = context.patterns
        self._reach = reach
        self._line = line
        self._tool = tool

    def index(self, rules: tuple[Rule, ...]) -> RuleIndex:
        return index_of(rules, self._tool)

    def speaks_of_commands(self, *groups: tuple[Rule, ...]) -> bool:
        return any(map(self.index, groups))

    def denying(
        self, texts: Sequence[str], parts: Sequence[Part], operands: Operands, *, hidden: bool
    ) -> Rule | None:
        """`hidden`: what is our own is not there for what runs."""
        rules = self._rules
        loose = [(one, written) for one, written in self._loose(parts) if one.arg.literal]
        if not hidden and any(map(follows_links, parts)):
            operands = (*operands, *led_to(operands, self._reach.paths))
        closed = self._about(
            (rules.closed_reads, rules.closed_edits), nearer(operands, hidden=hidden)
        )
        closed_loose = self._about((rules.closed_reads, rules.closed_edits), loose)
        by_shell = self._by_text(rules.deny, texts, parts)
        by_path = self._about((rules.deny_reads, rules.deny_edits), operands)
        by_word = self._about((rules.deny_reads, rules.deny_edits), loose)
        swept = (r for r in self._swept(rules.deny_edits, parts) if isinstance(r.form, Bare))
        return next(chain(closed, closed_loose, by_shell, by_path, by_word, swept), None)

    def asking(
        self, texts: Sequence[str], parts: Sequence[Part], operands: Operands
    ) -> Iterator[Rule]:
        yield from self.asking_by_text(texts, parts)
        yield from self.asking_by_files(parts, operands)

    def asking_by_text(self, texts: Sequence[str], parts: Sequence[Part]) -> Iterator[Rule]:
        return self._by_text(self._rules.ask, texts, parts)

    def asking_by_files(self, parts: Sequence[Part], operands: Operands) -> Iterator[Rule]:
        """Also what forbids files that no word names for certain."""
        rules = self._rules
        if not (rules.deny_reads or rules.deny_edits or rules.ask_reads or rules.ask_edits):
            return
        yield from self._about((rules.ask_reads, rules.ask_edits), operands)
        yield from self._unnamed(operands)
        yield from self._swept(rules.deny_edits, parts)
        yield from self._swept(rules.ask_edits, parts)
        for part in parts:
            yield from self._shown(part)
        loose = self._loose(parts)
        if not loose:
            return
        yield from self._unnamed([(one, w) for one, w in loose if one.arg.leads])
        yield from self._about((rules.deny_reads, rules.deny_edits), loose)
        for rule in self._about((rules.ask_reads, rules.ask_edits), loose):
            if rule.source != "builtin":  # those are about files that are named for certain
                yield rule

    def _unnamed(self, operands: Operands) -> Iterator[Rule]:
        """What the person's rules may be about where only the running shell knows the file."""
        rules, unnamed = self._rules, [(u, w) for one, w in operands if (u := _anywhere(one))]
        if unnamed:
            yield from self._about((rules.deny_reads, rules.deny_edits), unnamed)
            asking = self._about((rules.ask_reads, rules.ask_edits), unnamed)
            yield from (rule for rule in asking if rule.source != "builtin")

    def _by_text(
        self, rules: tuple[Rule, ...], texts: Sequence[str], parts: Sequence[Part]
    ) -> Iterator[Rule]:
        """The shell rules about any of these commands."""
        index = self.index(rules)
        if not index:
            return
        programs = [part.argv[0] for part in parts if part.argv]
        for rule in index.candidates(texts, programs):
            if fires(rule, texts, programs):
                yield rule

    def _about(self, groups: Groups, operands: Operands) -> Iterator[Rule]:
        return fired_by_paths(groups, operands, self._patterns, self._reach.paths)

    def _loose(self, parts: Sequence[Part]) -> list[tuple[Operand, bool]]:
        rules = self._rules
        if not (rules.deny or rules.closed_reads or rules.closed_edits or _own(rules.ask)):
            return []
        found: list[tuple[Operand, bool]] = []
        for part in parts:
            loose = self._reach.loose(part)
            found.extend((one, False) for one in loose.reads)
            found.extend((one, True) for one in loose.writes)
        return found

    def _swept(self, rules: tuple[Rule, ...], parts: Sequence[Part]) -> Iterator[Rule]:
        if not rules:
            return iter(())
        if any(self._reach.touched(part).opaque for part in parts):
            return iter([rule for rule in rules if rule.source != "builtin"])
        sweeps = [
            one
            for part in parts
            for one in (*self._reach.touched(part).sweeps, *self._reach.loose(part).sweeps)
        ]
        return fired_by_sweeps(rules, sweeps, self._patterns, self._reach.paths)

    def _shown(self, part: Part) -> Iterator[Rule]:
        """Read rules about files that are printed, copied or packed and no word names.

        A rule for any depth would be about every tree there is. Its files are left out of what is
        printed; where they cannot be, what the person set asks.
        """
        shown = self._reach.touched(part).shown
        walked: tuple[Operand, ...] = ()
        if part.program not in ("find", "gfind"):  # what those hand on is told by its name
            walked = tuple(one for one in self._reach.touched(part).reads if one.walks)
        if shown and part.program == "git" and self._names_a_file(part):
            shown = ()
        if part.program == "git" and not shown and numbered(part) and not pinned(part, self._line):
            shown = (Operand(TREE, part.bases),)
        if not shown and not walked:
            return
        paths = self._reach.paths
        for group in (self._rules.deny_reads, self._rules.ask_reads):
            yield from fired_by_shown(group, shown, self._patterns, paths)
            floating = {
                id(rule): rule
                for rule, pattern in self._patterns.group(group).entries
                if pattern.anywhere and rule.source != "builtin"
            }
            if not floating:
                continue
            for rule in fired_by_sweeps(group, (*shown, *walked), self._patterns, paths):
                if id(rule) in floating and not left_out(rule, part, self._line):
                    yield rule

    def _names_a_file(self, part: Part) -> bool:
        """`git diff FILE` without `--`: git refuses a word that may be a revision as well.

        That holds as long as nothing else of the line can take the file away first.
        """
        if len(self._line.parts) > 1 and any(
            one.argv != part.argv and not _only_reads(one, self._reach) for one in self._line.parts
        ):
            return False
        paths = self._reach.paths
        return any(
            one.arg.literal
            and one.arg.text in part.texts  # the path of `HEAD:path` is no word of its own
            and not set(one.arg.text) & set("*?[\\:")
            and not one.redirect
            and None not in one.bases
            and all(
                paths.resolver.expand(paths.locate(one.arg.text, base).lexical)
                for base in one.bases
            )
            for one in self._reach.touched(part).reads
        )


def _anywhere(operand: Operand) -> Operand | None:
    """A word that a command makes up, and one that starts nobody knows where, as what it may be."""
    arg = operand.arg
    if arg.substitution:
        glob = "/**"
    elif None in operand.bases and not arg.text.startswith(("/", "~")):
        if arg.text == "." and not operand.walks:
            return None  # names alone are listed
        glob = f"/**/{arg.text}"
    else:
        return None
    return replace(operand, arg=replace(arg, patterns=(glob,)), bases=("/",))


def _only_reads(part: Part, reach: Reach) -> bool:
    touched = reach.touched(part)
    row = OPERANDS.get(part.program)
    known = part.program in TEXT or (row is not None and row.role in ("read", "skip1-read"))
    return known and not (touched.writes or touched.maybe or touched.sweeps)


def _own(rules: tuple[Rule, ...]) -> bool:
    return any(rule.source != "builtin" and isinstance(rule.form, PathForm) for rule in rules)
