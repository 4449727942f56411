"""Folders at the top, one namespace: why `mcp/` does not hide the SDK of that name."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.guards.sources import FOLDERS, ROOT

MOST_BYTES = 1024 * 1024
FETCHED = {".whl", ".tgz", ".jar"}
INIT_REASON = (
    "a package __init__ costs imports and hides re-exports, and mcp/__init__.py or"
    " tests/mcp/__init__.py would shadow the MCP SDK: import from the module that defines the name"
)


def wrong_links(root: Path) -> list[str]:
    """The namespace directory holds exactly one link per folder and nothing else."""
    space = root / "src" / "gatewright"
    found = [
        f"src/gatewright/{entry.name} does not belong there"
        for entry in space.iterdir()
        if entry.name not in FOLDERS
    ]
    for folder in FOLDERS:
        link = space / folder
        if not link.is_symlink() or str(link.readlink()) != f"../../{folder}":
            found.append(f"src/gatewright/{folder} must be a link to ../../{folder}")
    return found


def init_files(root: Path) -> list[str]:
    return [
        path.relative_to(root).as_posix()
        for folder in (*FOLDERS, "tests", "src")
        for path in (root / folder).rglob("__init__.py")
    ]


def test_six_links() -> None:
    assert wrong_links(ROOT) == [], "imports, type checks and the wheel rely on these links"


def test_no_package_init() -> None:
    assert init_files(ROOT) == [], INIT_REASON


def test_links_are_committed_as_links() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-s", "src"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    modes = {line.split()[3]: line.split()[0] for line in listed.stdout.splitlines()}
    assert modes == {f"src/gatewright/{folder}": "120000" for folder in FOLDERS}


def test_nothing_big_is_committed() -> None:
    """Whoever clones carries it for ever; a wheel of 61 MB came in once by `git add`."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    found = [path for path in paths if path.is_file()]
    big = [str(path) for path in found if path.stat().st_size > MOST_BYTES]
    assert big == []
    fetched = [str(path) for path in found if path.suffix in FETCHED]
    assert fetched == [], "packages come from a registry at the time they are installed"


def test_the_sdk_is_not_shadowed() -> None:
    import mcp

    assert "site-packages" in str(mcp.__file__)


def test_wheel_and_sdist_name_every_folder() -> None:
    """The wheel is built from the sdist: a folder missing in either ships half a package."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    targets = build["build"]["targets"]
    assert set(FOLDERS) <= set(targets["sdist"]["only-include"])
    assert set(FOLDERS) == set(targets["wheel"]["only-include"])
    assert targets["wheel"]["sources"] == {f: f"gatewright/{f}" for f in FOLDERS}


def test_planted_faults_are_found(tmp_path: Path) -> None:
    space = tmp_path / "src" / "gatewright"
    space.mkdir(parents=True)
    for folder in FOLDERS:
        (tmp_path / folder).mkdir()
        (space / folder).symlink_to(f"../../{folder}")
    assert wrong_links(tmp_path) == []
    assert init_files(tmp_path) == []
    (space / "mcp").unlink()
    (space / "mcp").mkdir()
    (space / "extra").mkdir()
    (tmp_path / "tests" / "mcp").mkdir(parents=True)
    (tmp_path / "tests" / "mcp" / "__init__.py").touch()
    assert len(wrong_links(tmp_path)) == 2
    assert init_files(tmp_path) == ["tests/mcp/__init__.py"]
