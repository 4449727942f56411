"""The decision: stages in a fixed order, the first decisive one wins.

Pure and total: nothing is read but paths through the resolver, and an internal failure becomes
a question or a denial, never an allow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from gatewright.permissions.calls.aspects import insisted, strictest
from gatewright.permissions.calls.path_call import PathCall, is_plan_file
from gatewright.permissions.calls.subject import Permit, covers_tool
from gatewright.permissions.context import Call, Context, Skips
from gatewright.permissions.decision import Allow, Ask, Decision, Deny, Grant, Reason, Stage
from gatewright.permissions.inquiry import Inquiry, inquiries
from gatewright.permissions.rulebook import servers
from gatewright.permissions.rulebook.rules import Bare, Rule, RuleSet, ShellForm, parse_rule
from gatewright.permissions.rulebook.way_out import way_out

if TYPE_CHECKING:
    from gatewright.permissions.calls.shell_call import ShellCall

FAILURES: Final = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, MemoryError,
    NameError, OSError, RuntimeError, TypeError, ValueError, re.error,
)  # fmt: skip


StageFunction: TypeAlias = Callable[[Inquiry], Decision | None]


def decide(call: Call, context: Context) -> Decision:
    """What happens to `call`. Never raises."""
    try:
        decision = strictest([_settled(inquiry) for inquiry in inquiries(call, context)])
        if context.most in ("", context.mode):
            return decision
        capped = replace(context, mode=context.most, most="")
        return strictest([decision, *map(_settled, inquiries(call, capped))])
    except FAILURES as error:
        return failed(error, context)


def _settled(inquiry: Inquiry) -> Decision:
    for stage in STAGES:
        decision = stage(inquiry)
        if decision is not None:
            return finish(inquiry, insisted(inquiry.call.access, decision))
    raise AssertionError("the mode stage always decides")


def failed(error: BaseException, context: Context) -> Decision:
    """An internal failure: a person may look at it, without one it is a denial."""
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, OSError) and error.strerror:
        said = ": ".join(filter(None, (str(error.filename or ""), error.strerror)))
    text = f"The gate could not judge this call ({said})."
    if context.interactive and context.mode != "dontAsk":
        return Ask(Reason(Stage.SAFETY, text), explicit=True)
    return Deny(Reason(Stage.NON_INTERACTIVE, text))


# --- the stages -------------------------------------------------------------------------------


def hook_denies(inquiry: Inquiry) -> Decision | None:
    if inquiry.context.hook == "deny":
        return Deny(Reason(Stage.HOOK, "A hook refused this call."))
    return None


def impossible(inquiry: Inquiry) -> Decision | None:
    """Malformed paths and addresses; a deny rule that also fires is named instead."""
    found = inquiry.subject.impossible()
    if found is None or inquiry.subject.denied() is not None:
        return None
    stage, text = found
    return Deny(Reason(stage, text))


def deny_rule(inquiry: Inquiry) -> Decision | None:
    rule = inquiry.subject.denied()
    if rule is not None:
        return Deny(_by_rule(Stage.DENY, "A deny rule forbids it", rule))
    call, context = inquiry.call, inquiry.context
    if limited := outside(call, context, context.limits):
        return Deny(Reason(Stage.DENY, limited))
    limited = outside(call, context, context.kept_to)
    return Deny(Reason(Stage.SKILL, limited)) if limited else None


def human_tool(inquiry: Inquiry) -> Decision | None:
    if inquiry.subject.family != "human":
        return None
    return Ask(Reason(Stage.HUMAN, "This is a question to you."), explicit=True)


def mode_gate(inquiry: Inquiry) -> Decision | None:
    if inquiry.mode.id == "delegate" and inquiry.context.main_agent:
        if not inquiry.call.row.coordination:
            text = "In delegate mode the main agent only coordinates; hand this to an agent."
            return Deny(Reason(Stage.MODE_GATE, text))
        return None
    return _plan_gate(inquiry) if inquiry.plan else None


def _what_then(context: Context) -> str:
    """What plan mode wants instead."""
    if not (context.interactive and context.main_agent):
        return "Answer with the plan."
    file = context.plan_file or "its file"
    return f"Write the plan to {file}, then call ExitPlanMode."


def _plan_gate(inquiry: Inquiry) -> Decision | None:
    context, subject = inquiry.context, inquiry.subject
    kind = subject.plan_kind()
    if kind == "edit" and context.main_agent:  # agents below it report: the plan is not theirs
        writes = [inquiry.paths.locate(str(path)) for path in inquiry.call.access.writes]
        if writes and all(is_plan_file(path, context) for path in writes):
            return Allow(Reason(Stage.PLAN_FILE, "This is the session's plan file."))
    if subject.family == "workflow":
        return Deny(Reason(Stage.MODE_GATE, "Workflows do not start in plan mode."))
    if context.plan_enforcement == "delegate":
        return None
    if kind == "edit":
        return Deny(Reason(Stage.MODE_GATE, f"Plan mode changes no files. {_what_then(context)}"))
    if subject.family == "shell" and context.plan_enforcement == "block":
        return Deny(Reason(Stage.MODE_GATE, "Plan mode runs no commands here."))
    if kind == "mutating":
        text = f"Plan mode runs no command that changes something. {_what_then(context)}"
        return Deny(Reason(Stage.MODE_GATE, text))
    return None


def own_memory(inquiry: Inquiry) -> Decision | None:
    """Files of its own, where no rule of the person's says to ask."""
    subject = inquiry.subject
    if not (isinstance(subject, PathCall) and subject.remembered()):
        return None
    asked = subject.asked()
    if inquiry.context.hook == "ask" or (asked is not None and asked.source != "builtin"):
        return None
    return Allow(Reason(Stage.OWN_MEMORY, "This is what the agent itself remembers."))


