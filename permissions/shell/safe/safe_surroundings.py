"""What safe commands may touch in one decision: readable paths, trusted repositories."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.permissions.context import Context
from gatewright.permissions.paths import absolute, lexical
from gatewright.permissions.rulebook.rules import Bare
from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Bases, Part
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.rules.restricting import group_hits


class Surroundings:
    """What a safe command may touch in a context."""

    def __init__(self, context: Context, reach: Reach) -> None:
        self._context = context
        self._reach = reach
        self._paths = reach.paths

    def readable(self, arg: Arg, bases: Bases) -> bool:
        """Inside in every reading, whatever it expands to, and under no Read rule."""
        if arg.dynamic or arg.unknown or None in bases:
            return False
        if any(char in pattern for pattern in arg.patterns for char in "*?["):
            return self._globs_readable(arg, bases)
        located = self._reach.locations(arg, bases)
        if not all(self._paths.reads_inside(one) for one in located):
            return False
        return not self._restricted(Operand(arg, bases))

    def _globs_readable(self, arg: Arg, bases: Bases) -> bool:
        return self.lists_inside(arg, bases) and not self._restricted(Operand(arg, bases))

    def directory(self, arg: Arg, bases: Bases) -> bool:
        """Whether an operand may be a directory now."""
        for base in bases:
            for text in arg.patterns or arg.readings:
                given = lexical(absolute(text, base or "/", self._paths.place.home))
                if self._paths.resolver.expand(f"{given}/.") != ():
                    return True
        return False

    def lists_inside(self, arg: Arg, bases: Bases) -> bool:
        """A glob that only looks into directories inside."""
        if None in bases:
            return False
        if not any(char in pattern for pattern in arg.patterns for char in "*?["):
            return True  # braces alone look at nothing
        for base in bases:
            for glob in arg.patterns:
                given = absolute(glob, base or "/", self._paths.place.home)
                if not self._glob_inside(given):
                    return False
        return True

    def _glob_inside(self, glob: str) -> bool:
        parts = glob.split("/")
        first = next((i for i, part in enumerate(parts) if any(c in part for c in "*?[")), None)
        if first is None:
            return self._paths.reads_inside(self._paths.locate(glob.replace("\\", "")))
        head = "/".join(parts[:first]).replace("\\", "") or "/"
        if ".." in parts[first:] or not self._paths.reads_inside(self._paths.locate(head)):
            return False
        matches = self._paths.resolver.expand(lexical(glob))
        return matches is not None and all(
            self._paths.reads_inside(self._paths.locate(match)) for match in matches
        )

    def _restricted(self, operand: Operand) -> bool:
        rules = self._context.rules
        for group in (rules.deny_reads, rules.ask_reads):
            if any(isinstance(rule.form, Bare) for rule in group):
                return True
            if any(group_hits(self._context.patterns.group(group), operand, self._paths)):
                return True
        return False

    def enterable(self, arg: Arg, bases: Bases) -> bool:
        """A directory inside that a cd may go to."""
        if not arg.literal or None in bases or arg.text in ("", "-"):
            return False
        return all(self._paths.is_inside(one) for one in self._reach.locations(arg, bases))

    def git_safe(self, bases: Bases) -> bool:
        """A trusted project or the sandbox, and no repository between here and the root."""
        context = self._context
        if not (context.trusted or context.sandbox) or None in bases:
            return False
        return all(self._own_repository(base) for base in bases if base is not None)

    def _own_repository(self, base: str) -> bool:
        located = self._paths.locate(base)
        root = self._context.place.root
        if not self._paths.in_root(located):
            return self._context.place.cwd == base and self._paths.is_inside(located)
        resolver = self._context.resolver
        return not resolver.nested_repository(located.real, resolver.real(root))

    def planted(self, program: str) -> bool:
        """A shell would take it from where others may put one."""
        return "/" not in program and self._context.resolver.planted(program)

    def planted_in(self, parts: Sequence[Part]) -> str:
        """Which command of a line is not the program of that name; empty where none is."""
        names = [part.argv[0].text for part in parts if part.argv]
        name = next(filter(self.planted, names), "")
        return f"PATH leads to a stranger's {name}, of the project or a plugin." if name else ""

    def environment_scrubbed(self) -> bool:
        return self._context.scrubbed_env

    def input_readable(self, part: Part) -> bool:
        """Input redirections from files inside that no Read rule is about."""
        return all(
            one.arg.literal and self.readable(one.arg, part.bases)
            for one in part.redirects
            if one.file and one.reads
        )
