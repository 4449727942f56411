"""The ways to answer a question, as its rows show them: its options, words, and stopping who asks.

What a key means follows from this list alone, so that nothing answers that is not shown.
"""

from __future__ import annotations

from gatewright.tools.access import MAIN
from gatewright.tools.interact import ELICITATION, Answer, Ask, Option
from gatewright.tui.ask.answer_keys import CHANGES, READS
from gatewright.tui.ask.whole import to_read
from gatewright.tui.state import Pending

TELL, STOP, WHOLE, EDIT, ALWAYS = "t", "x", "v", "e", "Y"  # the last as an "always" has it

REFUSES = frozenset({"no", "stop", "keep", "cancel"})


def ways(pending: Pending, *, tells: bool = False) -> tuple[Option, ...]:
    """Options, then what is no option of it. With `tells` the draft is an answer in words."""
    ask = pending.ask
    more: list[Option] = []
    if ask.free_text:
        field = ask.kind == ELICITATION
        other = "Type it" if field else "Something else"
        label = "Tell the agent what to do instead" if ask.kind == "permission" else other
        told = "Give what you typed" if field else "Tell the agent what you typed"
        more.append(Option("", told if tells else label, TELL))
    if drafts(ask):
        more.append(Option("", "Yes, and keep a rule for it", ALWAYS))
    if _adds_stop(pending):
        more.append(Option("", f"Stop {pending.agent}", STOP))
    return (*ask.options, *more)


def marked(ask: Ask, number: int) -> bool:
    """Whether this way is one of several, which Enter gives together."""
    return ask.multiple and number < len(ask.options) and not ask.options[number].alone


def editable(ask: Ask) -> bool:
    """Whether a rule of the person's own may be kept instead of what is offered."""
    return ask.kind == "permission" and ask.always is not None and bool(ask.always.rules)


def drafts(ask: Ask) -> bool:
    """Whether a rule may be kept, and none is offered as it is."""
    return editable(ask) and ask.always is not None and not ask.always.offered


def edits(pending: Pending, number: int) -> bool:
    """Whether this way changes a rule before it is kept."""
    ask = pending.ask
    return drafts(ask) and number == len(ask.options) + bool(ask.free_text)


def aside(ask: Ask, character: str) -> int:
    """The number of a key that answers nothing; 0 where it is none."""
    if character == WHOLE and to_read(ask) is not None:
        return READS
    return CHANGES if character == EDIT and editable(ask) else 0


def _adds_stop(pending: Pending) -> bool:
    """Whether no option of its own does that."""
    return pending.path != MAIN and all(option.key != STOP for option in pending.ask.options)


def stops(pending: Pending, number: int) -> bool:
    """Whether this way ends the agent that asks."""
    return _adds_stop(pending) and number == len(ways(pending)) - 1


def gives(pending: Pending, number: int) -> bool:
    """Whether this way lets happen what is asked about."""
    options = pending.ask.options
    if 0 <= number < len(options):
        return options[number].id not in REFUSES
    return number == CHANGES or edits(pending, number)


def preselected(ask: Ask) -> int:
    """What Enter means at first: trust, and what is dangerous, is never given by the way."""
    keys = [option.key for option in ask.options]
    return keys.index("n") if (ask.kind == "trust" or ask.danger) and "n" in keys else 0


def refusal(ask: Ask) -> Answer:
    """What Escape means: the option that says no, or no answer at all."""
    ids = [option.id for option in ask.options]
    return Answer(choices=("no",)) if "no" in ids else Answer(cancelled=True)
