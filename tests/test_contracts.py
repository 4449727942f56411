"""The import contracts in pyproject.toml hold, cover every folder, and can fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.guards.sources import FOLDERS, ROOT

# The installed project is taken off the path, so that only the given tree is looked at.
LINT = """
import sys
sys.path[:] = [{src!r}, *(p for p in sys.path if p != {own!r})]
from importlinter.cli import lint_imports
sys.exit(lint_imports(no_cache=True))
"""


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    code = LINT.format(src=str(root / "src"), own=str(ROOT / "src"))
    return subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )


def contracts() -> dict[str, dict[str, Any]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract for contract in project["tool"]["importlinter"]["contracts"]}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The project's folders and contracts, to plant violations in."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "src" / "gatewright").mkdir(parents=True)
    for folder in FOLDERS:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignore)
        (tmp_path / "src" / "gatewright" / folder).symlink_to(f"../../{folder}")
    return tmp_path


def test_contracts_hold() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_contracts_name_every_folder_with_code() -> None:
    """import-linter refuses names of empty folders, so each is added with its first module."""
    filled = {f"gatewright.{f}" for f in FOLDERS if any((ROOT / f).rglob("*.py"))}
    table = contracts()
    layers = " ".join(table["layers"]["layers"])
    assert {name for name in filled if name not in layers} == set()
    assert filled - {"gatewright.mcp"} == set(table["sdk"]["source_modules"])
    lower = filled - {"gatewright.agent", "gatewright.tui"}
    assert lower == set(table["below"]["source_modules"])
    injected = filled & {"gatewright.permissions", "gatewright.mcp", "gatewright.tui"}
    assert injected == set(table["injected"]["forbidden_modules"])


PLANTED = [
    ("tools/planted.py", "import gatewright.agent.record.hub", "layers"),
    ("permissions/planted.py", "import gatewright.agent.record.hub", "layers"),
    ("agent/planted.py", "import gatewright.tui.planted", "layers"),
    ("tools/planted.py", "import mcp", "sdk"),
    ("agent/planted.py", "import gatewright.permissions.planted", "injected"),
    ("tools/planted.py", "import textual", "below"),
    ("tui/planted.py", "import httpx2", "screen"),
    ("agent/planted.py", "import rich", "core"),
]


def test_planted_imports_break_their_contracts(copy: Path) -> None:
    for folder in FOLDERS:
        lines = [line for path, line, _ in PLANTED if path == f"{folder}/planted.py"]
        (copy / folder / "planted.py").write_text("\n".join((*lines, "")), encoding="utf-8")
    said = " ".join(lint(copy).stdout.split())
    for _, _, contract in PLANTED:
        assert f"{contracts()[contract]['name']} BROKEN" in said


@pytest.mark.proof
@pytest.mark.parametrize(("path", "line", "contract"), PLANTED)
def test_a_planted_import_breaks_its_contract(
    copy: Path, path: str, line: str, contract: str
) -> None:
    for other in ("tui", "permissions"):
        (copy / other / "planted.py").write_text("", encoding="utf-8")
    (copy / path).write_text(f"{line}\n", encoding="utf-8")
    done = lint(copy)
    assert done.returncode == 1
    assert f"{contracts()[contract]['name']} BROKEN" in " ".join(done.stdout.split())
