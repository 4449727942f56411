"""The pictures of the pages show the screen as it is."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tests.tui.svg import normal

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("agents", "screen", "workflows")


@pytest.mark.parametrize("page", PAGES)
async def test_the_pictures_are_those_of_today(page: str) -> None:
    script = f"{page}_pictures"
    spec = importlib.util.spec_from_file_location(script, DOCS / f"{script}.py")
    assert spec is not None
    assert spec.loader is not None
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    for name, svg in (await pictures.taken()).items():
        kept = (DOCS / name).read_text(encoding="utf-8")
        assert normal(kept) == normal(svg), f"{name} is due: python docs/{script}.py"


@pytest.mark.parametrize("page", PAGES)
def test_the_page_shows_them_all(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    shown = set(re.findall(rf"\(({page}-\w+\.svg)\)", text))
    assert shown == {path.name for path in DOCS.glob(f"{page}-*.svg")}
