"""Grep and Glob against ripgrep itself."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gatewright.tools.search import grep, rg
from gatewright.tools.search.ground import Ground
from gatewright.tools.search.query import Query
from tests.fakes.toolbox import Toolbox, text

RG = rg.locate(Path("/nonexistent"))  # the one the product starts
WORDS = ("alpha", "beta", "needle", "Needle", "gamma()", "x = 1", "", "naïve", "needle needle")


def plant(root: Path, files: dict[str, str | bytes]) -> None:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)


def grown(root: Path, seed: int) -> None:
    """A tree with ignore files on several levels, hidden files and binaries."""
    pick = random.Random(seed)
    files: dict[str, str | bytes] = {
        ".git/HEAD": "ref: needle",
        ".git/info/exclude": "excluded.txt\n",
        ".gitignore": "*.log\n/build/\n!keep.log\nnode_modules\n**/gen/*.py\n# note\n\n",
        "src/.gitignore": "local*\n!local_keep.py\n",
        "src/.ignore": "*.tmp\n",
        "src/deep/.gitignore": "!*.log\n",
        ".hidden/needle.txt": "needle\n",
        "binary.dat": b"needle\0needle\n",
        "utf16.txt": "needle here\nno\n".encode("utf-16"),
        "latin.txt": b"needle caf\xe9\n",
        "crlf.txt": b"one\r\nneedle\r\ntwo\r\n",
        "noend.txt": "alpha\nneedle",
        "long.txt": "a" * 700 + "needle\nneedle" + "b" * 700 + "\n",
        "excluded.txt": "needle\n",
        "empty.txt": "",
    }
    places = ("", "src/", "src/deep/", "build/", "lib/build/", "node_modules/x/", "gen/", "a/gen/")
    names = ("m.py", "n.ts", "o.log", "keep.log", "local1.py", "local_keep.py", "p.tmp", "q.md")
    for place in places:
        for name in names:
            lines = [pick.choice(WORDS) for _ in range(pick.randint(0, 30))]
            files[place + name] = "\n".join(lines) + "\n"
    plant(root, files)


def plain_rg(root: Path, *arguments: str) -> list[str]:
    command = [RG, "--no-config", "--hidden", "--no-messages", "--sort=path", *arguments]
    command += ["--glob=!.git", "--glob=!.hg", "--glob=!.svn"]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    return done.stdout.decode(errors="replace").splitlines()


async def test_without_ripgrep_it_is_said_what_to_install(
    box: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rg, "_bundled", lambda: "")
    box.set(env={**box.ctx.env, "PATH": "/nonexistent"})
    for said in (await box.refused("Grep", pattern="a"), await box.refused("Glob", pattern="*")):
        assert "no ripgrep" in said and "installs ripgrep 14 or newer" in said


@pytest.mark.parametrize("configured", [False, True])
async def test_the_persons_own_ignore_file_counts(box: Toolbox, configured: bool) -> None:
    home = box.ctx.where.home
    plant(box.root, {".git/HEAD": "x", "a.mine": "needle\n", "b.txt": "needle\n"})
    if configured:
        plant(home, {".gitconfig": "[core]\n\texcludesFile = ~/ignored\n", "ignored": "*.mine\n"})
    else:
        plant(home, {".config/git/ignore": "*.mine\n"})
    assert await box.said("Grep", pattern="needle") == "b.txt"


async def test_content_is_what_ripgrep_prints_in_path_order(box: Toolbox) -> None:
    grown(box.root, 7)
    said = await box.said("Grep", pattern="needle", output_mode="content", head_limit=0)
    columns = ["--max-columns=500", "--max-columns-preview"]
    assert said.splitlines() == plain_rg(box.root, "-n", *columns, "needle")


async def test_context_lines_keep_their_marks(box: Toolbox) -> None:
    plant(box.root, {"a.txt": "1\n2\nhit\n4\n5\n6\n7\nhit\n9\n", "b.txt": "hit\n"})
    said = await box.said("Grep", pattern="hit", output_mode="content", **{"-C": 1})
    assert said.splitlines() == plain_rg(box.root, "-n", "-C1", "hit")
    assert "a.txt-2-2" in said


async def test_counts_are_ripgreps(box: Toolbox) -> None:
    grown(box.root, 8)
    said = await box.said("Grep", pattern="needle", output_mode="count", **{"-i": True})
    assert said.splitlines() == plain_rg(box.root, "-c", "-i", "needle")


async def test_files_come_newest_first(box: Toolbox) -> None:
    plant(box.root, dict.fromkeys(("old.txt", "new.txt", "mid.txt"), "needle"))
    for age, name in enumerate(("new.txt", "mid.txt", "old.txt")):
        os.utime(box.root / name, (1_000_000 - age, 1_000_000 - age))
    assert await box.said("Grep", pattern="needle") == "new.txt\nmid.txt\nold.txt"
    assert await box.said("Glob", pattern="*.txt") == "new.txt\nmid.txt\nold.txt"


async def test_glob_is_what_ripgrep_lists(box: Toolbox) -> None:
    grown(box.root, 9)
    for pattern in ("**/*.py", "src/**", "*.{ts,md}", ".hidden/*", "./src/*.py"):
        said = await box.said("Glob", pattern=pattern)
        expected = plain_rg(box.root, "--files", "-g", pattern.removeprefix("./"))
        assert sorted(said.splitlines()) == sorted(expected), pattern


async def test_glob_takes_absolute_and_parent_patterns(box: Toolbox) -> None:
    plant(box.root, {"sub/a.py": "", "b.py": ""})
    absolute = f"{box.root}/**/*.py"
    facts = await box.facts("Glob", pattern=absolute)
    assert facts.access.reads == (box.root,)
    assert sorted((await box.said("Glob", pattern=absolute)).splitlines()) == ["b.py", "sub/a.py"]
    facts = await box.facts("Glob", pattern="../*.py", path="sub")
    assert facts.access.reads == (box.root / "sub" / "..",)
    assert (await box.said("Glob", pattern="../*.py", path="sub")) == "sub/../b.py"


async def test_glob_shows_the_newest_hundred(box: Toolbox) -> None:
    plant(box.root, {f"f{i:03}.txt": "" for i in range(150)})
    result = await box.call("Glob", pattern="*.txt")
    assert result.data["numFiles"] == 100
    assert "[the newest 100 of 150]" in text(result)


async def test_denied_files_are_left_out(box: Toolbox) -> None:
    plant(box.root, {"open.txt": "needle\n", "secret.txt": "needle\n"})

    def readable(path: str) -> bool:
        return not path.endswith("/secret.txt")

    box.set(readable=readable)
    for mode in ("content", "count", "files_with_matches"):
        said = await box.said("Grep", pattern="needle", output_mode=mode)
        assert "open.txt" in said and "secret" not in said
    assert await box.said("Glob", pattern="*.txt") == "open.txt"


async def test_pages_of_content_follow_each_other(box: Toolbox) -> None:
    plant(box.root, {"a.txt": "".join(f"hit {i}\n" for i in range(700))})
    first = await box.said("Grep", pattern="hit", output_mode="content")
    assert "a.txt:250:hit 249" in first and "go on with offset=250" in first
    second = await box.said("Grep", pattern="hit", output_mode="content", offset=690)
    assert second.splitlines()[0] == "a.txt:691:hit 690" and len(second.splitlines()) == 10


async def test_pages_join_to_the_whole(box: Toolbox) -> None:
    grown(box.root, 3)
    for more in ({"-C": 1}, {}):
        ask = {"pattern": "needle", "output_mode": "content", **more}
        whole = (await box.said("Grep", **ask, head_limit=0)).splitlines()
        pages: list[str] = []
        while len(pages) < len(whole):
            page = await box.said("Grep", **ask, head_limit=7, offset=len(pages))
            pages += page.partition("\n[")[0].splitlines()
        assert pages == whole


async def test_plenty_of_hits_stop_early_and_stay_ordered(box: Toolbox) -> None:
    line = "hit " + "x" * 200 + "\n"
    plant(box.root, {f"d{i}/f.txt": line * 3000 for i in range(10)})
    said = await box.said("Grep", pattern="hit", output_mode="content", head_limit=5)
    assert [row.partition(":")[0] for row in said.splitlines()[:5]] == ["d0/f.txt"] * 5
    assert "there are more" in said


@pytest.mark.skipif(sys.platform != "linux", reason="only there a process that runs is bounded")
@pytest.mark.parametrize("name", [".gitignore", ".ignore", "src/.rgignore"])
async def test_an_endless_ignore_file_takes_no_more_memory_than_a_search_may(
    box: Toolbox, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(rg, "MEMORY", 256 * 1024**2)
    (box.root / ".git").mkdir(exist_ok=True)
    plant(box.root, {"a.txt": "needle", "src/b.txt": "needle"})
    (box.root / name).symlink_to("/dev/zero")
    for tool, about in (("Grep", "needle"), ("Glob", "**/*.txt")):
        said = await box.said(tool, pattern=about)
        assert "b.txt" in said
        assert f"{name} is a character device, so no ignore file was heeded" in said


@pytest.mark.parametrize("name", [".gitignore", ".rgignore", ".git/info/exclude"])
async def test_a_pipe_for_an_ignore_file_holds_no_search_up(box: Toolbox, name: str) -> None:
    plant(box.root, {"a.txt": "needle", ".git/info/x": ""})
    os.mkfifo(box.root / name)
    for tool, about in (("Grep", "needle"), ("Glob", "**/*.txt")):
        said = await box.said(tool, pattern=about)
        assert "a.txt" in said
        assert f"{name} is a FIFO, so no ignore file was heeded" in said
        assert "stopped" not in said


async def test_one_below_is_found_once_it_held_a_search_up(
    box: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(box.root, {"a.txt": "needle", "src/b.txt": "needle"})
    os.mkfifo(box.root / "src" / ".ignore")
    monkeypatch.setattr(grep, "SECONDS", 1)
    said = await box.said("Grep", pattern="needle")
    assert "src/b.txt" in said
    assert "src/.ignore is a FIFO" in said


async def test_an_ignore_file_that_leads_nowhere_is_an_empty_one(box: Toolbox) -> None:
    plant(box.root, {"a.txt": "needle", "b.txt": "needle", ".ignore": "b.txt"})
    (box.root / ".rgignore").symlink_to("/dev/null")
    said = await box.said("Grep", pattern="needle", output_mode="files_with_matches")
    assert said.splitlines() == ["a.txt"]


async def test_a_search_out_of_time_gives_whole_lines(box: Toolbox) -> None:
    plant(box.root, {f"d{i}/f.txt": "needle one\n" * 20_000 for i in range(40)})
    with Ground(box.root, box.ctx) as ground:
        query = Query(mode="content", pattern="needle")
        started = time.monotonic()
        found = await rg.search(query, ground, box.ctx, rg.Bounds(0.01, 1 << 30))
    assert found.cut == "the search was stopped after 0 s"
    whole = {b"%d:needle one" % number for number in range(1, 20_001)}
    assert all(line in whole for lines in found.lines.values() for line in lines)
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("mode", ["files_with_matches", "content", "count"])
async def test_what_is_no_regular_file_is_refused_at_once(box: Toolbox, mode: str) -> None:
    os.mkfifo(box.root / "pipe")
    assert "FIFO" in await box.refused("Grep", pattern="a", path="pipe", output_mode=mode)


async def test_a_wrong_pattern_or_type_is_explained(box: Toolbox) -> None:
    assert "unclosed group" in await box.refused("Grep", pattern="a(b")
    assert "nonsense" in await box.refused("Grep", pattern="a", type="nonsense")
    assert "does not exist" in await box.refused("Grep", pattern="a", path="nowhere")
    assert "does not exist" in await box.refused("Glob", pattern="a", path="nowhere")


async def test_nothing_found_is_no_failure(box: Toolbox) -> None:
    assert await box.said("Grep", pattern="nothing") == "No matches."
    assert await box.said("Glob", pattern="*.nothing") == "No file matches."


async def test_a_pattern_that_looks_like_an_option_is_a_pattern(box: Toolbox) -> None:
    plant(box.root, {"a.txt": "--pre=evil\n", "-dash.txt": "x\n"})
    said = await box.said("Grep", pattern="--pre=evil", output_mode="content")
    assert said == "a.txt:1:--pre=evil"
    assert "-dash.txt:1" in await box.said(
        "Grep", pattern="x", path="-dash.txt", output_mode="content"
    )
    assert await box.said("Glob", pattern="!*.txt") == "No file matches."


def test_a_program_of_the_workspace_is_never_ripgrep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rg, "_bundled", lambda: "")
    inside = tmp_path / "project" / "bin"
    outside = tmp_path / "tools"
    for place, version in ((inside, 15), (outside, 15)):
        place.mkdir(parents=True)
        fake = place / "rg"
        fake.write_text(f"#!/bin/sh\necho ripgrep {version}.0.0\n", encoding="utf-8")
        fake.chmod(0o755)
    workspace = tmp_path / "project"
    assert rg.locate(workspace, f"{inside}:relative:{outside}") == str(outside / "rg")
    assert rg.locate(workspace, str(inside)) == ""
    assert rg.locate(tmp_path / "other", str(inside)) == str(inside / "rg")


def test_an_old_ripgrep_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rg, "_bundled", lambda: "")
    fake = tmp_path / "rg"
    fake.write_text("#!/bin/sh\necho ripgrep 13.0.0\n", encoding="utf-8")
    fake.chmod(0o755)
    assert rg.locate(tmp_path / "project", str(tmp_path)) == ""


async def test_the_persons_ripgrep_configuration_runs_nothing(box: Toolbox, tmp_path: Path) -> None:
    config = tmp_path / "ripgreprc"
    config.write_text("--pre=/bin/false\n", encoding="utf-8")
    plant(box.root, {"a.txt": "needle\n"})
    box.set(env={**box.ctx.env, "RIPGREP_CONFIG_PATH": str(config)})
    assert await box.said("Grep", pattern="needle") == "a.txt"
