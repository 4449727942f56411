"""Text that somebody wrote to hurt is looked through once: an expression that looks again and again
at the same blanks would hold up the whole program, whatever thread it is in."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gatewright.agent.text.redact import Redactor
from gatewright.tools.files import match
from gatewright.tools.inert import inert
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.gitfiles import settings_of
from gatewright.tools.web.search_services import duckduckgo_hits

MANY = 60_000
Work = Callable[[str], object]


def edited(text: str) -> None:
    with pytest.raises(ToolFailure):
        match.find(text, "foo bar", "baz", every=False)


CASES: dict[str, tuple[Work, str]] = {
    "a line before one that was written over": (inert, "\r\r" + "a" * MANY + "\n"),
    "blanks in a file to be changed": (edited, " " * MANY + "x\n"),
    "tabs at its end": (edited, "x" + "\t " * MANY + "x"),
    "beginnings of a token": (Redactor({}).text, "-eyJ" * (MANY // 2)),
    "beginnings of a key": (Redactor({}).text, "-----BEGIN PRIVATE KEY-----" * (MANY // 6)),
    "a link without an end": (duckduckgo_hits, '<a class="' * MANY),
    "a result without an end": (duckduckgo_hits, '<a class="result__a">' * MANY),
    "a snippet without an end": (
        duckduckgo_hits,
        '<a class="result__a" href="https://x.example/"></a>'
        + '<a class="result__snippet">' * MANY,
    ),
    "a title of beginnings": (
        duckduckgo_hits,
        '<a class="result__a" href="https://x.example/">' + "<" * MANY + "</a>",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_text_is_looked_through_once(name: str) -> None:
    work, text = CASES[name]
    began = time.process_time()
    work(text)
    assert time.process_time() - began < 3


def test_a_repository_is_looked_at_in_no_time_whatever_its_settings_hold(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(
        "[user]\n\tname = a" + " " * 250_000 + "b\n[core]\n\tx = y \t# z\n", encoding="utf-8"
    )
    began = time.process_time()
    assert settings_of(file)["core.x"] == "y"
    assert time.process_time() - began < 3


def test_what_was_written_over_is_gone_and_nothing_else() -> None:
    assert inert("10%\r50%\r100%\ndone\r\nold\rnew\r\n\x1b[1mx") == "100%\ndone\nnew\nx"
