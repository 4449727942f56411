"""The kinds of agents that are always there; their prompts are files beside this one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from gatewright.agent.agents.kind import DEFAULT_KIND, AgentKind

_LOOKING = ("Bash", "Glob", "Grep", "Read", "WebFetch")

NAMES = frozenset((DEFAULT_KIND, "Explore", "Plan", "verification"))


@cache
def builtin_kinds() -> tuple[AgentKind, ...]:
    """In the order of their names."""
    return (
        AgentKind(
            name="Explore",
            description=(
                "Finds things in a code base, reading only. Say how thorough: quick, medium, very."
            ),
            prompt=_prompt("explore"),
            tools=_LOOKING,
            mode="plan",
            prefers_small=True,
            omit_memory=True,
            omit_git=True,
            omit_id=True,
            color="cyan",
        ),
        AgentKind(
            name="Plan",
            description=("Works out how to make a change, reading only: steps, files, risks."),
            prompt=_prompt("plan"),
            tools=_LOOKING,
            mode="plan",
            omit_memory=True,
            omit_git=True,
            omit_id=True,
            color="blue",
        ),
        AgentKind(
            name=DEFAULT_KIND,
            description="Does a task of several steps, with every tool.",
            prompt=_prompt("general-purpose"),
        ),
        AgentKind(
            name="verification",
            description=(
                "Tries to break what was done, changing nothing: pass, fail or partial. Give it the"
                " task, files and checks."
            ),
            prompt=_prompt("verification"),
            tools=_LOOKING,
            color="yellow",
        ),
    )


def _prompt(name: str) -> str:
    return (Path(__file__).parent / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()
