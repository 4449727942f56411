"""Whether a call is one that a rule is about, for who wants to know that and decides nothing by it.

Read as a restriction: any part of a shell line counts, and whatever cannot be judged is one.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from gatewright.permissions.calls.aspects import aspects
from gatewright.permissions.context import Call, Context, Skips
from gatewright.permissions.decide import FAILURES, decide
from gatewright.permissions.decision import Allow
from gatewright.permissions.inquiry import Inquiry, inquiries
from gatewright.permissions.rulebook.known_tools import unknown
from gatewright.permissions.rulebook.rules import Rule, RuleSet, parse_rule, read_rule, tool_of

SOURCE = "session"
_OF_SHELL = frozenset({"Bash", "Monitor", "Read", "Edit", "*"})


@lru_cache(maxsize=512)
def _only(text: str) -> RuleSet | None:
    rule, problem = parse_rule(text, "ask", SOURCE)
    return None if rule is None or problem else RuleSet(ask=(rule,))


def problem_of(text: str) -> str:
    """What is wrong with a text as one rule; empty where nothing is."""
    _, _, problem = read_rule(text, "ask")
    return unknown(tool_of(text)) or (f"{text!r} {problem}" if problem else "")


def is_about(text: str, call: Call, context: Context) -> bool:
    """Never raises; a rule that cannot be read is about everything."""
    rules = _only(text)
    if rules is None:
        return True
    try:
        return any(
            inquiry.subject.asked() is not None or _unread(rules.ask[0], inquiry)
            for inquiry in inquiries(call, replace(context, rules=rules))
        )
    except FAILURES:
        return True


def only_reads(call: Call, context: Context) -> bool:
    """Whether it would run where nothing is asked and no rule says anything: a read, or a command
    that changes nothing."""
    if not {"read", "shell"}.issuperset(aspects(call.access)):
        return False
    bare = replace(
        context, rules=RuleSet(), mode="dontAsk", skips=Skips(), hook="", sandbox_allows=False
    )
    return isinstance(decide(call, bare), Allow)


def _unread(rule: Rule, inquiry: Inquiry) -> bool:
    """Whether it is a shell line that nobody can say is not what the rule is about."""
    if inquiry.subject.family != "shell" or rule.tool not in _OF_SHELL:
        return False
    from gatewright.permissions.calls.shell_call import ShellCall  # noqa: PLC0415  lazy: 30 ms

    subject = inquiry.subject
    known = isinstance(subject, ShellCall) and subject.line.understood and not subject.unclear
    return not known