def floor(inquiry: Inquiry) -> Decision | None:
    text = inquiry.subject.floor()
    return Ask(Reason(Stage.FLOOR, text), explicit=True, danger=True) if text else None


def trusted_allow(inquiry: Inquiry) -> Decision | None:
    if inquiry.context.hook == "ask" or inquiry.strict_shell:
        return None
    permit = inquiry.subject.trusted(hook=inquiry.context.hook == "allow")
    if permit is None:
        return None
    return _permitted(Stage.TRUSTED_ALLOW, permit)


def skip_switch(inquiry: Inquiry) -> Decision | None:
    skips = inquiry.context.skips
    switched = {
        "edit": skips.edits,
        "shell": skips.bash,
        "skill": skips.skills,
        "slash": skips.skills,
        "mcp": skips.mcp,
    }.get(inquiry.subject.family, False)
    if not switched or inquiry.strict_shell or inquiry.context.hook == "ask":
        return None
    subject = inquiry.subject
    if subject.danger() or not subject.skippable() or subject.asked() is not None:
        return None
    return Allow(Reason(Stage.SKIP, "Your settings let calls of this kind run."))


def safety(inquiry: Inquiry) -> Decision | None:
    always = inquiry.subject.always_asks()
    if always:
        return Ask(Reason(Stage.SAFETY, always), explicit=inquiry.subject.family == "web")
    if not inquiry.context.interactive:
        return None
    text = inquiry.subject.danger()
    return Ask(Reason(Stage.SAFETY, text), danger=True) if text else None


def ask_rule(inquiry: Inquiry) -> Decision | None:
    rule = inquiry.subject.asked()
    if rule is not None:
        forbids = rule.behavior == "deny"  # which files are meant is not known
        verb = "read" if rule.tool == "Read" else "change"
        text = f"It may {verb} what a rule forbids to" if forbids else "A rule says to ask"
        reason = _by_rule(Stage.ASK_RULE, text, rule)
        return Ask(reason, explicit=True)
    if inquiry.context.hook == "ask":
        return Ask(Reason(Stage.ASK_RULE, "A hook says to ask."), explicit=True)
    return None


