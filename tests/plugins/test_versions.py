"""Which version a range means, and which of two is the later one."""

from __future__ import annotations

import pytest

from gatewright.agent.plugins.sources.versions import best, newer, only_patch

THERE = [
    "0.1.0", "0.1.5", "0.2.0", "0.0.3", "0.0.4", "1.0.0-rc.1", "1.0.0", "1.2.3", "1.2.10", "1.3.0",
    "2.0.0-beta.2", "2.0.0-beta.10", "2.0.0", "2.1.0-alpha", "nonsense",
]  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("1.2.3", "1.2.3"),
        ("=1.2.3", "1.2.3"),
        ("v1.2.3", "1.2.3"),
        ("^1.0.0", "1.3.0"),
        ("^1", "1.3.0"),
        ("~1.2.0", "1.2.10"),
        ("~1.2", "1.2.10"),
        ("~1", "1.3.0"),
        ("1.2", "1.2.10"),
        ("1.x", "1.3.0"),
        ("1.2.*", "1.2.10"),
        ("*", "2.0.0"),
        ("", "2.0.0"),
        ("^0.1.0", "0.1.5"),
        ("^0.0.3", "0.0.3"),
        ("^0.0", "0.0.4"),
        (">=1.0.0 <1.3.0", "1.2.10"),
        (">= 1.0.0 < 1.3.0", "1.2.10"),
        (">1.2.3 <=1.2.10", "1.2.10"),
        (">1 <3", "2.0.0"),
        (">1.2", "2.0.0"),
        ("<=1.2", "1.2.10"),
        ("<1", "0.2.0"),
        ("1.0.0 - 1.2.9", "1.2.3"),
        ("^3 || ~0.1", "0.1.5"),
        ("^2.0.0-beta.1", "2.0.0"),
        ("2.0.0-beta.2 - 2.0.0-beta.99", "2.0.0-beta.10"),
        ("^3", ""),
        ("main", ""),
        ("../x", ""),
        ("9" * 500, ""),
    ],
)
def test_a_range(wanted: str, found: str) -> None:
    assert best(wanted, THERE) == found


def test_an_order() -> None:
    rising = ["1.0.0-1", "1.0.0-a", "1.0.0-a.2", "1.0.0-a.10", "1.0.0", "1.0.1", "1.10.0", "2.0.0"]
    for at, one in enumerate(rising):
        for other in rising[:at]:
            assert newer(one, other)
            assert not newer(other, one)
    assert not newer("1.0.0", "1.0.0")
    assert not newer("main", "1.0.0")


def test_only_a_patch() -> None:
    assert only_patch("1.2.3", "1.2.4")
    for old, new in (("1.2.3", "1.3.0"), ("1.2.3", "1.2.3"), ("1.2.3", "1.2.4-a"), ("a", "b")):
        assert not only_patch(old, new)
