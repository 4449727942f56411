"""docs/coming-from.md: every name on it that is ours does what the page says."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.launch.argv import parse
from gatewright.agent.launch.cli import application, named_by
from gatewright.agent.launch.flags import BY_NAME
from gatewright.agent.launch.ignored_flags import IDLE, idle_flags
from gatewright.agent.launch.main import is_tool
from gatewright.agent.settings.paths import claude_home, own_home
from gatewright.agent.settings.schema import Settings
from gatewright.agent.subcommands.names import SUBCOMMANDS
from gatewright.permissions.modes import canonical
from gatewright.tui.keys import KEYS
from tests.agents.definition_files import definition
from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread
from tests.guards.sources import ROOT
from tests.pages.command_line import listed

PAGE = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
PRESETS = (ROOT / "agent" / "providers" / "presets.json").read_text(encoding="utf-8")
PRODUCTS = ("Claude Code", "Codex", "opencode", "aider")
MISSING, READ, UNREAD, VARIABLES = (
    "Not there yet",
    "Files that count where they lie",
    "Files that do not count",
    "Variables",
)
SPAN = re.compile(r"`([^`]+)`")
BRING = re.compile(r"write `@([^`]+)` into `([^`]+)`")
SPAN_OF_FILE = re.compile(r"\.(md|json)$")
SETTINGS = re.compile(r"settings(\.local)?\.json")
HOMES: Mapping[str, Callable[[Mapping[str, str]], Path]] = {
    "~/.claude": claude_home,
    "~/.gatewright": own_home,
}
ASKS_FOR: Mapping[str, str] = {}
AGENTS = "/agents/"
DENIED = ("WebFetch", "WebSearch", "Glob", "Grep", "NotebookEdit", "TodoWrite")


def rows(title: str) -> list[list[str]]:
    """The cells of a section's table."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


def spans(title: str, column: int) -> list[str]:
    return [span for row in rows(title) for span in SPAN.findall(row[column])]


def ours() -> Iterator[str]:
    """What stands in the columns about this program, but what the other tests here plant."""
    for product in PRODUCTS:
        yield from spans(product, 1)
        yield from spans(product, 2)
    yield from spans(READ, 1)
    yield from (span for row in rows(UNREAD) for span in SPAN.findall(BRING.sub("", row[2])))
    yield from spans(VARIABLES, 1)


def keys() -> set[str]:
    return {key for each in KEYS for key in each.keys.split(", ")}


def test_the_page_knows_its_four_agents_and_has_rows_for_each() -> None:
    assert re.findall(r"^## (.+)$", PAGE, re.MULTILINE) == [
        MISSING, READ, UNREAD, VARIABLES, *PRODUCTS,
    ]  # fmt: skip
    for title in (READ, UNREAD, VARIABLES, *PRODUCTS):
        assert len(rows(title)) >= 5
    assert all(len(row) == 3 for product in PRODUCTS for row in rows(product))


@pytest.mark.parametrize("span", dict.fromkeys(ours()))
def test_every_name_of_ours_is_there(span: str) -> None:
    if span in keys():
        return
    if span in HOMES:
        assert HOMES[span]({"HOME": "/h"}) == Path(span.replace("~", "/h"))
    elif span.startswith("-"):
        check_flags(span)
    elif span.startswith("/"):
        check_command(*span[1:].split())
    elif span.startswith("agent "):
        check_subcommand(*span.split()[1:])
    elif SPAN_OF_FILE.search(span):
        assert span in spans(READ, 0)
    else:
        assert span in Settings.__struct_encode_fields__


def check_flags(line: str) -> None:
    words = shlex.split(line)
    for word in words:
        if word.startswith("-"):
            assert not BY_NAME[word].hidden
    alone = BY_NAME[words[0]].kind not in {"switch", "optional"} and len(words) == 1
    options = parse([*words, "x"] if alone else words, is_tool)
    assert bool(options.prompt) == ("-p" in words and len(words) > 1)
    assert not list(idle_flags(options))
    assert not options.mode or canonical(options.mode)


def check_command(name: str, *words: str) -> None:
    (command,) = [each for each in listed() if name == each.name]
    if words:
        assert command.args
    if name == "mode":
        assert all(map(canonical, words))


def check_subcommand(name: str, *words: str) -> None:
    assert name in SUBCOMMANDS
    _, path = named_by(application(name), [name, *words])
    given = [word for word in words if word not in path]
    assert all(word.isupper() or (name, word) == ("import", "claude") for word in given)


def test_what_is_left_out_is_a_flag_and_said() -> None:
    named = {span for span in spans(MISSING, 1) if span.startswith("-")}
    assert named == set(ASKS_FOR)
    for flag, value in ASKS_FOR.items():
        assert BY_NAME[flag].field in IDLE
        (said,) = idle_flags(parse([flag, value]))
        assert f"{flag} is left out" in said


def plant(program: Program, name: str, text: str) -> None:
    path = program.home / name[2:] if name.startswith("~/") else program.project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def asked(program: Program, *flags: str, **env: str) -> dict[str, Any]:
    """The first request that the real program sends to a model."""
    with ServerThread("say: ok\n", repeat=True) as server:
        known = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url, **env}
        done = program.run("-p", "hi", *flags, env=known)
        assert done.returncode == 0, done.stderr
        return server.bodies[0]


