"""Tests wait for facts, never for time: who sleeps nevertheless is named here with its reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.guards.sources import Source

# Where time itself is what is played or measured: file -> why. Everybody else says what they wait
# for, with tests/fakes/waiting.py.
SLEEPERS: dict[str, str] = {
    "tests/fakes/waiting.py": "looks again at what nobody announces",
    "tests/fakes/terminal.py": "a person's eyes and hands",
    "tests/fakes/model_server.py": "a server that answers late, as its script says",
    "tests/fakes/lsp_server.py": "a server that is late, or hangs, as it is told",
    "tests/fakes/narrow_server.py": "a server whose answers take their time",
    "tests/fakes/tiny_model.py": "a server that somebody starts by hand and that ends by itself",
    "tests/e2e/first_second.py": "hands that type while the program starts",
    "tests/tui/idle.py": "lets the loop come to the next timer that is due",
    "tests/tui/child.py": "a stream of so many pieces a second",
    "tests/tui/test_wire.py": "a line of so many bytes a second",
    "tests/tui/test_terminal.py": "a line of so many bytes a second",
    "tests/tools/test_web.py": "a server that trickles",
    "tests/providers/transport/test_gathered.py": "a server of so many words a second",
    "tests/agent/test_patience.py": "a server that trickles",
    "tests/tools/test_executor.py": "a tool that takes longer than it may",
    "tests/fakes/fast_server.py": "a server whose work takes its time",
    "tests/bench/mcp_calls.py": "looks at memory while something else happens",
    "tests/mcp/conformance_server.py": "a tool that says how far it is",
    "tests/bench/enter.py": "a person who stops typing before Enter",
    "tests/bench/loop.py": "a model that thinks",
    "tests/bench/sandbox.py": "a model that thinks",
    "tests/bench/tui.py": "measures what happens while nothing is done",
    "tests/bench/agent_screen.py": "measures what happens while agents work",
    "tests/bench/agent_lives.py": "counts what happens while nothing is done",
    "tests/bench/workflows.py": "counts what happens while nothing is done",
    "tests/bench/autonomy.py": "counts what happens while nothing is due",
    "tests/bench/background.py": "counts what happens while nothing is done",
    "tests/bench/acp.py": "counts what happens while nothing is done",
}
CLOCKS = {"time", "asyncio", "anyio", "trio"}


def sleeps(source: Source) -> Iterator[str]:
    if source.path in SLEEPERS:
        return
    for node in slept(source):
        yield (
            f"{source.path}:{node.lineno} sleeps: slow when all goes well, wrong on a busy machine;"
            " wait for a fact with tests/fakes/waiting.py"
        )


def slept(source: Source) -> Iterator[ast.Call]:
    """Calls that let time pass; `asyncio.sleep(0)` only lets others run."""
    bare = {
        alias.asname or alias.name
        for node in source.of(ast.ImportFrom)
        if node.module in CLOCKS
        for alias in node.names
        if alias.name == "sleep"
    }
    for node in source.of(ast.Call):
        if _is_sleep(node.func, bare) and not _is_zero(node):
            yield node


def _is_sleep(called: ast.expr, bare: set[str]) -> bool:
    match called:
        case ast.Attribute(attr="sleep", value=ast.Name(id=module)):
            return module in CLOCKS
        case ast.Name(id=name):
            return name in bare
        case _:
            return False


def _is_zero(node: ast.Call) -> bool:
    return bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
