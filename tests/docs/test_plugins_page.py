"""docs/plugins.md: every example works as it stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import MODEL, served
from tests.fakes.model_server import ServerThread
from tests.fakes.plugin_trees import write

pytestmark = pytest.mark.e2e
PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
START, MARKET = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MANIFEST, LIST = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(TREE,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FRONT = "---\nname: {name}\ndescription: About {name}\n---\n\nDo it.\n"


def tree(root: Path) -> Path:
    """The plugin that the page draws, each file with what such a file says."""
    write(root / ".claude-plugin/plugin.json", MANIFEST)
    for line in TREE.splitlines()[1:]:
        path = line.split()[0]
        if path.endswith(".md"):
            name = Path(path).parent.name if path.endswith("SKILL.md") else Path(path).stem
            write(root / path, FRONT.format(name=name))
        elif path.endswith("hooks.json"):
            write(root / path, '{"hooks": {}}')
        elif path == ".mcp.json":
            write(root / path, '{"mcpServers": {}}')
        elif path.endswith("/"):
            write(root / path / "tool", "#!/bin/sh\n", program=True)
    return root


def test_one_minute(program: Program) -> None:
    done = program.shell(START)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "release-tools" in done.stdout.splitlines()[-1]


def test_the_tree_is_a_plugin_and_its_parts_have_the_names_of_the_page(program: Program) -> None:
    tree(program.project / "release-tools")
    found = program.run("plugin", "validate", "release-tools")
    assert found.returncode == 0, found.stdout + found.stderr
    with ServerThread("say: Hi.\n") as server:
        done = program.run(
            "-p", "hi", "--model", MODEL, "--output-format", "stream-json",
            "--plugin-dir", "./release-tools", "--settings", '{"outputStyle": "release-tools:dry"}',
            env=served(server),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[0])
    assert [each["name"] for each in told["plugins"]] == ["release-tools"]
    assert "release-tools:checker" in told["agents"]
    assert told["output_style"] == "release-tools:dry"
    listed = json.dumps([told["slash_commands"], told["skills"]])
    assert "notes" in listed and "publish" in listed


def test_a_marketplace_from_adding_to_uninstalling(program: Program) -> None:
    write(program.project / "our-tools/.claude-plugin/marketplace.json", LIST)
    tree(program.project / "our-tools/release-tools")
    done = program.shell(MARKET)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "is removed" in done.stdout
