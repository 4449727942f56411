"""Where servers that others wrote are: of PyPI by our extra `servers`, of npm in a folder of ours.

Those of npm are fetched once, into a folder that GATEWRIGHT_TEST_NPM names, or one below the folder
for temporary files that belongs to us alone. Where that cannot be, tests are skipped and say why.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

OURS = dict(os.environ)  # before tests hide what is ours: npm has settings of its own
PACKAGES = {
    "mcp-server-everything": "@modelcontextprotocol/server-everything@2026.8.31",
    "mcp-server-memory": "@modelcontextprotocol/server-memory@2026.8.31",
    "mcp-server-filesystem": "@modelcontextprotocol/server-filesystem@2026.8.31",
    "mcp-server-sequential-thinking": "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
}
PATIENCE = 180.0


def of_python(name: str) -> str:
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip(f"{name} is not installed: pip install -e .[servers]")
    return found


def of_npm(name: str) -> str:
    folder, why = installed()
    found = folder / "node_modules" / ".bin" / name
    if why or not found.exists():
        pytest.skip(why or f"{name} is not in {folder}")
    if shutil.which("node", path=OURS.get("PATH")) is None:
        pytest.skip("there is no node to run it")
    return str(found)


@cache
def installed() -> tuple[Path, str]:
    """The folder they are in, and why there is none of them."""
    if named := OURS.get("GATEWRIGHT_TEST_NPM"):
        return Path(named), ""
    folder = Path(tempfile.gettempdir()) / f"gatewright-npm-servers-{os.getuid()}"
    npm = shutil.which("npm", path=OURS.get("PATH"))
    if npm is None:
        return folder, "there is no npm"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid() or folder.stat().st_mode & 0o077:
        return folder, f"{folder} is not ours alone"
    wanted = "\n".join(PACKAGES.values())
    done = folder / "installed"
    with (folder / "lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if done.exists() and done.read_text(encoding="utf-8") == wanted:
            return folder, ""
        argv = [npm, "install", "--no-audit", "--no-fund", *PACKAGES.values()]
        try:
            ran = subprocess.run(
                argv, cwd=folder, env=OURS, capture_output=True, text=True, timeout=PATIENCE,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return folder, "npm did not end in time"
        if ran.returncode:
            return folder, f"npm could not fetch them: {ran.stderr[-300:]}"
        done.write_text(wanted, encoding="utf-8")
    return folder, ""