def bypass(inquiry: Inquiry) -> Decision | None:
    mode = inquiry.previous
    if not mode.bypass or inquiry.strict_shell:
        return None
    keeps_reads = inquiry.plan and inquiry.context.plan_enforcement != "delegate"
    if keeps_reads and inquiry.subject.family not in ("read", "shell"):
        return None
    return Allow(Reason(Stage.BYPASS, f"The mode is {mode.id}."))


def untrusted_allow(inquiry: Inquiry) -> Decision | None:
    if inquiry.strict_shell or inquiry.subject.danger():
        return None
    permit = inquiry.subject.untrusted()
    return _permitted(Stage.UNTRUSTED_ALLOW, permit) if permit is not None else None


def mode_strategy(inquiry: Inquiry) -> Decision | None:
    if inquiry.plan and inquiry.subject.family == "agent":
        return Allow(Reason(Stage.MODE, "The agent inherits plan mode."))
    verdict = inquiry.subject.strategy(inquiry.previous)
    if verdict.allow:
        return Allow(Reason(Stage.MODE, f"It runs in {inquiry.mode.id} mode."), verdict.note)
    return Ask(Reason(Stage.MODE, verdict.text))


STAGES: Final[tuple[StageFunction, ...]] = (
    hook_denies,
    impossible,
    deny_rule,
    human_tool,
    mode_gate,
    own_memory,
    floor,
    trusted_allow,
    skip_switch,
    safety,
    ask_rule,
    bypass,
    untrusted_allow,
    mode_strategy,
)


# --- stage 11: who answers --------------------------------------------------------------------


def finish(inquiry: Inquiry, decision: Decision) -> Decision:
    """An ask finds somebody to answer it, or is a denial; a skill whose doing it is, is named."""
    reason = decision.reason
    whose = inquiry.context.named.get(reason.rule, "") if reason.source == "command" else ""
    told = (f"The rule is of {whose}." if whose else "", inquiry.call.access.by)
    if any(told):
        text = " ".join(filter(None, (reason.text, *told)))
        decision = replace(decision, reason=replace(reason, text=text))
    return _finished(inquiry, decision)


def _finished(inquiry: Inquiry, decision: Decision) -> Decision:
    if isinstance(decision, Allow):
        return _narrowed(inquiry, decision)
    if isinstance(decision, Deny):
        return decision
    if inquiry.context.mode == "dontAsk":
        return Deny(_turned(decision, Stage.DONT_ASK, "In dontAsk mode nothing is asked."))
    grants = _offered(inquiry, decision)
    answerer = "human"
    open_stage = decision.reason.stage in (Stage.SAFETY, Stage.MODE)
    launch = inquiry.subject.family == "workflow"  # nobody starts many agents in a person's place
    if _may_classify(inquiry) and not decision.explicit and open_stage and not launch:
        answerer = "classifier"
    if answerer == "human" and not inquiry.context.interactive:
        reason = _turned(decision, Stage.NON_INTERACTIVE, way_out(inquiry, decision))
        return Deny(reason, asked=decision)
    line = _shell(inquiry)
    by_rule = decision.reason.stage is Stage.ASK_RULE and bool(decision.reason.rule)
    plain = (by_rule or decision.reason.stage is Stage.MODE) and not grants and not inquiry.plan
    could, unruled = line.unruled() if line is not None and plain else ((), "")
    return replace(
        decision,
        grants=grants,
        could=could,
        unruled=unruled,
        answerer="classifier" if answerer == "classifier" else "human",
        lacking=inquiry.subject.lacking(),
        names=line.named() if answerer == "human" and line is not None else (),
    )


def _narrowed(inquiry: Inquiry, allow: Allow) -> Allow:
    """Searches that run without anybody having looked leave restricted files out."""
    line = _shell(inquiry)
    if line is None:
        return allow
    if allow.reason.stage is Stage.TRUSTED_ALLOW and (stored := line.stored()):
        allow = replace(allow, names=stored)
    text = line.rewritten(exact=_is_exact(allow.reason))
    return allow if text == line.target else replace(allow, command=text)


