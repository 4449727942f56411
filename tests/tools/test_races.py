"""A short run of `races.py`: nothing outside is reached while links are exchanged."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gatewright.tools.files.disk import DISK
from gatewright.tools.search import rg
from gatewright.tools.search.ground import Ground
from gatewright.tools.search.query import Query
from gatewright.tools.textfiles import FileMoved
from tests.fakes.toolbox import Toolbox
from tests.tools.races import GIVE, race


async def test_no_call_reaches_outside_while_links_are_exchanged(tmp_path: Path) -> None:
    ended = await race(tmp_path, rounds=450, seconds=8)
    for tool in GIVE:
        assert ended[f"{tool} gave"], ended


async def test_a_directory_that_became_a_link_meanwhile_is_not_believed(
    box: Toolbox, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    for place in (outside, box.root / "sub"):
        place.mkdir()
        (place / "f.txt").write_text("needle\n", encoding="utf-8")
    with Ground(box.root, box.ctx) as ground:
        (box.root / "sub").rename(box.root / "away")
        (box.root / "sub").symlink_to(outside)
        found = ground.look([b"./sub/f.txt", b"./away/f.txt", b"./../outside/f.txt"])
        assert list(found) == [b"./away/f.txt"] and found[b"./away/f.txt"].moved
        opened = ground.open([b"./sub/f.txt", b"./away/f.txt"])
        assert list(opened) == [b"./away/f.txt"]
        opened[b"./away/f.txt"].close()


async def test_what_is_put_back_in_time_is_searched_itself(box: Toolbox) -> None:
    """The names are the same before and after; only the time of the directory tells."""
    (box.root / "sub").mkdir()
    (box.root / "sub/f.txt").write_text("needle inside\n", encoding="utf-8")
    query = Query(mode="content", pattern="needle")
    with Ground(box.root, box.ctx) as ground:
        found = await rg.search(query, ground, box.ctx, rg.Bounds(5))
        assert ground.look([b"./sub/f.txt"])[b"./sub/f.txt"].moved  # it was made just now
    assert found.lines == {b"./sub/f.txt": [b"1:needle inside"]}


async def test_a_directory_that_stands_still_is_searched_once(box: Toolbox) -> None:
    (box.root / "f.txt").write_text("needle\n", encoding="utf-8")
    with Ground(box.root, box.ctx) as ground:
        ground.since += 10_000_000_000
        assert not ground.look([b"./f.txt"])[b"./f.txt"].moved


@pytest.mark.parametrize("kind", ["another file", "a fifo", "a link", "nothing"])
def test_a_file_of_two_names_is_written_only_while_it_is_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """It is written in place: what was put under its name after the last look stays as it is."""
    file, twin, outside = (tmp_path / name for name in ("file", "twin", "outside"))
    for each in (file, outside):
        each.write_text("same\n", encoding="utf-8")
    os.link(file, twin)
    looked = os.access

    def exchanged(*given: Any, **more: Any) -> bool:
        answer = looked(*given, **more)
        file.unlink(missing_ok=True)
        match kind:
            case "another file":
                os.link(outside, file)
            case "a fifo":
                os.mkfifo(file)
            case "a link":
                file.symlink_to(outside)
            case _:
                pass
        return answer

    monkeypatch.setattr(os, "access", exchanged)
    with pytest.raises(FileMoved):
        DISK.swap(file, b"same\n", b"changed\n")
    assert {path.read_text(encoding="utf-8") for path in (outside, twin)} == {"same\n"}
