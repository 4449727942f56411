"""A flag either does something or is not offered, and then says what it leaves out."""

from __future__ import annotations

import re

import pytest
from msgspec import structs

from gatewright.agent.launch.argv import parse
from gatewright.agent.launch.flags import FLAGS
from gatewright.agent.launch.help_text import usage
from gatewright.agent.launch.ignored_flags import IDLE, idle_flags
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.layers.flag_values import from_flags
from gatewright.agent.subcommands.completing import answer
from gatewright.agent.subcommands.completion import SCRIPTS, Shell
from tests.guards.sources import own_sources

SDK = "permission_prompt_tool"  # stdio and MCP tools work, others are said
ASKED_BY_CLIENTS = [
    ["--include-hook-events"],
    ["--betas", ""],
    ["--thinking-display", "summarized"],
    ["--permission-prompt-tool", "stdio"],
    ["-p", "--permission-prompt-tool", "mcp__a__b"],
]
LEFT_OUT = [
    (["--betas", "context-1m"], "--betas is left out"),
    (["--task-budget", "1"], "--task-budget is left out"),
    (["--thinking-display", "omitted"], "--thinking-display is left out"),
    (["--permission-prompt-tool", "other"], "is stdio, or an MCP tool"),
]


def used() -> set[str]:
    """The options that something reads."""
    texts = [source.text for source in own_sources()]
    return {name for text in texts for name in re.findall(r"\b_?options\.([a-z_]+)\b", text)}


def test_every_other_flag_is_read_somewhere() -> None:
    fields = {field.name for field in structs.fields(LaunchOptions)}
    assert fields - used() - IDLE.keys() == set()


def test_idle_flags_are_read_by_nobody() -> None:
    assert not (IDLE.keys() - {SDK}) & used()


def test_idle_flags_are_offered_nowhere() -> None:
    page = usage(100)
    offered = answer("zsh", ["--"])
    for flag in FLAGS:
        if flag.field in IDLE:
            assert flag.hidden
            assert not any(f"{name} " in page or f"{name}\t" in offered for name in flag.names)
        elif not flag.hidden:
            assert f"{flag.names[0]}\t" in offered or not flag.names[0].startswith("--")
    assert "__complete" in SCRIPTS[Shell.BASH]


@pytest.mark.parametrize("arguments", ASKED_BY_CLIENTS, ids=" ".join)
def test_what_asks_for_nothing_is_taken_without_a_word(arguments: list[str]) -> None:
    assert list(idle_flags(parse(arguments))) == []


@pytest.mark.parametrize(("arguments", "text"), LEFT_OUT)
def test_what_is_left_out_is_one_sentence(arguments: list[str], text: str) -> None:
    (told,) = idle_flags(parse(arguments))
    assert text in told


@pytest.mark.parametrize(
    ("arguments", "effort"),
    [
        ([], None),
        (["--max-thinking-tokens", "0"], "none"),
        (["--max-thinking-tokens", "2047"], "none"),
        (["--max-thinking-tokens", "8192"], "medium"),
        (["--max-thinking-tokens", "32000"], "max"),
        (["--thinking", "disabled"], "none"),
        (["--thinking", "adaptive", "--max-thinking-tokens", "20000"], "high"),
        (["--effort", "low", "--max-thinking-tokens", "20000"], "low"),
    ],
)
def test_how_much_a_model_thinks(arguments: list[str], effort: str | None) -> None:
    assert from_flags(parse(arguments), {}).get("effort") == effort
