"""Pages of docs/ that are written from the code are up to date."""

from __future__ import annotations

from tests.guards.sources import ROOT
from tests.pages import settings


def test_settings_page() -> None:
    written = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert written == settings.page(), "run: python -m tests.pages.settings > docs/settings.md"
