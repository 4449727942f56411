"""The permission state of one session: its mode, its rules and its session grants.

Everything a decision needs is handed out as one immutable context; nothing else is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gatewright.permissions import modes
from gatewright.permissions.context import Context, HookWord, PlanEnforcement, Skips
from gatewright.permissions.machine.grounds import Grounds
from gatewright.permissions.machine.standing import place_of, text_of
from gatewright.permissions.machine.world import DiskResolver
from gatewright.permissions.paths import Place, Resolver
from gatewright.permissions.recent import Put, Recent
from gatewright.permissions.rulebook import tools_table
from gatewright.permissions.rulebook.known_tools import remarks, unknown
from gatewright.permissions.rulebook.own_denials import with_closed
from gatewright.permissions.rulebook.rules import (
    Bare,
    Behavior,
    RuleSet,
    RuleTexts,
    builtin_rules,
    parse_rule,
    rule_set,
    tool_of,
)
from gatewright.permissions.views import Scoped, View, Views
from gatewright.tools.access import MAIN, Row, Where
from gatewright.tools.blocks import Block, Table
from gatewright.tools.interact import Weighed
from gatewright.tools.system.home import OwnHome

if TYPE_CHECKING:  # only who looks at the rules needs them
    from gatewright.permissions.doubts import Doubt
    from gatewright.permissions.recent import Past
    from gatewright.permissions.rulebook.listed import ListedRule
    from gatewright.permissions.rulebook.proposed import Proposed


NO_JUDGE = "Auto mode is not available here: there is nobody to judge. Choose another mode."


class PolicyConfig(msgspec.Struct, frozen=True):
    """What the composition root knows at start; plain data with defaults."""

    root: Path
    cwd: Path
    home: Path
    directories: tuple[Path, ...] = ()
    spelled: tuple[Path, ...] = ()  # the root as the session was started with
    rules: Mapping[str, RuleTexts] = msgspec.field(default_factory=dict[str, RuleTexts])
    mode: str = "default"
    interactive: bool = True
    trusted: bool = False
    skip_edits: bool = False
    skip_bash: bool = False
    skip_skills: bool = False
    skip_mcp: bool = False
    plan_enforcement: PlanEnforcement = "strict"
    plan_file: Path | None = None
    disable_bypass: bool = False
    auto_available: bool = False
    auto_lack: str = NO_JUDGE  # why it is not
    classify_all_shell: bool = False
    bypass_offered: bool = False  # started with its flag or setting: one key leads to it
    agents: bool = False  # there is something to delegate to
    plan_classifier: bool = False
    sandbox: bool = False
    sandbox_allows: bool = False
    harmless_env: tuple[str, ...] = ()
    search: str = ""  # where a shell finds programs: PATH
    removed_builtin: tuple[str, ...] = ()
    scrubbed_env: bool = True
    own: OwnHome | None = None  # what we keep for ourselves, and what of it is this session's


def _kind(behavior: str) -> Behavior:
    kinds: dict[str, Behavior] = {"allow": "allow", "ask": "ask", "deny": "deny"}
    if behavior not in kinds:
        raise ValueError("Say allow, ask or deny before the rule.")
    return kinds[behavior]


class Policy:
    """The mutable holder. Structurally the session's `Modes` and its `RuleBook`."""

    def __init__(self, config: PolicyConfig) -> None:
        self._config = config
        self._mode = modes.effective(
            modes.resolve(config.mode), disable_bypass=config.disable_bypass
        )
        self._previous = "default"
        self.switches = 0  # of the mode, so far
        self._agreed = False  # to what the mode without questions means
        self._plan_file = config.plan_file
        self._session = RuleTexts()
        self._granted: frozenset[str] = frozenset()
        self.consented: frozenset[str] = frozenset()  # tools whose launches are not asked about
        self.views = Views(
            self.current, self.rules, lambda scope: self._read({**self._texts(), "command": scope})
        )
        self._rules: RuleSet | None = None
        self._watchers: list[Callable[[str], None]] = []
        self.recent = Recent()
        self.put: Put | None = None
        self._stand(place_of(config))

    def current(self) -> str:
        return self._mode

    def look_last(self, folders: Sequence[str]) -> None:
        """Where commands find programs, too, that are nobody's but who wrote them."""
        self._stand(replace(self.place, last=tuple(folders)))

    def _stand(self, place: Place) -> None:
        """The resolver is for paths; a decision brings its own answers."""
        self.place, self.resolver = place, DiskResolver(place)
        self.grounds = Grounds(place, self.resolver)

    def set(self, name: str) -> str:
        """Switch and return the canonical name. Raises ValueError naming the valid ones."""
        wanted = modes.resolve(name)
        if modes.MODES[wanted].bypass and self._config.disable_bypass:
            raise ValueError("Bypass is disabled by your settings; choose another mode.")
        if wanted == "auto" and not self._config.auto_available:
            raise ValueError(self._config.auto_lack)
        if wanted == "delegate" and not self._config.agents:
            raise ValueError("There are no agents to delegate to here; choose another mode.")
        if wanted == "plan" and self._mode != "plan":
            self._previous = self._mode
        if wanted != self._mode:
            self._agreed = self._agreed or modes.MODES[wanted].bypass
            self._mode = wanted
            self.switches += 1
            self._rules = None
            for watcher in self._watchers:
                watcher(wanted)
        return wanted

    @property
    def before_plan(self) -> str:
        return self._previous if self._mode == "plan" else self._mode

    def leave_plan(self) -> str:  # to the mode that it was entered from
        return self.set(self._previous) if self._mode == "plan" else self._mode

    def after(self, mode: str) -> str:
        config = self._config
        order = modes.cycle(
            auto=config.auto_available,
            bypass=config.bypass_offered and not config.disable_bypass,
        )
        index = order.index(mode) + 1 if mode in order else 0
        return order[index % len(order)]

    def caution(self, name: str) -> str:
        """What a person agrees to who enters that mode; once, and not where it was started with."""
        mode = modes.MODES.get(modes.canonical(name) or "")
        config = self._config
        known = self._agreed or config.bypass_offered or config.disable_bypass
        return modes.CAUTION if mode is not None and mode.bypass and not known else ""

    def rows(self) -> Sequence[tuple[str, str]]:
        config = self._config
        return [
            (mode.id, mode.runs)
            for mode in modes.MODES.values()
            if mode.chosen
            and not (mode.bypass and config.disable_bypass)
            and (mode.id != "auto" or config.auto_available)
            and (mode.id != "delegate" or config.agents)
        ]

    def watch(self, watcher: Callable[[str], None]) -> None:
        """Call `watcher` with the new mode after every change."""
        self._watchers.append(watcher)

    def plan_file(self) -> Path | None:
        return self._plan_file

    def plan_at(self, file: Path | None) -> None:
        self._plan_file = file

    # --- rules ---

    @property
    def problems(self) -> tuple[str, ...]:
        return remarks(self._texts(), self.rules().problems)  # one sentence each

    def wholly_denied(self, tool: str) -> bool:  # whatever it is asked
        from gatewright.permissions.calls.subject import covers_tool  # noqa: PLC0415  lazy: with a call

        bare = (rule for rule in self.rules().deny if isinstance(rule.form, Bare))
        return any(covers_tool(rule, tool) for rule in bare)

    def rules(self) -> RuleSet:
        if self._rules is None:
            self._rules = self._read(self._texts())
        return self._rules

    def _read(self, texts: Mapping[str, RuleTexts]) -> RuleSet:
        rules = rule_set(
            texts,
            trusted=self._config.trusted,
            removed_builtin=self._config.removed_builtin,
            strip=modes.strip(self._mode, all_shell=self._config.classify_all_shell),
        )
        return with_closed(rules, self._config.own)

    def view(self, agent: str = MAIN) -> View:
        return self.views.of(agent)

    def forget(self, agent: str) -> None:
        self.views.forget(agent)

    def know(self, tool: str, row: Row) -> None:
        if tools_table.state(tool, row):
            self._rules = None

    def scope(self, scope: Scoped, agent: str = MAIN, *, joins: bool = False) -> Sequence[str]:
        """In place of the scope before, or besides it; returns what of its rules does not count."""
        known, view = self.problems, self.view(agent)
        (view.join if joins else view.enter)(scope)
        found = remarks({**self._texts(), "command": view.scope}, view.rules().problems)
        return [each for each in found if each not in known]

    def _texts(self) -> Mapping[str, RuleTexts]:
        given = dict(self._config.rules)
        own, mine = given.get("session", RuleTexts()), self._session
        given["session"] = RuleTexts(
            own.allow + mine.allow, own.ask + mine.ask, own.deny + mine.deny
        )
        return given

    def follow(self, config: PolicyConfig) -> None:
        """Settings changed: take up what they say now, keep the mode and what was granted."""
        self._config = config
        self._let_go(config)
        directories = tuple(map(text_of, config.directories))
        self._stand(replace(self.place, directories=directories, search=config.search))
        self._rules = None
        allowed = modes.effective(self._mode, disable_bypass=config.disable_bypass)
        if allowed == "auto" and not config.auto_available:
            allowed = "default"  # whoever judged is gone
        if allowed != self._mode:
            self.set(allowed)

    def _let_go(self, config: PolicyConfig) -> None:
        """A grant that the person's settings hold is theirs alone: taken away there, it is gone."""
        files = (config.rules.get(name, RuleTexts()) for name in ("user", "local"))
        kept = self._granted & {text for lists in files for text in lists.allow}
        if kept:
            self._granted -= kept
            allow = tuple(text for text in self._session.allow if text not in kept)
            self._session = replace(self._session, allow=allow)

    def table(self) -> Sequence[Block]:
        """The rules, what is wrong with them, the directories, and the last decisions."""
        from gatewright.permissions.rulebook.rule_table import rule_table  # noqa: PLC0415  lazy: 20 ms

        built_in = builtin_rules(self._config.removed_builtin)
        blocks = rule_table(self._texts(), self.rules(), built_in, self.problems)
        blocks.append(Table(("directory", "why"), tuple(self._directories())))
        decisions = self.recent.table()
        return blocks if decisions is None else [*blocks, decisions]

    def _directories(self) -> Iterator[tuple[str, str]]:
        yield self.place.root, "the project" if self._config.trusted else "the project, not trusted"
        yield from ((directory, "added") for directory in self.place.directories)

    def why(self, number: int) -> Sequence[Block]:
        """The trace of the n-th last decision. Raises ValueError where there is none."""
        return self.recent.why(number)

    def listed(self) -> list[ListedRule]:
        from gatewright.permissions.rulebook.listed import listed  # noqa: PLC0415  only to look at them

        trusted = self._config.trusted
        strip = modes.strip(self._mode, all_shell=self._config.classify_all_shell)
        return listed(self._texts(), self.rules(), self.place, trusted=trusted, strip=strip)

    def proposed(self, behavior: str, rule: str) -> Proposed:
        """What a rule would be about, tried on the last calls; never raises for its text."""
        from gatewright.permissions.rulebook import proposed as new  # noqa: PLC0415  only while typing

        standing = new.Standing(self.place, self.rules(), self.listed(), self.recent.judged())
        return new.proposed(_kind(behavior), rule, standing)

    def weigh(self, call_id: str, rules: Sequence[str]) -> Weighed:
        """What storing these would do for the call that a person is asked about."""
        from gatewright.permissions.rulebook import weighing  # noqa: PLC0415  only while one is typed

        return weighing.weigh(self, call_id, rules)

    def past(self) -> list[Past]:
        return self.recent.past()

    def explain(self, serial: int) -> Sequence[Block]:
        return self.recent.explain(serial)

    def doubt(self, directory: Path) -> Doubt:
        """What speaks against opening a directory, links followed."""
        from gatewright.permissions.doubts import doubt  # noqa: PLC0415  only when one is opened

        return doubt(text_of(directory), self.place)

    def add(self, behavior: str, rule: str) -> str:
        """Add a session rule; returns what to tell the person. Raises ValueError."""
        kind = _kind(behavior)
        parsed, problem = parse_rule(rule, kind, "session")
        if parsed is None or problem:
            raise ValueError(problem)
        old = self._session
        lists = {"allow": old.allow, "ask": old.ask, "deny": old.deny}
        if rule not in lists[kind]:
            lists[kind] = (*lists[kind], rule)
        self._session = RuleTexts(**lists)
        self._rules = None
        return f"Added for this session: {behavior} {rule}. {unknown(tool_of(rule))}".rstrip(". ")

    def grant(self, rule: str) -> None:
        """An "always" of the person: a rule of this session until a settings file has it."""
        self.add("allow", rule)
        self._granted |= {rule}

    def remove(self, rule: str, behavior: str = "") -> str:
        """Remove a session rule, from one list or all. Raises ValueError when it is not one."""
        old = self._session
        lists = {"allow": old.allow, "ask": old.ask, "deny": old.deny}
        for name in [behavior] if behavior else list(lists):
            lists[name] = tuple(text for text in lists[name] if text != rule)
        new = RuleTexts(**lists)
        if new == old:
            raise ValueError(
                f"'{rule}' is no rule of this session; rules of settings files are changed there."
            )
        self._session = new
        self._rules = None
        return f"Removed from this session: {rule}"

    def touched(self) -> None:
        """Something ran that may have changed links: forget what was resolved."""
        self.grounds.clear()
        self.resolver.trees.clear()

    # --- what a decision sees ---

    @property
    def interactive(self) -> bool:
        return self._config.interactive

    def context(
        self,
        where: Where,
        *,
        agent: str = MAIN,
        hook: HookWord = "",
        resolver: Resolver | None = None,
    ) -> Context:
        """The state as of now, for a call made from `where` by `agent`."""
        config, view = self._config, self.view(agent)
        edits = config.skip_edits or (view.edits and not view.most)
        place, patterns = self.grounds.of(where.root)
        return Context(
            place=replace(place, cwd=text_of(where.cwd), memory=view.memory),
            resolver=resolver or self.resolver,
            rules=view.rules(),
            patterns=patterns,
            mode=view.mode,
            most=view.most,
            previous_mode=self._previous,
            plan_enforcement=config.plan_enforcement,
            plan_file="" if self._plan_file is None else str(self._plan_file),
            interactive=config.interactive,
            main_agent=agent == MAIN,
            trusted=config.trusted,
            sandbox=config.sandbox,
            sandbox_allows=config.sandbox_allows,
            disable_bypass=config.disable_bypass,
            plan_classifier=config.plan_classifier,
            skips=Skips(edits, config.skip_bash, config.skip_skills, config.skip_mcp),
            hook=hook,
            limits=view.limits(),
            kept_to=view.kept_to(),
            named=view.named,
            consented=self.consented,
            env={"HOME": self.place.home},
            harmless_env=config.harmless_env,
            scrubbed_env=config.scrubbed_env,
        )
