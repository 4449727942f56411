"""The program in a real terminal, talking to a model of ours: what every story starts with."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.e2e.program import NO_ENV, Program
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.terminal import SIGN, Terminal
from tests.fakes.waiting import PATIENCE

MODEL = "anthropic/claude-sonnet-5-5"
LEAVING = ("/exit", "/clear", "/resume", "/fork")


def served(server: ModelServer) -> dict[str, str]:
    """The environment of a person whose key works at this server."""
    return {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "secret"}


@contextmanager
def screen(
    program: Program,
    script: str,
    *arguments: str,
    env: Mapping[str, str] = NO_ENV,
    rows: int = 30,
    columns: int = 100,
) -> Generator[tuple[Terminal, ModelServer]]:
    with ServerThread(script) as server:
        full = {**served(server), **env}
        with program.terminal(
            "--model", MODEL, *arguments, env=full, rows=rows, columns=columns
        ) as terminal:
            terminal.wait_for("Ask anything", MODEL if columns >= 80 else "default")
            yield terminal, server


def say(terminal: Terminal, text: str) -> None:
    """Type as a person does: look at the prompt, then press Enter.

    Who leaves a session waits for the turn's end, which comes after its last words: they would be
    asked first.
    """
    if text.startswith(LEAVING):
        terminal.wait_gone("esc to stop")
    terminal.send(text)
    terminal.wait_for(f"{SIGN} {text}")
    terminal.press("enter")
    terminal.wait_gone(f"{SIGN} {text}")


def choose(terminal: Terminal, key: str, *, until: str = "", within: float = PATIENCE) -> None:
    """Read the question, then press a key; again if need be, as what comes at once is a draft."""
    if not until:
        terminal.press_until_gone(key, "Yes, once", within)
        return
    what = f"{key} does not lead to {until!r}"
    terminal.press_until(key, lambda screen: until in screen, what, within)


def leave(terminal: Terminal) -> str:
    """Quit by command; returns the session's id from the farewell."""
    say(terminal, "/exit")
    assert terminal.wait_exit() == 0
    found = re.search(r"agent --resume (\S+)", terminal.wait_for("agent --resume"))
    assert found, terminal.text()
    return found[1]


def texts(body: Mapping[str, Any], role: str = "user") -> list[str]:
    """Every text that a request says in this role, tool results among them."""
    found: list[str] = []
    for message in body["messages"]:
        if message["role"] == role:
            found += _texts(message["content"])
    return found


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    found: list[str] = []
    for block in content:
        found += [block["text"]] if "text" in block else _texts(block.get("content", ""))
    return found