def test_every_link_leads_to_a_page() -> None:
    links = re.findall(r"\]\(([^)]+)\)", PAGE)
    assert links
    assert [link for link in links if not (ROOT / "docs" / link).is_file()] == []


def marker(name: str) -> str:
    return f"<<marker of {name}>>"


@pytest.mark.e2e
def test_instructions_that_count_are_in_the_request(program: Program) -> None:
    names = [each for each in spans(READ, 0) if each.endswith(".md") and AGENTS not in each]
    for name in names:
        plant(program, name, marker(name))
    sent = json.dumps(asked(program))
    assert [name for name in names if marker(name) not in sent] == []


@pytest.mark.e2e
def test_definitions_that_count_are_types_of_agents(program: Program) -> None:
    names = [name for name in spans(READ, 0) if AGENTS in name]
    for number, name in enumerate(names):
        plant(program, name, definition(f"type-{number}"))
    found = program.run("agents", "list").stdout
    assert [n for n in range(len(names)) if f"type-{n}  " not in found] == []


@pytest.mark.e2e
def test_a_rule_with_paths_waits_for_such_a_file(program: Program) -> None:
    plant(program, ".claude/rules/x.md", "---\npaths: '*.zig'\n---\n" + marker("x"))
    assert marker("x") not in json.dumps(asked(program))


@pytest.mark.e2e
def test_what_settings_files_deny_is_not_offered(program: Program) -> None:
    names = [name for name in spans(READ, 0) if SETTINGS.search(name)]
    offered = {tool["name"] for tool in asked(program)["tools"]}
    assert offered >= set(DENIED)
    for name, tool in zip(names, DENIED, strict=True):
        denied = {"permissions": {"deny": [tool]}, "smallModel": "demo"}
        plant(program, name, json.dumps(denied))
    left = {tool["name"] for tool in asked(program)["tools"]}
    assert offered - left == set(DENIED)


@pytest.mark.e2e
def test_what_does_not_count_is_not_in_the_request(program: Program) -> None:
    names = [*spans(UNREAD, 0), *(span for span in spans(MISSING, 1) if span.endswith(".md"))]
    assert len(names) >= 8
    for name in names:
        plant(program, name, marker(name))
    sent = json.dumps(asked(program, "--trust"))
    assert [name for name in names if marker(name) in sent] == []


@pytest.mark.e2e
def test_a_line_brings_what_does_not_count(program: Program) -> None:
    lines = BRING.findall("\n".join(row[2] for row in rows(UNREAD)))
    assert len(lines) == 4
    written: dict[str, str] = {}
    for target, into in lines:
        plant(program, target, marker(target))
        written[into] = f"{written.get(into, '')}@{target}\n"
    for into, text in written.items():
        plant(program, into, text)
    sent = json.dumps(asked(program))
    assert [target for target, _ in lines if marker(target) not in sent] == []


@pytest.mark.e2e
def test_hooks_run_wherever_settings_count(program: Program) -> None:
    files = [each for each in spans(READ, 0) if SETTINGS.search(each)]
    for number, name in enumerate(files):
        ran = program.home / f"ran{number}"
        hook = {"hooks": [{"type": "command", "command": f"touch {shlex.quote(str(ran))}"}]}
        document = {"smallModel": "demo", "hooks": {"UserPromptSubmit": [hook]}}
        plant(program, name, json.dumps(document))
    asked(program, "--trust")
    assert files and len(list(program.home.glob("ran*"))) == len(files)


def counts_tokens(program: Program) -> None:
    assert asked(program, CLAUDE_CODE_MAX_OUTPUT_TOKENS="1234")["max_tokens"] == 1234


def counts_claude_home(program: Program) -> None:
    plant(program, "~/other/CLAUDE.md", marker("other"))
    body = asked(program, CLAUDE_CONFIG_DIR=str(program.home / "other"))
    assert marker("other") in json.dumps(body)


def counts_own_home(program: Program) -> None:
    plant(program, "~/other/AGENTS.md", marker("own"))
    plant(program, "~/other/settings.json", '{"smallModel": "demo"}')
    body = asked(program, GATEWRIGHT_HOME=str(program.home / "other"))
    assert marker("own") in json.dumps(body)


def counts_model(program: Program) -> None:
    env = {"ANTHROPIC_MODEL": "claude-a", "GATEWRIGHT_MODEL": "anthropic/claude-b"}
    assert asked(program, **env)["model"] == "claude-b"


def counts_their_model(program: Program) -> None:
    assert asked(program, ANTHROPIC_MODEL="claude-a")["model"] == "claude-a"


PROOFS: Mapping[str, Callable[[Program], None]] = {
    "ANTHROPIC_MODEL": counts_their_model,
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS": counts_tokens,
    "CLAUDE_CONFIG_DIR": counts_claude_home,
    "GATEWRIGHT_HOME": counts_own_home,
    "GATEWRIGHT_MODEL": counts_model,
}


@pytest.mark.e2e
@pytest.mark.parametrize("name", spans(VARIABLES, 0))
def test_every_variable_is_honoured(program: Program, name: str) -> None:
    if name in PROOFS:
        PROOFS[name](program)
    else:
        assert f'"{name}"' in PRESETS
