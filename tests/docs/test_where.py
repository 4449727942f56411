"""The ten files that people look for are where CONTRIBUTING says."""

from __future__ import annotations

import re

from tests.guards.sources import ROOT


def test_what_is_looked_for_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## Where is it?")[2].partition("\n## ")[0]
    named = re.findall(r"`([\w/]+\.(?:py|json))`", table)
    assert len(named) >= 10
    assert [name for name in named if not (ROOT / name).is_file()] == []
