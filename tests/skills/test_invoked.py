"""What was invoked, as a fold over events: what the model still has, and what comes back."""

from __future__ import annotations

from gatewright.agent.compact.estimate import text_tokens
from gatewright.agent.extensions.skills.invoked import ALL, ONE, Invoked
from gatewright.agent.record.events import (
    AnyEvent,
    Cleared,
    Compacted,
    Envelope,
    SkillInvoked,
    ToolFinished,
    UserMessage,
)
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent

LONG = "word " * 6_000


def envelope(event: AnyEvent, agent: str = MAIN) -> Envelope:
    return Envelope(seq=1, uuid="u", parent="", timestamp=0.0, agent=agent, event=event)


def called(name: str, text: str, agent: str = MAIN, *, ok: bool = True) -> list[Envelope]:
    invoked = SkillInvoked(name=name, origin="user", path=f"/s/{name}", call_id=f"c-{name}")
    done = ToolFinished(call_id=f"c-{name}", ok=ok, content=(TextContent(text),))
    return [envelope(invoked, agent), envelope(done, agent)]


def typed(name: str, text: str) -> list[Envelope]:
    invoked = SkillInvoked(name=name, origin="user", path=f"/s/{name}")
    return [envelope(invoked), before(f'<skill name="{name}" origin="user">{text}')]


def before(text: str) -> Envelope:
    return envelope(UserMessage(content=(TextContent(text),), hidden=True))


def test_the_newest_text_of_each_comes_back_the_last_one_first() -> None:
    invoked = Invoked([*called("a", "one"), *typed("b", "two"), *called("a", "three")])
    sections = invoked.remains()
    ends = [section.splitlines()[-1].rpartition(">")[2] for section in sections]
    assert ends == ["three", "two"]
    assert sections[0].startswith("# The skill a, as it was invoked")


def test_it_comes_back_cut_and_within_a_sum() -> None:
    invoked = Invoked([each for n in range(9) for each in called(f"s{n}", LONG)])
    sections = invoked.remains()
    assert 4 <= len(sections) <= 6
    assert "The skill s8," in sections[0]
    tokens = [text_tokens(section) for section in sections]
    assert max(tokens) <= ONE + 50
    assert sum(tokens) <= ALL + 300
    assert all("[Cut here" in section for section in sections)


def test_the_model_has_it_until_a_summary_or_a_clear() -> None:
    invoked = Invoked(called("a", "one"))
    assert invoked.has(MAIN, "a", "one")
    assert not invoked.has(MAIN, "a", "two")
    assert not invoked.has("main/x", "a", "one")
    invoked.saw(envelope(Compacted(summary="s", trigger="auto", tokens_before=1)))
    assert not invoked.has(MAIN, "a", "one")
    assert invoked.remains(), "what a summary put away comes back behind it"
    invoked.saw(envelope(Cleared()))
    assert not invoked.remains()


def test_what_failed_and_what_others_invoked_does_not_come_back() -> None:
    invoked = Invoked([*called("a", "no", ok=False), *called("b", "child", "main/x")])
    assert not invoked.remains()
    assert invoked.has("main/x", "b", "child")


def test_texts_of_a_line_are_told_apart_from_each_other_and_from_what_stands_before() -> None:
    (a, a_text), (b, b_text) = typed("a", "one"), typed("b", "two")
    invoked = Invoked([a, b, before("Notice of this program: x"), a_text, b_text])
    assert [section.rpartition(">")[2] for section in invoked.remains()] == ["two", "one"]


def test_what_was_invoked_before_a_summary_comes_back_after_a_second_one() -> None:
    boundary = envelope(Compacted(summary="s", trigger="manual", tokens_before=1))
    first = Invoked([*called("a", "one"), *typed("b", "two"), boundary])
    carried = first.carried()
    resumed = Invoked([boundary, *map(envelope, carried)])  # nothing before it is read
    assert resumed.remains() == first.remains()
    assert resumed.files.keys() == first.files.keys()
    assert not resumed.has(MAIN, "a", "one"), "the model has it cut, behind the summary"
    assert resumed.carried() == carried
