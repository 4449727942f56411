"""Rows of the menu: what is cut keeps what tells one from another."""

from __future__ import annotations

import pytest

from gatewright.tui.prompt.menu import Choice, choice_row


@pytest.mark.parametrize(
    ("label", "begins", "ends"),
    [
        ("/mcp__everything__args-prompt city [state]", "/mcp__", "args-prompt"),
        ("/mcp__a__b city", "/mcp__a__b", "city"),
        ("/permissions [a very long list of words]", "/permissions ", "\u2026"),
        ("a/very/long/folder/with/a/file.md", "a/very", "file.md"),
    ],
)
def test_a_label_that_is_too_long_keeps_its_best(label: str, begins: str, ends: str) -> None:
    row = choice_row(Choice(label, label, "about"), 24, 60, selected=False)
    shown = row.spans[1].text.strip()
    assert len(shown) <= 24
    assert shown.startswith(begins)
    assert shown.endswith(ends)
