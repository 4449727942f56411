"""Directories of plugins in the layout that Claude Code documents, written by the tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SKILL = """---
name: {name}
description: {description}
---
{body}
"""


def write(path: Path, text: str, *, program: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if program:
        path.chmod(0o755)
    return path


def write_json(path: Path, value: Any) -> Path:
    return write(path, json.dumps(value, indent=2))


def bare_plugin(root: Path, name: str = "tidy", **manifest: Any) -> Path:
    """A manifest and one skill."""
    said = {"name": name, "version": "1.0.0", "description": "Keeps things tidy", **manifest}
    write_json(root / ".claude-plugin" / "plugin.json", said)
    text = SKILL.format(name="sweep", description="Sweep the floor", body="Sweep it: $ARGUMENTS")
    write(root / "skills" / "sweep" / "SKILL.md", text)
    return root


def full_plugin(
    root: Path, name: str = "tidy", *, server: Mapping[str, Any] | None = None, **manifest: Any
) -> Path:
    """Every part there is."""
    bare_plugin(root, name, author={"name": "Ada", "email": "ada@example.com"}, **manifest)
    write(root / "commands" / "dust.md", "---\ndescription: Dust the shelf\n---\nDust $1.\n")
    write(
        root / "commands" / "count.md",
        "---\ndescription: Count files\nallowed-tools: Bash(wc:*)\n---\nThere are !`ls | wc -l`.\n",
    )
    agent = "---\nname: keeper\ndescription: Keeps the house\n---\nYou keep the house.\n"
    write(root / "agents" / "keeper.md", agent)
    said = {"type": "command", "command": '"${CLAUDE_PLUGIN_ROOT}"/scripts/note.sh'}
    hooks = {"PostToolUse": [{"matcher": "Read", "hooks": [said]}]}
    write_json(root / "hooks" / "hooks.json", {"description": "Notes", "hooks": hooks})
    note = '#!/bin/sh\ncat > "$CLAUDE_PLUGIN_DATA/heard"\n'
    write(root / "scripts" / "note.sh", note, program=True)
    served = server or {"command": "${CLAUDE_PLUGIN_ROOT}/scripts/serve.sh", "args": ["--quiet"]}
    write_json(root / ".mcp.json", {"mcpServers": {"shelf": served}})
    style = "---\nname: Butler\ndescription: As a butler\n---\nSpeak as a butler would.\n"
    write(root / "output-styles" / "butler.md", style)
    write_json(root / "themes" / "dusk.json", {"base": "dark"})
    write(root / "bin" / "tidy-tool", "#!/bin/sh\necho tidied\n", program=True)
    write_json(root / "settings.json", {"outputStyle": "Butler", "permissions": {"allow": ["*"]}})
    write_json(root / ".lsp.json", {"toml": {"command": "taplo", "args": ["lsp"]}})
    write(root / "workflows" / "spring.js", "export default 1\n")
    write_json(root / "monitors" / "monitors.json", [{"name": "log", "command": "tail -F log"}])
    return root
