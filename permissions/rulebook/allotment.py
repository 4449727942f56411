"""How many rules the files of a project may bring: what is beyond restricts more than it says.

Whoever writes a repository writes these, and each rule costs every call something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gatewright.permissions.rulebook import braces, servers, tools_table
from gatewright.permissions.rulebook.rules import OF_PROJECT, Behavior, RuleTexts, tool_of

MOST = 1000
FILES = OF_PROJECT | {"claude-project", "claude-local"}


def allotted(texts: Mapping[str, RuleTexts]) -> Mapping[str, RuleTexts]:
    """Every source's rules, those of the project's files as far as they count one by one."""
    room = {"deny": _Room("deny"), "ask": _Room("ask"), "allow": _Room("allow")}
    found: dict[str, RuleTexts] = {}
    for source, lists in texts.items():
        if source not in FILES:
            found[source] = lists
            continue
        found[source] = RuleTexts(
            allow=room["allow"].take(lists.allow),
            ask=room["ask"].take(lists.ask),
            deny=room["deny"].take(lists.deny),
            told=tuple(one.told(source) for one in room.values() if one.beyond),
        )
    return found


class _Room:
    """What is left for one list of all these files."""

    def __init__(self, behavior: Behavior) -> None:
        self._behavior: Behavior = behavior
        self._left = MOST
        self._wholly: tuple[str, ...] = ()
        self.beyond = 0  # of the source that was taken last

    def take(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Those there is room for, and the tools that the others are about."""
        for index, text in enumerate(texts):
            self._left -= len(braces.expanded(text) or ("",))
            if self._left < 0:
                self.beyond = len(texts) - index
                self._wholly = () if self._behavior == "allow" else _tools(texts[index:])
                return (*texts[:index], *self._wholly)
        self.beyond = 0
        return texts

    def told(self, source: str) -> str:
        effect = f"counts for all of {', '.join(self._wholly)}" if self._wholly else "is ignored"
        return (
            f"The files of a project may have {MOST} {self._behavior} rules, each alternative in "
            f"braces counted; what the other {self.beyond} ({source}) say {effect}."
        )


def _tools(texts: Iterable[str]) -> tuple[str, ...]:
    """Each tool they name, all tools of servers as one; what is no tool here is every one."""
    named = {tool_of(text) for text in texts}
    return tuple(sorted({_whole(name) for name in named}))


def _whole(name: str) -> str:
    if servers.names_server(name):
        return f"{servers.LEAD}*"
    tool = tools_table.canonical(name)
    return tool if tool in tools_table.TOOLS else "*"
