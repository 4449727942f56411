"""Which names of tools a rule may use: one list. A rule for any other name would never count.

A name with a wildcard is known when it can fit one of them, or a tool of a server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice

from gatewright.permissions.rulebook import servers
from gatewright.permissions.rulebook.rules import Behavior, RuleTexts, cited, tool_of
from gatewright.permissions.rulebook.tools_table import ALIASES, TOOLS, stated

# Tools of settings that are shared with other agents, or that come later: kept without a word.
ELSEWHERE = (
    "AcpPermission",
    "CallTool", "CronCreate", "CronDelete", "CronList", "EnterWorktree", "ExitWorktree",
    "FeatureUpdate", "ImageEdit", "ImageGen", "LeaveWorktree", "ListMcpResourcesTool", "LS",
    "PowerShell", "PushNotification", "ReadMcpResource", "ReadMcpResourceTool", "RemoteTrigger",
    "Sleep", "StructuredOutput", "TeamCreate", "TeamDelete",
)  # fmt: skip
LONGEST = 64  # a longer name is no typing error, and is not compared with any
TOLD = 5  # names of one source; who wrote more is told how many
NOTHING: Mapping[Behavior, str] = {
    "deny": "forbids nothing", "ask": "asks about nothing", "allow": "allows nothing",
}  # fmt: skip


def is_known(name: str) -> bool:
    """Whether a rule's name may mean a tool, in any case."""
    folded = name.lower()
    if servers.names_server(folded):
        return True
    names = _by_folded()
    if "*" not in folded:
        return folded in names
    head = folded.partition("*")[0]
    return servers.LEAD.startswith(head) or any(fnmatchcase(each, folded) for each in names)


def unknown(name: str) -> str:
    """A sentence about a name that no tool has; empty for one that is known."""
    if is_known(name):
        return ""
    if len(name) > LONGEST:
        return f"No tool is called {name[:LONGEST]}…"
    from difflib import get_close_matches  # noqa: PLC0415  lazy: 3 ms, for a name that is unknown

    names = _by_folded()
    near = get_close_matches(name.lower(), names, n=1)
    hint = f". Did you mean {names[near[0]]}?" if near else "."
    return f"No tool is called {name}{hint}"


def remarks(texts: Mapping[str, RuleTexts], problems: tuple[str, ...]) -> tuple[str, ...]:
    """`problems` of rules, those about a name that no tool has said in one sentence for each name
    and place."""
    kept = list(problems)
    for source, lists in texts.items():
        found: dict[str, str] = {}
        begins: set[str] = set()
        for behavior, text, name in _unknown(lists):
            begin = cited(text, behavior, source)
            begins.add(begin)
            found.setdefault(name, f"{begin} {NOTHING[behavior]}.")
        lengths = {len(begin) for begin in begins}
        kept = [one for one in kept if not any(one[:length] in begins for length in lengths)]
        kept += [f"{told} {unknown(name)}" for name, told in islice(found.items(), TOLD)]
        if (more := len(found) - TOLD) > 0:
            kept.append(f"{more} more names in rules ({source}) are of no tool either.")
    return tuple(kept)


def _unknown(lists: RuleTexts) -> Iterator[tuple[Behavior, str, str]]:
    known: dict[str, bool] = {}
    for behavior, text in lists.labelled():
        name = tool_of(text)
        if name not in known:
            known[name] = is_known(name)
        if not known[name]:
            yield behavior, text, name


def _by_folded() -> dict[str, str]:
    names = {name.lower(): name for name in (*TOOLS, *ELSEWHERE, *stated())}
    return names | dict(ALIASES)
