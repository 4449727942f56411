"""Rules sorted by the first word they are about, so that hundreds of them cost little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from gatewright.permissions.calls.subject import covers_tool
from gatewright.permissions.rulebook.rules import Bare, Rule, ShellForm
from gatewright.permissions.shell.parse.words import Arg

_UNSURE = frozenset("'\"\\$=`~<>|&;(){}!#")


class RuleIndex:
    """Shell rules by first word. `loose` ones have to be tried on every command."""

    __slots__ = ("_by_word", "_loose", "bare")

    def __init__(self, rules: Iterable[Rule], tool: str = "Bash") -> None:
        self.bare: list[Rule] = []
        self._by_word: dict[str, list[Rule]] = {}
        self._loose: list[Rule] = []
        for rule in rules:
            if not _about_shell(rule, tool):
                continue
            form = rule.form
            if isinstance(form, Bare):
                self.bare.append(rule)
            elif isinstance(form, ShellForm):
                word = _first_word(form)
                if word:
                    self._by_word.setdefault(word, []).append(rule)
                else:
                    self._loose.append(rule)

    def __bool__(self) -> bool:
        return bool(self.bare or self._by_word or self._loose)

    def about(self, words: Iterable[str]) -> Iterator[Rule]:
        """The rules that may be about a command that begins with one of `words`."""
        for word in words:
            yield from self._by_word.get(word, ())
        yield from self._loose

    def candidates(self, texts: Iterable[str], programs: Sequence[Arg]) -> Iterable[Rule]:
        """The rules worth comparing with these commands; all, if a program is a pattern."""
        if any(arg.patterns for arg in programs):
            return [*self.bare, *self._loose, *(r for rs in self._by_word.values() for r in rs)]
        words = {text.split(None, 1)[0] for text in texts if text and not text.isspace()}
        return [*self.bare, *self.about(words)]


def _about_shell(rule: Rule, tool: str) -> bool:
    """Whatever a call is named that runs a command: restrictions for Bash are about it."""
    return covers_tool(rule, tool) or (rule.behavior != "allow" and rule.tool == "Bash")


class _Same:
    """A tuple of rules that is only equal to itself: comparing hundreds would cost too much."""

    __slots__ = ("rules",)

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules

    def __hash__(self) -> int:
        return id(self.rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.rules is self.rules


@lru_cache(maxsize=64)
def _indexed(same: _Same, tool: str) -> RuleIndex:
    return RuleIndex(same.rules, tool)


def index_of(rules: tuple[Rule, ...], tool: str) -> RuleIndex:
    """The index of one list of rules, built once."""
    return _indexed(_Same(rules), tool)


def _first_word(form: ShellForm) -> str:
    """The literal first word, or '' when the rule's text leaves it open."""
    words = form.text.split()
    if not words or set(words[0]) & _UNSURE or "*" in words[0] or "\n" in form.text:
        return ""
    return words[0]
