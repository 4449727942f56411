"""What people read when the gate asks or refuses, and what their "always" would store."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec.structs import replace

from gatewright.permissions.decision import Ask, Deny, Grant, Stage
from gatewright.tools.access import MAIN, Where
from gatewright.tools.blocks import Block, Command, Text
from gatewright.tools.calls import Facts
from gatewright.tools.interact import Always, Answer, Option
from gatewright.tools.interact import Ask as Question
from gatewright.tools.protocol import ToolCall

Choice: TypeAlias = Literal["once", "always", "no", "stop", "told", "cancelled"]
NO_OTHER_WAY = "Do not try to reach the same effect with another tool or command."
STOPPED = "The person said no and stopped this agent."


def options_for(ask: Ask, place: str, agent: str = MAIN) -> tuple[Option, ...]:
    """Once, always (with the exact rule and where it is kept; absent when not offered), no.

    An agent that another one started can be stopped here as well.
    """
    if any(grant.session for grant in ask.grants):
        return (
            Option("once", "Yes", "y"),
            Option("always", "Yes, don't ask again this session", "Y"),
            Option("no", "No", "n"),
        )
    options = [Option("once", "Yes, once", "y")]
    if ask.grants:
        options.append(Option("always", _always(ask.grants, place), "Y"))
    options.append(Option("no", "No", "n", "or type what to do instead"))
    if agent != MAIN:
        options.append(Option("stop", "No, and stop this agent", "x"))
    return tuple(options)


def _always(grants: tuple[Grant, ...], place: str) -> str:
    modes = [grant.mode for grant in grants if grant.mode]
    if modes:
        return f"Yes, and switch this session to {modes[0]}"
    rules = ", ".join(grant.rule for grant in grants)
    return f"Yes, and always allow {rules} (kept in {place})"


def always_of(ask: Ask, place: str) -> Always | None:
    """What "always" would store, as data, or where a rule of the person's own begins."""
    grants = ask.grants or ask.could
    if not grants or any(grant.session for grant in grants):
        return None
    rules = tuple(grant for grant in grants if grant.rule)
    return Always(
        rules=tuple(grant.rule for grant in rules),
        steps=tuple(grant.steps or (grant.rule,) for grant in rules),
        mode=next((grant.mode for grant in grants if grant.mode), ""),
        place=place,
        offered=bool(ask.grants),
    )


def choice_of(answer: Answer, ask: Ask) -> Choice:
    """What the person said; a rule of their own where one can be kept."""
    if answer.cancelled:
        return "cancelled"
    match answer.choice:
        case "once" | "stop" as said:
            return said
        case "always" if ask.grants or (ask.could and answer.rules):
            return "always"
        case _:
            return "told" if answer.text.strip() else "no"


def with_kept(ask: Ask, kept: str) -> Ask:
    """The question with what a yes would not open: a yes is to be true."""
    if not kept:
        return ask
    return replace(ask, reason=replace(ask.reason, text=f"{ask.reason.text} {kept}".lstrip()))


def question(
    call: ToolCall,
    facts: Facts,
    ask: Ask,
    options: tuple[Option, ...],
    view: tuple[Block, ...],
    where: Where,
) -> Question:
    """Everything that is at stake, exactly as it will run, and where if that is not the project."""
    runs = facts.access.runs
    body: list[Block] = list(view)
    if not body and runs is not None:
        body.append(Command(runs.command))
    body = [_placed(block, where) for block in body]
    if not body:
        body.append(Text(facts.target))
    unsaid = ask.reason.stage is not Stage.MODE  # there the reason names them
    if unsaid and ask.lacking and runs is not None and ask.lacking != (runs.command,):
        body.append(Text("No rule covers: " + " · ".join(ask.lacking), "dim"))
    if ask.unruled:
        body.append(Text(ask.unruled, "dim"))
    return Question(
        kind="permission",
        title=f"{facts.verb} {facts.target}".strip().partition("\n")[0],
        body=tuple(body),
        options=options,
        reason=ask.reason.text,
        tool=call.name,
        call_id=call.id,
        free_text=not any(grant.session for grant in ask.grants),
        danger=ask.danger,
        lacking=ask.lacking if runs is not None and ask.lacking != (runs.command,) else (),
    )


def _placed(block: Block, where: Where) -> Block:
    if isinstance(block, Command) and not block.cwd:
        return Command(block.command, where.moved, block.note)
    return block


def unkept(problem: str) -> str:
    """For the model: the person's yes was for a rule that is none by now."""
    return f"Not run: the rule that the person gave with their yes cannot be kept. {problem}"


def refusal(deny: Deny, hook_text: str = "") -> str:
    """For the model: what was refused, why, and that another way round is no answer."""
    reason = deny.reason
    said = f' The hook said: "{hook_text}".' if reason.stage is Stage.HOOK and hook_text else ""
    return f"Not run ({reason.stage}): {reason.text}{said} {NO_OTHER_WAY}"


def plainly(refusal: str) -> str:
    """The same for a person, who needs no advice and no name of a stage."""
    text = refusal.replace(NO_OTHER_WAY, "").strip()
    _, marked, reason = text.partition("): ")
    return reason if marked and text.startswith("Not run (") else text


def repeated(text: str) -> str:
    return f"{text} This same call was refused several times: change your approach or ask."
