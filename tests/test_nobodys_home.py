"""The suite sees nothing that lies in the home of the person who runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.workspace import survey
from tests.fakes.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
PROBE = """
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.workspace import survey
import os


def test_nothing_is_denied(tmp_path):
    options = LaunchOptions(cwd=str(tmp_path))
    loaded = survey(options, os.environ, interactive=False).loaded
    assert not [rule for rules in loaded.named_rules.values() for rule in rules.deny]
"""


def test_a_rule_in_the_persons_home_counts_in_no_test(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for folder in (".claude", ".gatewright"):
        file = home / folder / "settings.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"permissions": {"deny": ["Bash"]}}), encoding="utf-8")
    probe = tmp_path / "test_probe.py"
    probe.write_text(PROBE, encoding="utf-8")
    suite = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.conftest"]
    where = ["-c", str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}"]
    env = {**os.environ, "HOME": str(home)}
    done = subprocess.run(
        [*suite, *where, str(probe)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        timeout=2.5 * PATIENCE,  # a whole start of pytest, while six others may start
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode()
    planted = survey(LaunchOptions(cwd=str(tmp_path)), env, interactive=False).loaded.named_rules
    assert any(rules.deny for rules in planted.values()), "the planted rule counts for the person"
