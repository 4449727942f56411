"""Run mypy and pyright, and prove that they looked.

A green type check may have checked nothing: the number of files is compared with the files there
are, and a planted error must be reported by both.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("agent", "tui", "tools", "permissions", "mcp", "skills")
PLANTED = '"""Planted."""\n\nfrom __future__ import annotations\n\nwrong: int = "text"\n'


def run(cwd: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *argv], cwd=cwd, capture_output=True, text=True, check=False
    )


def expected(root: Path) -> int:
    return sum(len(list((root / folder).rglob("*.py"))) for folder in (*FOLDERS, "tests"))


def mypy(root: Path) -> tuple[int, str]:
    """Number of files checked (0 unless clean), and what it printed."""
    done = run(root, "mypy")
    clean = re.search(r"no issues found in (\d+) source files?", done.stdout)
    return int(clean[1]) if clean else 0, done.stdout + done.stderr


def pyright(root: Path) -> tuple[int, str]:
    done = run(root, "pyright", "--outputjson", "--pythonpath", sys.executable)
    report = json.loads(done.stdout)
    found = [
        f"{item['file']}:{item.get('range', {}).get('start', {}).get('line', 0) + 1}"
        f" {item['severity']}: {item['message']} ({item.get('rule', '')})"
        for item in report["generalDiagnostics"]
    ]
    clean = not report["summary"]["errorCount"] and not report["summary"]["warningCount"]
    return report["summary"]["filesAnalyzed"] if clean else 0, "\n".join(found)


def copy_with_error(target: Path) -> Path:
    """The real configuration around one module with one error."""
    shutil.copy(ROOT / "pyproject.toml", target)
    (target / "src" / "gatewright").mkdir(parents=True)
    (target / "tests").mkdir()
    (target / "tests" / "test_nothing.py").write_text("", encoding="utf-8")
    for folder in FOLDERS:
        (target / folder).mkdir()
        (target / "src" / "gatewright" / folder).symlink_to(f"../../{folder}")
    (target / "tools" / "planted.py").write_text(PLANTED, encoding="utf-8")
    return target


def judged(name: str, check: Callable[[Path], tuple[int, str]], files: int) -> tuple[bool, str]:
    """Whether it is green, and what to say of it."""
    seen, report = check(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        _, planted = check(copy_with_error(Path(folder)))
    if seen != files:
        said = f"checked {seen} of {files} files" if seen else "errors above"
        return False, f"{report}\n{name}: {said}"
    if "planted.py:5" not in planted:
        return False, f"{name}: the planted error was not reported:\n{planted}"
    return True, f"{name}: {seen} files, no errors; the planted error is reported"


def main() -> int:
    files = expected(ROOT)
    with ThreadPoolExecutor() as pool:
        both = list(pool.map(judged, ("mypy", "pyright"), (mypy, pyright), (files, files)))
    for _, said in both:
        print(said)
    return int(not all(green for green, _ in both))


if __name__ == "__main__":
    sys.exit(main())
