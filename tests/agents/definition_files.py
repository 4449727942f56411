"""Definitions of agents in the shapes that people have in `.claude/agents`; the texts are ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gatewright.agent.agents.definitions.book import KindBook
from gatewright.agent.agents.definitions.given import of_entries
from gatewright.agent.agents.definitions.places import Ground
from gatewright.agent.extensions.agent_types.session_kinds import unknown_tool
from gatewright.agent.settings.paths import Places
from gatewright.tools.access import Where

# The name, the file as it is written, what is read of it.
CLAUDE_SHAPES: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    (
        "short",
        "---\nname: test-runner\ndescription: Runs tests and repairs what fails. Use proactively.\n"
        "tools: Read, Edit, Bash, Grep, Glob\n---\n\nYou run tests.\n",
        {"tools": ("Read", "Edit", "Bash", "Grep", "Glob"), "prompt": "You run tests."},
    ),
    (
        "no tools",
        "---\nname: helper\ndescription: Helps.\n---\nYou help.",
        {"tools": None, "model": "", "mode": ""},
    ),
    (
        "generated, with examples in one line",
        "---\nname: api-docs-writer\ndescription: Use this agent when endpoints need words. "
        r"Examples:\n\n<example>\nContext: The person added a route.\nuser: \"I added /users\"\n"
        r"assistant: \"I'll use the Agent tool to start api-docs-writer\"\n<commentary>It is new: "
        "so write.</commentary>\\n</example>\nmodel: sonnet\ncolor: green\n---\n\nYou write.\n",
        {"model": "sonnet", "color": "green", "name": "api-docs-writer"},
    ),
    (
        "examples over lines",
        "---\nname: reviewer\ndescription: Use this agent to review code. For example:\n\n"
        '<example>\nContext: a change\nuser: "Look at it"\nassistant: "I start it"\n</example>\n'
        "tools: Read, Grep\nmodel: inherit\n---\nYou review.",
        {"tools": ("Read", "Grep"), "model": ""},
    ),
    (
        "lists",
        "---\nname: auditor\ndescription: >-\n  Looks for\n  holes\ntools:\n  - Read\n"
        "  - Bash(git:*)\n  - mcp__github__get_issue\n"
        "disallowedTools: [Write, Edit]\nskills:\n  - owasp\n---\nx",
        {
            "description": "Looks for holes",
            "tools": ("Read", "Bash(git:*)", "mcp__github__get_issue"),
            "denied": ("Write", "Edit"),
            "skills": ("owasp",),
        },
    ),
    (
        "all fields",
        "---\nname: deployer\ndescription: Deploys.\ntools: '*'\nmodel: opus\neffort: high\n"
        "permissionMode: acceptEdits\nmaxTurns: 30\nbackground: true\nisolation: worktree\n"
        "memory: project\ncolor: purple\nmcpServers:\n  - github\n  - local:\n      type: stdio\n"
        "      command: npx\n      args: [-y, thing]\nhooks:\n  PreToolUse:\n    - matcher: Bash\n"
        "      hooks:\n        - type: command\n          command: ./check.sh\n"
        "initialPrompt: Begin.\nomitMemory: yes\n---\nYou deploy.",
        {
            "tools": None,
            "model": "opus",
            "effort": "high",
            "mode": "acceptEdits",
            "max_turns": 30,
            "background": True,
            "isolation": "worktree",
            "memory": "project",
            "servers": ("github",),
            "inline_servers": {
                "local": {"type": "stdio", "command": "npx", "args": ["-y", "thing"]}
            },
            "initial_prompt": "Begin.",
            "omit_memory": True,
        },
    ),
    (
        "may start only some",
        "---\nname: lead\ndescription: Leads.\ntools: Agent(worker, reviewer), Read, Task\n---\nx",
        {"tools": ("Agent", "Read"), "starts": None},
    ),
    (
        "may start only some, and nothing else said",
        "---\nname: lead\ndescription: Leads.\ntools: Task(worker, reviewer), Read\n---\nx",
        {"tools": ("Agent", "Read"), "starts": ("worker", "reviewer")},
    ),
    (
        "windows",
        "\ufeff---\r\nname: crlf\r\ndescription: It: works\r\ntools: Read\r\n---\r\n\r\nText\r\n",
        {"tools": ("Read",), "description": "It: works", "prompt": "Text"},
    ),
    (
        "star without quotes",
        "---\nname: all\ndescription: All.\ntools: *\n---\nx",
        {"tools": None},
    ),
    (
        "kebab",
        "---\nname: kebab\ndescription: d\ndisallowed-tools: Bash\nmax-turns: 5\n---\nx",
        {"denied": ("Bash",), "max_turns": 5},
    ),
    (
        "capitals",
        "---\nname: Senior Reviewer\ndescription: d\nmodel: Inherit\n---\nx",
        {"name": "Senior Reviewer", "model": ""},
    ),
    (
        "keys of somebody else",
        "---\nname: other\ndescription: d\nversion: 1.2\nauthor: me\ntags: [a, b]\n---\nx",
        {"name": "other"},
    ),
    (
        "no description",
        "---\nname: bare\n---\nDoes a thing.\n\nMore.",
        {"description": "Does a thing."},
    ),
    ("no text", "---\nname: empty\ndescription: d\n---\n", {"prompt": ""}),
    ("a number", "---\nname: 007\ndescription: d\n---\nx", {"name": "007"}),
    (
        "follows its parent",
        "---\nname: follows\ndescription: d\npermissionMode: ignore\nmodel:\n---\nx",
        {"mode": "", "model": ""},
    ),
    ("no tool at all", "---\nname: thinker\ndescription: d\ntools: []\n---\nx", {"tools": ()}),
)  # fmt: skip


@dataclass
class Here:
    """A machine with a project on it."""

    at: Path
    trusted: bool = True
    cwd: str = ""

    @property
    def project(self) -> Path:
        return self.at / "project"

    @property
    def home(self) -> Path:
        return self.at / "home"

    def ground(self) -> Ground:
        places = Places(
            home=self.home / ".gatewright", root=self.project, managed=self.at / "managed"
        )
        cwd = self.project / self.cwd
        where = Where(cwd=cwd, root=self.project, home=self.home)
        env = {"HOME": str(self.home)}
        return Ground(places=places, where=where, env=env, trusted=self.trusted)

    def book(self, agents: Mapping[str, Any] | None = None) -> KindBook:
        return KindBook(self.ground, given=lambda: of_entries(agents or {}), unknown=unknown_tool)

    def write(self, where: str, text: str) -> Path:
        path = self.at / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path


def definition(name: str, more: str = "", text: str = "You work.") -> str:
    extra = f"{more}\n" if more else ""
    return f"---\nname: {name}\ndescription: About {name}.\n{extra}---\n\n{text}\n"
