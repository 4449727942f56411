"""Calls that run a shell line: granted command by command, restricted by anything in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from gatewright.permissions.calls.subject import Permit, PlanKind, Verdict, covers
from gatewright.permissions.context import Call, Context
from gatewright.permissions.decision import Grant, Named, Stage
from gatewright.permissions.modes import MODES, Mode, effective
from gatewright.permissions.paths import Paths
from gatewright.permissions.rulebook import servers
from gatewright.permissions.rulebook.rules import Bare, Rank, Rule, ShellForm
from gatewright.permissions.shell.danger.changes import changes_something
from gatewright.permissions.shell.danger.containment import contained
from gatewright.permissions.shell.danger.danger import Danger
from gatewright.permissions.shell.danger.firing import Firing
from gatewright.permissions.shell.danger.hazard import Hazard, told
from gatewright.permissions.shell.danger.losses import what_is_lost
from gatewright.permissions.shell.danger.waiver import lost, waived
from gatewright.permissions.shell.danger.work_trees import SOURCES, leaves_tree
from gatewright.permissions.shell.environment import shows_environment
from gatewright.permissions.shell.files.excludes import with_excludes
from gatewright.permissions.shell.files.loose_table import LOOKING
from gatewright.permissions.shell.files.named import named, person_stored
from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.protected import tier, would_change
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Line, Part, Start, read_line
from gatewright.permissions.shell.reasons import out_of, why_it_asks
from gatewright.permissions.shell.rules.coverage import Cover, Coverage
from gatewright.permissions.shell.rules.entrusted import entrusted
from gatewright.permissions.shell.rules.matching import fires, restricted_texts, texts_of
from gatewright.permissions.shell.rules.suggest import rules_of, suggestions
from gatewright.permissions.shell.rules.unruled import drafts, unruled
from gatewright.permissions.shell.safe.readonly import is_safe
from gatewright.permissions.shell.safe.safe_surroundings import Surroundings
from gatewright.permissions.shell.unknowable import unknowable
from gatewright.permissions.shell.wrappers import literal_feeds, opened
from gatewright.tools.access import Family

_DENYING = frozenset({"Bash", "Read", "Edit", "*"})


class ShellCall:
    """One line. Everything is worked out on first use, at most once."""

    def __init__(self, call: Call, context: Context, paths: Paths) -> None:
        self._call = call
        self._context = context
        self._paths = paths
        runs, home = call.access.runs, context.place.home
        self._text = runs.command if runs is not None else ""
        self._unsandboxed = runs is not None and runs.unsandboxed
        cwd = str(runs.cwd) if runs is not None else context.place.cwd
        self._start = Start((cwd,), home, {**context.env, "HOME": home})
        self._reach = Reach(paths, self._start, still=lambda: len(self.line.parts) == 1)
        self._world = Surroundings(context, self._reach)

    # --- what the line is ---

    @cached_property
    def line(self) -> Line:
        return read_line(self._text, self._start)

    @cached_property
    def _opened(self) -> tuple[Part, ...]:
        """The restricting view: every part, everything wrapped, text piped into a shell."""
        return (*self._wrapped, *self._fed)

    @cached_property
    def _wrapped(self) -> tuple[Part, ...]:
        return opened(self.line.parts, self._start)

    @cached_property
    def _fed(self) -> tuple[Part, ...]:
        """Text piped into a shell, which is a command of no one part of the line."""
        return opened(tuple(literal_feeds(self._wrapped, self._start)), self._start)

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """Every text a shell rule that restricts is compared with."""
        return tuple(dict.fromkeys(texts_of(self.line, self._opened)))

    @cached_property
    def _hazards(self) -> tuple[Hazard, ...]:
        danger = Danger(self._reach, is_safe=self._safe)
        return tuple(danger.hazards(self._opened, self._text))

    @cached_property
    def _operands(self) -> tuple[tuple[Operand, bool], ...]:
        """Every file operand with whether it is written."""
        return self._operands_of(self._opened)

    def _operands_of(self, parts: Sequence[Part]) -> tuple[tuple[Operand, bool], ...]:
        return tuple((one, use != "read") for one, use in self._reach.operands(parts))

    def named(self) -> tuple[Named, ...]:
        return named(self._opened, self._reach)

    def stored(self) -> tuple[Named, ...]:
        """The same of what a person has allowed before, word by word."""
        kept = person_stored(self.line, self._granting)
        return named(opened(kept, self._start), self._reach)

    def _safe(self, part: Part) -> bool:
        return is_safe(part, self._world)

    @cached_property
    def _all_safe(self) -> bool:
        """The whole line is on the safe list: nothing redirected, nothing in the background."""
        line = self.line
        return (
            line.understood
            and bool(line.parts)
            and not line.background
            and all(self._safely_covered(part) for part in line.parts)
        )

    def _safely_covered(self, part: Part) -> bool:
        coverage = self._coverage(())
        if any(one.file and one.writes for one in part.redirects):
            return False
        return coverage.of(part, hook=False) is not None

    def _coverage(self, rules: tuple[Rule, ...]) -> Coverage:
        return Coverage(
            self._firing.index(rules),
            self._reach,
            (lambda _: False) if self.line.background else self._safe,
            self._world.input_readable,
            self._context.harmless_env,
        )

    # --- the subject's answers ---
    @property
    def family(self) -> Family:
        return "shell"

    @property
    def target(self) -> str:
        return self._text

    def impossible(self) -> tuple[Stage, str] | None:
        for operand, _ in self._operands:
            text = operand.arg.text
            if ("\n" in text or "\0" in text) and not operand.arg.unknown:
                return Stage.PATH, "A path in the command contains a NUL or a newline."
        return None

    @cached_property
    def _firing(self) -> Firing:
        remote = self._call.access.remote
        tool = self._call.tool if remote is None else servers.name_of(remote)
        return Firing(self._context, self._reach, self.line, tool)

    def denied(self) -> Rule | None:
        hidden = self._context.sandbox and not self._unsandboxed
        return self._firing.denying(self._texts, self._opened, self._operands, hidden=hidden)

    def asked(self) -> Rule | None:
        return max(self._asking, key=self._context.patterns.rank, default=None)

    @cached_property
    def _asking(self) -> tuple[Rule, ...]:
        return tuple(self._firing.asking(self._texts, self._opened, self._operands))

    def floor(self) -> str:
        if self._unsandboxed and self._context.sandbox:
            return "It would run outside the sandbox."
        if any(hazard.level > 1 for hazard in self._hazards):
            return told(self._hazards)
        for operand, written in self._operands:
            if written and tier(operand, self._reach) == "A":
                return "It would change the agent's own configuration."
        if any(tier(one, self._reach) == "A" for one in self._loose(LOOKING)):
            return "It may change the agent's own configuration."
        words, main = self._loose(LOOKING | SOURCES), self._paths.place.main
        if main and (text := leaves_tree(self._opened, self._operands, words, self._reach)):
            return text
        if any(hazard.git_loss for hazard in self._hazards) and self._dirty():
            return "It would throw away changes that are not committed."
        return ""

    def _loose(self, apart: frozenset[str]) -> Iterator[Operand]:
        """Words of programs that nobody here knows, and what program texts name, as written."""
        for part in self._opened:
            if part.program not in apart:
                yield from (one for one in self._reach.loose(part).writes if one.arg.literal)

    def _dirty(self) -> bool:
        places = {base for part in self._opened if part.program == "git" for base in part.bases}
        return any(self._context.resolver.dirty(base or self._context.place.cwd) for base in places)

    def trusted(self, *, hook: bool) -> Permit | None:
        return self._permit(self._context.rules.trusted, hook=hook, beats_asks=True)

    def untrusted(self) -> Permit | None:
        """Only inside and unprotected; a project's own rules only in the sandbox, never git."""
        context = self._context
        if not self.line.parsable or self.unclear or not self._stays_inside():
            return None
        by_sandbox = context.sandbox and context.sandbox_allows and not self._unsandboxed
        if by_sandbox:
            return Permit(SANDBOX_RULE)
        if not context.rules.untrusted:
            return None
        rules = (*context.rules.untrusted, *context.rules.trusted)
        permit = self._permit(rules, hook=False, beats_asks=False)
        if permit is None or not entrusted(self.line, self._opened, self._coverage(rules)):
            return None
        uses_git = any(part.program == "git" for part in self._opened)
        # A repository that vouches for its own script would be running before anybody said yes.
        by_path = any("/" in part.argv[0].text for part in self._opened if part.argv)
        own = context.sandbox and not uses_git and not by_path
        return permit if context.trusted or own else None

    def _permit(self, rules: tuple[Rule, ...], *, hook: bool, beats_asks: bool) -> Permit | None:
        coverage = self._coverage(rules)
        whole = coverage.whole_line(self.line)
        if whole is not None:
            beaten = beats_asks and self._beaten_whole(whole.rank)
            return None if beaten else Permit(whole)
        if not self.line.understood or self.unclear:
            return None
        covers: list[Cover] = []
        for part in self.line.parts:
            cover = coverage.of(part, hook=hook)
            if cover is None or (beats_asks and self._beaten(part, cover)):
                return None
            covers.append(cover)
        used = [cover for cover in covers if cover.rank is not None]
        if not used or (beats_asks and self._beaten_by_line(used)):
            return None
        return Permit(next((cover.rule for cover in used if cover.rule is not None), None))

    def _beaten_whole(self, rank: Rank) -> bool:
        """An exact rule for the line yields to nothing but a more specific shell rule."""
        about = (rule for rule in self._asking if covers(rule, self._call, "shell"))
        return any(rule.rank > rank for rule in about)

    def _beaten(self, part: Part, cover: Cover) -> bool:
        """Whether an ask rule about this command (or what it wraps) outranks its cover."""
        if not self._asking:
            return False
        mine = opened((part,), self._start)
        texts = [text for one in mine for text in restricted_texts(one)]
        for rule in self._firing.asking_by_text(texts, mine):
            if cover.rank is None or rule.rank > cover.rank:
                return True
        return not cover.exact and any(self._firing.asking_by_files(mine, self._operands_of(mine)))

    def _beaten_by_line(self, used: Sequence[Cover]) -> bool:
        """Asks about the line as a whole are compared with every rule that was used."""
        whole = (self._text.strip(), " ".join(self._text.split()))
        texts = [text for one in self._fed for text in restricted_texts(one)]
        about = (
            *(r for r in self._asking if isinstance(r.form, ShellForm) and fires(r, whole, ())),
            *(self._firing.asking_by_text(texts, self._fed) if texts else ()),
        )
        return any(cover.rank is None or rule.rank > cover.rank for rule in about for cover in used)

    def skippable(self) -> bool:
        return self.line.understood and not self.unclear and self._stays_inside()

    def _stays_inside(self) -> bool:
        """Every file it is known to touch is inside and unprotected, and nothing is unknown."""
        for operand, written in self._operands:
            if operand.arg.unknown or None in operand.bases:
                return False
            holds = self._paths.is_inside if written else self._paths.reads_inside
            if not all(map(holds, self._reach.locations(operand.arg, operand.bases))):
                return False
            if written and tier(operand, self._reach):
                return False
        return all(
            base is not None and self._paths.is_inside(self._paths.locate(base))
            for part in self._opened
            for base in part.bases
        )

    def danger(self) -> str:
        found = [hazard for hazard in self._hazards if hazard.level]
        if found and self._waived(found):
            found = []
        if found:
            return f"{told(found)} {lost(self._mode, found, self._reach)}".rstrip()
        if changed := would_change(self._operands, self._reach):
            return changed
        if lost_for_good := what_is_lost(self._mode, self._opened, self._reach):
            return lost_for_good
        if not self._context.scrubbed_env and any(map(shows_environment, self._opened)):
            return "It would show secrets that your settings let commands have."
        return ""

    def _waived(self, hazards: Sequence[Hazard]) -> bool:
        return waived(self._mode, hazards, self.line, self._opened, self._reach)

    @property
    def _mode(self) -> str:
        return effective(self._context.mode, disable_bypass=self._context.disable_bypass)

    @cached_property
    def unclear(self) -> str:
        """What rules about commands cannot be compared with, where the person has such rules."""
        rules = self._context.rules
        if not self._firing.speaks_of_commands(rules.deny, rules.ask):
            return ""
        return unknowable(self.line, self._opened, self._start)[:120]

    def always_asks(self) -> str:
        if self.line.parsable:
            why = "Your rules cannot be compared with what only the shell knows: "
            return why + self.unclear if self.unclear else ""
        if any(rule.tool in _DENYING for rule in self._context.rules.deny):
            return f"The line cannot be checked against your deny rules: {self.line.why}."
        if not self.line.complete:
            return "The line is longer or has more commands than can be looked through."
        return ""

    def plan_kind(self) -> PlanKind:
        if self._all_safe:
            return "safe"
        if self._hazards or any(one.file for part in self._opened for one in part.redirects):
            return "mutating"
        return "mutating" if any(changes_something(part) for part in self._opened) else "unknown"

    def strategy(self, mode: Mode) -> Verdict:
        if self._all_safe:
            return Verdict(True)
        if mode.commands == "contained" and self._contained():
            note = "It deletes files inside the project." if self._hazards else ""
            return Verdict(True, note=note)
        return Verdict(False, self._why_it_asks(mode))

    def _contained(self) -> bool:
        if not self.line.understood or (self._hazards and not self._waived(self._hazards)):
            return False
        return contained(self._opened, self._reach)

    def _why_it_asks(self, mode: Mode) -> str:
        if not self.line.understood:
            return f"The line is not simple enough to be judged in parts: {self.line.why}."
        if any(self._reach.touched(part).opaque for part in self._opened):
            return "Which files the patch changes cannot be told."
        if planted := self._world.planted_in(self.line.parts):
            return planted
        outside = out_of(self._operands, self._reach)
        return outside or why_it_asks(self._lacking_parts(), self.line, mode.id, self._is_covered)

    def lacking(self) -> tuple[str, ...]:
        if not self.line.understood:
            return (self._text.strip(),)
        return tuple(part.source.strip() for part in self._lacking_parts())

    def _lacking_parts(self) -> list[Part]:
        return [part for part in self.line.parts if not self._is_covered(part)]

    def _is_covered(self, part: Part) -> bool:
        cover = self._granting.of(part, hook=False)
        return cover is not None and not self._beaten(part, cover)

    @cached_property
    def _granting(self) -> Coverage:
        return self._coverage(self._context.rules.trusted)

    def rewritten(self, *, exact: bool) -> str:
        """What runs when nobody looked: searches leave out what Read rules are about."""
        if exact:
            return self._text
        rules = self._context.rules
        return with_excludes(self.line, (*rules.deny_reads, *rules.ask_reads))

    def grants(self) -> tuple[Grant, ...]:
        """Rules that would really settle this line next time, or nothing."""
        if not self.line.understood or not self._storable():
            return ()
        found = suggestions(self._lacking_parts(), self._reach)
        return found if self._settled_by(found) else ()

    def _storable(self) -> bool:
        return not (self._hazards or MODES[self._mode].id == "plan" or self.danger())

    def _settled_by(self, grants: tuple[Grant, ...]) -> bool:
        rules = (*self._context.rules.trusted, *rules_of(grants))
        return bool(grants) and self._permit(rules, hook=False, beats_asks=True) is not None

    def unruled(self) -> tuple[tuple[Grant, ...], str]:
        """Where nothing is offered: what a person may still make of it, and what no rule holds."""
        parts = self._lacking_parts()
        found = drafts(self.line, self._opened, parts, self._reach) if self._storable() else ()
        found = found if self._settled_by(found) else ()
        return found, unruled(self.line, parts, self._reach, found)


SANDBOX_RULE = Rule("Bash", "allow", "sandbox", "Bash", Bare())
