"""Pages of docs/ that are written from the code are up to date."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.guards.sources import ROOT
from tests.pages import command_line, peer_check, settings

PAGES = {"settings": settings, "command_line": command_line, "peer_check": peer_check}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    module: ModuleType = PAGES[name]
    file = f"docs/{name.replace('_', '-')}.md"
    written = (ROOT / file).read_text(encoding="utf-8")
    assert written == module.page(), f"run: python -m tests.pages.{name} > {file}"
