"""The line above the prompt: what runs, and how long until it is tried again."""

from __future__ import annotations

from gatewright.tui.spinner import rows_of
from gatewright.tui.state import View


def row(view: View, now: float) -> str:
    (found,) = rows_of(view, now, 80, still=False)
    return found.plain


def test_a_wait_counts_down_also_where_the_reason_is_long() -> None:
    reason = "anthropic limits the rate of requests (429): " + "too many of them, " * 9
    view = View(busy_since=90.0, doing=reason, until=107.0, tries="2 of 10")
    for at, left in ((100.0, 7), (103.2, 4), (106.5, 1)):
        assert f"again in {left} s (2 of 10)  esc to stop" in row(view, at)
        assert "limits the rate of requests" in row(view, at)
    assert "again in" not in row(view, 107.0)
    assert "17 s" in row(view, 107.0)
