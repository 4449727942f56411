"""The pictures of docs/screen.md show the screen as it is."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from tests.tui.svg import normal

DOCS = Path(__file__).parents[2] / "docs"


async def test_the_pictures_are_those_of_today() -> None:
    spec = importlib.util.spec_from_file_location("screen_pictures", DOCS / "screen_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    for name, svg in (await pictures.taken()).items():
        kept = (DOCS / name).read_text(encoding="utf-8")
        assert normal(kept) == normal(svg), f"{name} is due: python docs/screen_pictures.py"


def test_the_page_shows_them_all() -> None:
    page = (DOCS / "screen.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\((screen-\w+\.svg)\)", page))
    assert shown == {path.name for path in DOCS.glob("screen-*.svg")}