def _shell(inquiry: Inquiry) -> ShellCall | None:
    if inquiry.subject.family != "shell":
        return None
    from gatewright.permissions.calls.shell_call import ShellCall  # noqa: PLC0415  lazy: 30 ms

    return inquiry.subject if isinstance(inquiry.subject, ShellCall) else None


def _is_exact(reason: Reason) -> bool:
    rule, _ = parse_rule(reason.rule, "allow", reason.source) if reason.rule else (None, "")
    return rule is not None and isinstance(rule.form, ShellForm) and rule.form.kind == "exact"


def _may_classify(inquiry: Inquiry) -> bool:
    return inquiry.mode.classifier or (inquiry.plan and inquiry.context.plan_classifier)


def _offered(inquiry: Inquiry, ask: Ask) -> tuple[Grant, ...]:
    """The grants of "always": only where the stored rule would settle the next call."""
    if ask.reason.stage is Stage.ASK_RULE and ask.reason.rule:
        return _beating(inquiry)
    if ask.explicit or ask.reason.stage is not Stage.MODE:
        return ()
    if inquiry.plan and inquiry.subject.family in ("shell", "edit"):
        return ()
    return inquiry.subject.grants()


def _beating(inquiry: Inquiry) -> tuple[Grant, ...]:
    """After an ask rule "always" makes sense only if the stored rule outranks it."""
    asked = inquiry.subject.asked()
    grants = inquiry.subject.grants()
    if inquiry.plan or asked is None or any(grant.mode or grant.session for grant in grants):
        return ()
    if inquiry.subject.family == "shell":
        return grants  # checked against every ask already
    for grant in grants:
        rule, _ = parse_rule(grant.rule, "allow", "session")
        if rule is None or asked.rank > rule.rank:
            return ()
    return grants


def _turned(ask: Ask, stage: Stage, text: str) -> Reason:
    return Reason(stage, f"{ask.reason.text} {text}", ask.reason.rule, ask.reason.source)


def _by_rule(stage: Stage, text: str, rule: Rule) -> Reason:
    return Reason(stage, f"{text}: {rule.text} ({rule.source}).", rule.text, rule.source)


def _permitted(stage: Stage, permit: Permit) -> Allow:
    if permit.rule is None:
        return Allow(Reason(stage, "A hook allowed it."))
    return Allow(_by_rule(stage, "A rule allows it", permit.rule))


def outside(call: Call, context: Context, limits: Sequence[Sequence[Rule]]) -> str:
    """Why the call is none of those; empty where nothing limits them, or each list names it."""
    edits = bool(call.access.writes) and call.row.family == "read"  # a rename of a reading tool
    for limit in limits:
        naming = [rule for rule in limit if _names(rule, call)]
        whole = any(isinstance(rule.form, Bare) for rule in naming)
        lacks = edits and not any(covers_tool(rule, "Edit") for rule in limit)
        if lacks or (not whole and not _within(limit if edits else naming, call, context)):
            names = ", ".join(dict.fromkeys(rule.text for rule in limit)) or "no tool"
            return f"{call.tool} is not among what may be used here: {names}."
    return ""


def _within(limit: Sequence[Rule], call: Call, context: Context) -> bool:
    """Whether these rules would let it run, were they the only ones and nobody there."""
    if not limit:
        return False
    rules = RuleSet(trusted=tuple(limit))
    alone = replace(
        context, rules=rules, mode="dontAsk", limits=(), kept_to=(), skips=Skips(), hook=""
    )
    return isinstance(decide(call, alone), Allow)


def _names(rule: Rule, call: Call) -> bool:
    """The tool itself: not what else its rules are about, nor a stranger's of that name."""
    if rule.tool == "*":
        return True
    remote = call.access.remote
    if remote is None or not remote.tool:
        return rule.tool == call.tool or (remote is not None and servers.grants(rule.tool, remote))
    return servers.grants(rule.tool, remote)
