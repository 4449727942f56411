"""/skills and /output-style in a real terminal: looked at, switched by a key, kept."""

from __future__ import annotations

import json

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import say, screen

pytestmark = pytest.mark.e2e


def test_a_key_takes_a_skill_through_its_ways(program: Program) -> None:
    with screen(program, "say: x\n", columns=120) as (terminal, _):
        say(terminal, "/skills")
        terminal.wait_for("Skills", "code-review", "built-in", "space on, by name")
        terminal.look(1.5)  # a key before the panel was seen is a draft
        terminal.send(" ")
        terminal.wait_for("name-only")
        settings = program.home / ".gatewright" / "settings.json"
        said = json.loads(settings.read_text(encoding="utf-8"))
        assert said["skillOverrides"] == {"code-review": "name-only"}
        terminal.press("enter")
        terminal.wait_for("Review a change", "Fix the range")


def test_a_search_finds_words_of_a_sentence_and_no_letters_strewn_in_it(program: Program) -> None:
    with screen(program, "say: x\n", columns=120) as (terminal, _):
        say(terminal, "/skills")
        terminal.wait_for("code-review", "git-workflow", "space on, by name")
        terminal.look(1.5)  # a key before the panel was seen is a draft
        terminal.send("/")
        terminal.send("tdd")
        terminal.wait_for("/tdd", "\u25b8 built-in")
        terminal.wait_gone("git-workflow")


def test_a_style_is_picked_and_counts_from_a_clear_on(program: Program) -> None:
    script = "say: one\n---\nsay: two\n"
    with screen(program, script, columns=120) as (terminal, server):
        say(terminal, "hello")
        terminal.wait_for("one")
        say(terminal, "/output-style")
        terminal.wait_for("Output style", "concise", "explanatory", "in use")
        terminal.look(1.5)  # a key before the panel was seen is a draft
        terminal.press("down")
        terminal.press("enter")
        terminal.wait_for("outputStyle", "/clear")
        say(terminal, "/clear")
        terminal.wait_for("A new conversation")
        say(terminal, "again")
        terminal.wait_for("two")
        first, second = (json.dumps(body["system"]) for body in server.bodies[:2])
    assert "# Style" not in first
    assert "# Style: concise" in second
