"""Blocks as rows: nothing wider than asked, nothing lost, colours that survive being cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatewright.tools import blocks as b
from gatewright.tui import cells
from gatewright.tui.blocks.diff import draw_split, first_lines
from gatewright.tui.blocks.highlight import highlight, language_of
from gatewright.tui.blocks.languages import ALIASES, LANGUAGES
from gatewright.tui.blocks.registry import draw
from gatewright.tui.blocks.words import Part, changed, over
from gatewright.tui.line import Line, Span, clip, flow, restyle, wrap
from gatewright.tui.transcript.draw import STEP, steps
from gatewright.tui.transcript.select import Point, copied

WIDTHS = st.integers(8, 90)
WORDS = st.lists(st.sampled_from(["a", "longer", "\u6f22\u5b57", "e\u0301", "x" * 40, " ", "\t"]))
TEXTS = WORDS.map(" ".join)
LINES = ["# Head", "- item", "  - deep", "1. one", "> quote", "| a | b |", "|---|--:|", "| 1 | 2 |"]
MORE = ["```py", "```", "text with `code` and **bold**", "", "***", "<b>html</b>", "\u6f22" * 30]
MARKDOWN = st.lists(st.sampled_from(LINES + MORE) | TEXTS, max_size=25).map("\n".join)


def plain(rows: Sequence[Line]) -> str:
    return "\n".join(row.plain for row in rows)


@given(MARKDOWN, WIDTHS)
def test_markdown_keeps_to_its_width(text: str, width: int) -> None:
    for row in draw(b.Markdown(text), width):
        assert row.width <= width, row.plain


@given(TEXTS, st.text("abc=\"'#/*`\n ", max_size=60), WIDTHS)
def test_every_block_keeps_to_its_width(text: str, code: str, width: int) -> None:
    hunk = b.Hunk(9, 9, (f" {text}", f"-{text}", f"+{code}".replace("\n", ""), f"+{text}"))
    for block in (
        b.Text(text),
        b.Code(code, "python"),
        b.Code(code, path="a.rs", first_line=99),
        b.Diff("a.py", (hunk,), 2, 1),
        b.Command(code),
        b.Output(f"{text}\n{code}", 1, 5),
        b.Todo((b.TodoItem(text),)),
        b.Image("image/png", text),
        b.Unknown("x", {"text": text}),
    ):
        for row in draw(block, width):
            assert row.width <= width, (block, row.plain)


@given(TEXTS, st.integers(1, 60))
def test_wrapped_text_is_the_same_text(text: str, width: int) -> None:
    rows = wrap((Span(text),), width)
    assert "".join(row.plain + row.end for row in rows).rstrip("\n").split() == text.split()
    assert all(row.width <= max(width, 2) for row in rows)


@given(TEXTS, st.integers(2, 60))
def test_hard_wrapped_text_is_exactly_the_same(text: str, width: int) -> None:
    text = text.expandtabs(4)
    assert "".join(row.plain for row in wrap((Span(text),), width, hard=True)) == text


@given(TEXTS, st.integers(1, 30))
@example("\u6f22\u5b57", 2)
def test_clipping(text: str, width: int) -> None:
    (row,) = wrap((Span(text),), 10_000)
    assert clip(row, width).width <= width


@given(st.text("ab \u6f22", min_size=1, max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_restyling_changes_no_text(text: str, start: int, end: int) -> None:
    (row,) = wrap((Span(text[:3]), Span(text[3:], "dim")), 1000)
    assert restyle(row, start, end, "found").plain == row.plain


CODE = st.lists(
    st.sampled_from(['x = "a"', "# note", '"""', "'''", "/* a", "b */", "`", "def f():", "1 + 2"]),
    max_size=12,
)


@pytest.mark.parametrize("language", [*LANGUAGES, "nonsense"])
@given(rows=CODE)
def test_highlighting_loses_no_text_and_depends_on_the_state_alone(
    language: str, rows: list[str]
) -> None:
    state = ""
    for row in rows:
        spans, after = highlight(row, language, state)
        assert "".join(span.text for span in spans) == row
        assert highlight(row, language, state) == (spans, after)
        state = after


@pytest.mark.parametrize(
    ("row", "language", "roles"),
    [
        ("x = 1", "python", ["text", "number"]),
        ("return 'a' # b", "python", ["keyword", "string", "comment"]),
        ("let a = 2; // b", "rust", ["keyword", "number", "comment"]),
        ("SELECT 1", "sql", ["keyword", "number"]),
        ("echo a#b # c", "bash", ["comment"]),
    ],
)
def test_colours(row: str, language: str, roles: list[str]) -> None:
    spans, _ = highlight(row, language)
    found = [span.role for span in spans]
    assert [role for role in roles if role in found] == roles


def test_languages_by_label_and_by_name() -> None:
    assert language_of("py") == language_of("src/a.py") == "python"
    assert language_of("Dockerfile") == "dockerfile"
    assert language_of("tsx") == "typescript"
    assert language_of("what") == ""
    assert set(ALIASES.values()) <= set(LANGUAGES)


def test_markdown_as_people_see_it() -> None:
    text = (
        "# Head\n\nA **bold** [link](https://example.com/x).\n\n1. one\n2. two\n   - deep\n\n> said"
    )
    assert plain(draw(b.Markdown(text), 60)).split("\n") == [
        "Head",
        "",
        "A bold link (example.com).",
        "",
        "1. one",
        "2. two",
        "   \u25e6 deep",
        "",
        "\u2502 said",
    ]


def test_things_to_do_have_boxes() -> None:
    text = "- [x] done\n- [ ] open **now**\n- [link](https://example.com)\n1. [x] first"
    assert plain(draw(b.Markdown(text), 60)).split("\n") == [
        "\u2611 done",
        "\u2610 open now",
        "\u2022 link (example.com)",
        "",
        "1. [x] first",
    ]


def test_headings_have_a_rank() -> None:
    rows = [row for row in draw(b.Markdown("# One\n\n## Two\n\n### Three"), 60) if row.plain]
    assert [row.spans[0].role for row in rows] == ["title", "title", "heading"]


def test_a_fence_has_a_bar_and_its_language_which_no_copy_has() -> None:
    rows = draw(b.Markdown("```py\nx = 1\n\ny = 2\n```"), 60)
    assert [row.plain for row in rows] == [
        "\u258f python",
        "\u258f x = 1",
        "\u258f ",
        "\u258f y = 2",
    ]
    assert copied(rows, Point(0, 0), Point(3, 80)) == "x = 1\n\ny = 2"


def test_a_long_line_of_code_goes_on_behind_a_mark_and_is_copied_as_it_was() -> None:
    source = "value = " + "  abc(1)" * 6
    rows = draw(b.Markdown(f"```py\n{source}\n```"), 30)
    assert max(row.width for row in rows) <= 30
    assert [row.plain[2:4] for row in rows[1:]] == ["va", "\u21aa ", "\u21aa "]  # its bar stays
    assert copied(rows, Point(0, 0), Point(len(rows), 80)) == source


def test_a_diff_in_a_fence_is_coloured() -> None:
    rows = draw(b.Markdown("```diff\n@@ -1 +1 @@\n-old\n+new\n same\n```"), 60)
    assert [row.spans[-1].role for row in rows[1:]] == ["accent", "error", "good", "text"]


def roles(rows: Sequence[Line], role: str) -> list[str]:
    return [span.text for row in rows for span in row.spans if span.role == role]


@pytest.mark.parametrize("show", [draw, draw_split])
def test_a_change_is_coloured_as_code_and_by_the_words_that_changed(
    show: Callable[[b.Diff, int], list[Line]],
) -> None:
    lines = (" def f(n):", "-    return n + 1  # one", "+    return n + 2  # two")
    rows = show(b.Diff("a.py", (b.Hunk(1, 1, lines),), 1, 1), 130)
    assert roles(rows, "keyword+added") == ["return"]
    assert roles(rows, "keyword") == ["def"] * (1 if show is draw else 2)
    assert roles(rows, "number+removed.word") == ["1"]
    assert roles(rows, "number+added.word") == ["2"]
    assert roles(rows, "comment+added.word") == ["two"]


def test_a_line_that_became_another_one_is_no_change_of_words() -> None:
    lines = ("-alpha beta gamma", "+one two three four", "+more")
    rows = draw(b.Diff("a.txt", (b.Hunk(1, 1, lines),), 2, 1), 60)
    assert not [span for row in rows for span in row.spans if "word" in span.role]


@given(TEXTS, TEXTS)
def test_words_that_changed_are_all_that_changed(old: str, new: str) -> None:
    gone, came = changed(old, new)

    def without(text: str, parts: Sequence[Part]) -> str:
        for part in reversed(parts):
            text = text[: part.start] + text[part.end :]
        return text

    assert not (gone or came) or without(old, gone) == without(new, came)
    for text, parts in ((old, gone), (new, came)):
        spans = over((Span(text),), "added", parts)
        assert "".join(span.text for span in spans) == text


def test_a_long_change_is_drawn_as_far_as_it_is_shown() -> None:
    lines = tuple(f"+line {n}" for n in range(5000))
    diff = b.Diff("a.py", (b.Hunk(1, 1, lines[:40]), b.Hunk(90, 90, lines[40:])), 5000, 0)
    begun, total = first_lines(diff, 31)
    assert [len(hunk.lines) for hunk in begun.hunks] == [31]
    assert total == 5000
    begun, _ = first_lines(diff, 50)
    assert [len(hunk.lines) for hunk in begun.hunks] == [40, 10]


def test_a_table_shrinks_its_widest_column() -> None:
    table = b.Table(("Name", "What"), (("short", "long " * 20),))
    rows = draw(table, 40)
    assert max(row.width for row in rows) <= 40
    assert rows[2].plain.startswith("short  long long")


def test_a_table_without_headings_has_no_rule_either() -> None:
    table = b.Table(("", ""), (("Model", "demo"), ("Mode", "default")))
    assert plain(draw(table, 40)).splitlines() == ["Model  demo   ", "Mode   default"]
    assert b.plain(table) == "Model  demo\nMode   default"


def test_old_and_new_stand_side_by_side() -> None:
    hunk = b.Hunk(1, 1, (" same", "-old", "+new", "+more"))
    rows = [row.plain.rstrip() for row in draw_split(b.Diff("a", (hunk,), 2, 1), 120)]
    assert [" ".join(row.split()) for row in rows] == [
        "1 same \u2502 1 same",
        "2 old \u2502 2 new",
        "\u2502 3 more",
    ]


def test_output_shows_what_failed() -> None:
    assert plain(draw(b.Output("", 2, 0), 40)) == "exit 2"
    assert plain(draw(b.Output("a\n[... 7 lines]\nb", 1, 7), 40)) == "a\n[... 7 lines]\nb\nexit 1"
    assert plain(draw(b.Output("", None), 40)) == "no output"


def test_copying_joins_soft_wraps_and_drops_margins() -> None:
    rows = flow("one two three four\nfive", 9)
    rows = [row._replace(spans=(Span("  "), *row.spans), gutter=2) for row in rows]
    last = len(rows) - 1
    assert copied(rows, Point(0, 0), Point(last, 80)) == "one two three four\nfive"
    assert copied(rows, Point(0, 6), Point(0, 8)) == "two"


def test_paths_keep_both_ends() -> None:
    assert cells.fit_middle("src/gatewright/tui/transcript/view.py", 20).endswith("ript/view.py")
    assert cells.fit("\u6f22\u5b57\u6f22", 4) == "\u6f22\u2026"
    assert cells.fit_middle("x" * 300_000, 20).count("\u2026") == 1


@pytest.mark.parametrize(
    ("text", "rows"),
    [("one\n", ["1  one"]), ("one", ["1  one"]), ("one\n\n", ["1  one", "2"]), ("", ["1"])],
)
def test_the_end_of_the_last_line_begins_no_further_one(text: str, rows: list[str]) -> None:
    shown = draw(b.Code(text, "text"), 40)
    assert ["".join(span.text for span in line.spans).rstrip() for line in shown] == rows


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"line {n}" for n in range(1000)),
        "\n" * 30_000,
        "x" * 20_000 + "\n" * 150 + "y",
        "\n".join("z" * (n % 300) for n in range(2000)) + "\n",
    ],
)
def test_a_long_output_is_cut_between_lines_and_nothing_of_it_is_lost(text: str) -> None:
    parts = list(steps(text))
    assert "\n".join(parts) == text
    assert all(part.count("\n") <= STEP for part in parts)


def test_columns_stand_where_their_markdown_says() -> None:
    rows = draw(
        b.Markdown("| a | b | c |\n|:--|:-:|--:|\n| left | in the middle | 1 |\n| x | y | z |"), 60
    )
    assert [row.plain.rstrip() for row in rows if "y" in row.plain] == ["x           y        z"]
