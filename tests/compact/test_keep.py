"""What stays word for word: never half of anything, the newest words always, within the budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.compact.budget import Budget
from gatewright.agent.compact.estimate import text_tokens, turns_tokens
from gatewright.agent.compact.keep import choose
from gatewright.agent.compact.micro import NEWEST, old_results
from gatewright.agent.record.messages import (
    AssistantPart,
    AssistantTurn,
    CallPart,
    ResultTurn,
    TextPart,
    ThinkingPart,
    Turn,
    UserTurn,
)
from gatewright.agent.turn.valid_history import CLEARED_RESULT, Pairing, paired
from gatewright.tools.protocol import TextContent
from tests.agent.test_conversation import defects

SIZES = st.sampled_from([1, 10, 1000, 30_000, 300_000])


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Turn], list[str]]:
    turns: list[Turn] = []
    words: list[str] = []
    for number in range(draw(st.integers(1, 12))):
        text = f"{number} " + "w" * draw(SIZES)
        words.append(text)
        turns.append(UserTurn((TextContent(text),)))
        for step in range(draw(st.integers(0, 3))):
            ids = [f"c{number}.{step}.{i}" for i in range(draw(st.integers(0, 3)))]
            parts: list[AssistantPart] = [ThinkingPart("t", "s"), TextPart("x" * draw(SIZES))]
            parts += [CallPart(id, "Read", {}) for id in ids]
            turns.append(AssistantTurn(tuple(parts), "m"))
            turns += [ResultTurn(id, True, (TextContent("r" * draw(SIZES)),)) for id in ids]
    return list(paired(turns)), words


@given(histories(), st.sampled_from([8_000, 32_000, 200_000]))
def test_what_is_kept(history: tuple[list[Turn], list[str]], window: int) -> None:
    turns, words = history
    budget = Budget.of(window, 32_000)
    kept = choose(turns, words, budget)
    assert tuple(turns[len(turns) - len(kept.recent) :]) == kept.recent
    assert turns_tokens(kept.recent) <= budget.recent_most
    assert sum(map(text_tokens, kept.words)) <= budget.words + 50
    first = UserTurn((TextContent("summary"),))
    assert defects(paired((first, *kept.recent))) == []
    said = "\n".join(
        part.text
        for turn in kept.recent
        if isinstance(turn, UserTurn)
        for part in turn.content
        if isinstance(part, TextContent)
    )
    newest = words[-1]
    if text_tokens(newest) <= budget.words:
        assert newest in kept.words or newest in said
    else:
        assert newest in said or kept.words[-1].startswith(newest[:20])
    assert not [text for text in kept.words[:-1] if text not in words]


@given(histories())
def test_clearing_keeps_pairs_and_the_newest(history: tuple[list[Turn], list[str]]) -> None:
    turns, _ = history
    old = old_results(turns)
    pairing = Pairing()
    for turn in turns:
        pairing.add(turn)
    pairing.clear(old.call_ids)
    view = pairing.view()
    assert defects(view) == []
    assert len(view) == len(turns)
    results = [turn for turn in view if isinstance(turn, ResultTurn)]
    assert all(turn.content != (CLEARED_RESULT,) for turn in results[-NEWEST:])
    assert turns_tokens(view) <= turns_tokens(turns) - old.tokens + 20 * len(old.call_ids)
    assert old_results(view).call_ids == ()
