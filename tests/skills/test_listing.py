"""The list of skills in the prompt: what fits, what is shortened and what is left out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.skills.shown.finding import found
from gatewright.skills.shown.listing import Entry, budget, cut, listed
from gatewright.skills.shown.usage import DAY, NEVER, Use, kept, rank, read_uses, used
from tests.skills.trees import Tree


def entries(count: int, length: int = 200) -> list[Entry]:
    return [Entry(f"skill-{n:03}", f"{n} " + "x" * length, rank=float(n)) for n in range(count)]


def lines(text: str) -> dict[str, str]:
    pairs = (line.removeprefix("- ").partition(": ") for line in text.split("\n"))
    return {name: text for name, _, text in pairs}


def test_what_fits_is_whole_and_by_name() -> None:
    made = listed([Entry("b", "Does b."), Entry("a", ""), Entry("c", "Does c.")], 1_000)
    assert made.text == "- a\n- b: Does b.\n- c: Does c." and made.missing == 0


def test_texts_are_shortened_to_one_length_but_ours() -> None:
    ours = Entry("ours", "y" * 400, whole=True)
    short = Entry("short", "Short.")
    made = listed([*entries(20), ours, short], 3_000)
    found = lines(made.text)
    assert len(made.text.encode()) <= 3_000
    assert found["ours"] == "y" * 400 and found["short"] == "Short."
    cut_ones = {len(text) for name, text in found.items() if name.startswith("skill")}
    assert len(cut_ones) == 1 and 60 <= cut_ones.pop() < 200


def test_then_what_is_used_least_keeps_its_name_alone() -> None:
    made = listed(entries(40), 2_000)
    found = lines(made.text)
    assert len(found) == 40 and made.missing == 0 and len(made.text.encode()) <= 2_000
    with_text = [name for name, text in found.items() if text]
    assert with_text == [f"skill-{n:03}" for n in range(40 - len(with_text), 40)] and with_text


def test_then_a_count_is_left_of_the_rest() -> None:
    made = listed(entries(400), 2_000)
    assert len(made.text.encode()) <= 2_000
    assert made.missing > 200 and f"({made.missing} more: ToolSearch" in made.text
    assert "- skill-399" in made.text and "- skill-000" not in made.text


@pytest.mark.parametrize(
    ("window", "percent", "tokens"),
    [
        (0, 1.0, 2_000),
        (200_000, 1.0, 2_000),
        (32_000, 1.0, 500),
        (1_000_000, 1.0, 4_000),
        (200_000, 0.1, 500),
        (200_000, 2.0, 4_000),
        (100_000, 1.5, 1_500),
    ],
)
def test_the_budget(window: int, percent: float, tokens: int) -> None:
    assert budget(window, percent) == tokens * 4


@given(
    st.lists(
        st.builds(
            Entry,
            st.text("abc-é日", min_size=1, max_size=30),
            st.text(max_size=300).map(lambda text: " ".join(text.split())),
            st.floats(0, 9),
        ),
        max_size=60,
        unique_by=lambda entry: entry.name,
    ),
    st.integers(500, 5_000),
)
def test_it_never_takes_more_than_its_room(found: list[Entry], room: int) -> None:
    made = listed(found, room)
    assert len(made.text.encode()) <= room
    assert made == listed(list(reversed(found)), room)  # the same bytes, in whatever order


@given(st.text(max_size=80), st.integers(4, 90))
def test_a_cut_text_is_no_longer(text: str, longest: int) -> None:
    assert len(cut(text, longest).encode()) <= longest


def test_rank_falls_by_half_in_a_week_and_to_a_tenth() -> None:
    use = Use(8, 1_000.0)
    assert rank(use, 1_000.0) == 8
    assert rank(use, 1_000.0 + 7 * DAY) == pytest.approx(4)
    assert rank(use, 1_000.0 + 700 * DAY) == pytest.approx(0.8)
    assert rank(NEVER, 5.0) == 0


def test_a_skill_counts_once_a_minute() -> None:
    use = used(NEVER, 5.0)
    assert use == Use(1, 5.0)
    assert used(use, 64.0) == use and used(use, 65.0) == Use(2, 65.0)


def test_uses_are_capped_and_a_broken_file_says_nothing(tmp_path: Path) -> None:
    many = {f"s{n}": Use(n, 0.0) for n in range(1_200)}
    assert len(kept(many, 0.0)) == 1_000 and "s1199" in kept(many, 0.0)
    assert read_uses(tmp_path / "none.json") == {}
    (tmp_path / "bad.json").write_text('{"a": 3}', encoding="utf-8")
    assert read_uses(tmp_path / "bad.json") == {}


@dataclass
class Case:
    query: str
    names: list[str]


@pytest.mark.parametrize(
    "case",
    [
        Case("pdf", ["pdf-forms", "reports"]),
        Case("fill in a form", ["pdf-forms"]),
        Case("weekly", ["reports"]),
        Case("+weekly pdf", ["reports"]),
        Case("表格", ["tables"]),
        Case("nothing of it", []),
        Case("", []),
    ],
)
def test_searching(tmp_path: Path, case: Case) -> None:
    tree = Tree(tmp_path)
    tree.skill(".claude/skills", "pdf-forms", "description: Fills in forms.\nwhen_to_use: Forms.")
    tree.skill(".claude/skills", "reports", "description: Weekly numbers as a PDF file.")
    tree.skill(".claude/skills", "tables", "description: 处理表格文件")
    assert [s.name for s in found(tree.book().now().every, case.query)] == case.names
