"""Blocks as plain text."""

from __future__ import annotations

import pytest

from gatewright.tools.blocks import Table, plain
from gatewright.tui.blocks.table import draw


@pytest.mark.parametrize(
    "table",
    [
        Table((), (("cell",),)),
        Table(("a", "b"), (("one",), (), ("one", "two", "cell"))),
        Table(("a",), (("x", "y"), ("x", "y", "cell"))),
        Table(("cell",), ((),)),
    ],
)
def test_a_table_whose_rows_have_any_length_loses_no_cell(table: Table) -> None:
    assert "cell" in plain(table)
    assert "cell" in "".join(span.text for line in draw(table, 40) for span in line.spans)
    assert plain(Table((), ((), ()))).strip() == ""


def test_a_long_name_does_not_push_what_it_means_off_the_line() -> None:
    long = "/permissions [allow|ask|deny [--SCOPE] RULE | remove RULE | why [N]]"
    table = Table(("Command", "What it does"), (("/help", "What you can type"), (long, "Rules")))
    assert plain(table).split("\n") == [
        "Command" + " " * 23 + "What it does",
        "/help" + " " * 25 + "What you can type",
        long,
        " " * 30 + "Rules",
    ]


def test_a_table_that_fits_keeps_its_columns() -> None:
    assert (
        plain(Table(("a", "b"), (("one", "1"), ("three", "3")))) == "a      b\none    1\nthree  3"
    )
