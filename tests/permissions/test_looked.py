"""The gate tells the tools what it saw: links that move later are refused, restricted files hidden.

With the real built-in tools on a real directory.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gatewright.permissions.gated import GatePorts, gated
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.files.fs import ReadLedger
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import Executor, JsonObject, ToolCall, ToolContext, ToolResult
from gatewright.tools.registry import BASIC, BuiltinTools
from gatewright.tools.system.processes import spawn
from tests.fakes.executor import context, executed, text_of


class Desk:
    def __init__(self, root: Path, rules: RuleTexts, mode: str = "default") -> None:
        self.root = root
        config = PolicyConfig(
            root=root, cwd=root, home=root.parent / "home", rules={"user": rules}, mode=mode
        )
        self.executor: Executor = gated([BuiltinTools(BASIC)], Policy(config), GatePorts())
        self.context: ToolContext = msgspec.structs.replace(
            context(root), ledger=ReadLedger(), spawn=spawn, ask=self.ask
        )

    async def ask(self, ask: Ask) -> Answer:
        raise AssertionError(f"nobody should be asked: {ask.title}")

    async def run(self, name: str, **input: object) -> ToolResult:
        values: JsonObject = dict(input)
        return await executed(self.executor, ToolCall("c", name, values), self.context)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in ("open.txt", ".env", "secret/plan.txt", "sub/.env.local", "sub/.env.example"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("the word\n", encoding="utf-8")
    return root


async def test_a_search_leaves_out_what_a_rule_denies_or_asks_about(root: Path) -> None:
    desk = Desk(root, RuleTexts(deny=("Read(/secret/**)",)))
    found = text_of(await desk.run("Grep", pattern="word", output_mode="files_with_matches"))
    assert "open.txt" in found
    assert ".env.example" in found
    assert "plan.txt" not in found
    assert ".env.local" not in found
    assert "/.env\n" not in f"{found}\n"
    content = text_of(await desk.run("Grep", pattern="word", output_mode="content"))
    assert "plan.txt" not in content
    assert content.count("the word") == 2
    listed = text_of(await desk.run("Glob", pattern="**/*.txt"))
    assert "open.txt" in listed
    assert "plan.txt" not in listed


async def test_what_is_granted_by_name_is_shown(root: Path) -> None:
    desk = Desk(root, RuleTexts(allow=("Read(**/.env.local)",)))
    found = text_of(await desk.run("Grep", pattern="word", output_mode="files_with_matches"))
    assert ".env.local" in found
    assert "/.env\n" not in f"{found}\n"


async def test_a_link_swapped_while_the_question_stood_is_refused(root: Path) -> None:
    outside = root.parent / "outside.txt"
    outside.write_text("precious\n", encoding="utf-8")
    inside = root / "real.txt"
    inside.write_text("draft\n", encoding="utf-8")
    link = root / "link.txt"
    link.symlink_to(inside)
    desk = Desk(root, RuleTexts())

    async def swap(ask: Ask) -> Answer:
        link.unlink()
        link.symlink_to(outside)
        return Answer(("once",))

    desk.context = msgspec.structs.replace(desk.context, ask=swap)
    desk.context.ledger.note(inside, inside.read_bytes())
    desk.context.ledger.note(outside, outside.read_bytes())
    result = await desk.run("Write", file_path=str(link), content="changed\n")
    assert not result.ok
    assert "leads to" in text_of(result)
    assert outside.read_text(encoding="utf-8") == "precious\n"
    assert inside.read_text(encoding="utf-8") == "draft\n"


@pytest.mark.parametrize("place", ["sub/..", "here", "here/sub/.."])
@pytest.mark.parametrize("mode", ["files_with_matches", "content", "count"])
async def test_no_spelling_of_the_place_shows_more(root: Path, place: str, mode: str) -> None:
    (root / "here").symlink_to(root)
    desk = Desk(root, RuleTexts(deny=("Read(/secret/**)",)))
    found = text_of(await desk.run("Grep", pattern="word", output_mode=mode, path=place))
    assert "open.txt" in found
    assert "plan.txt" not in found and ".env.local" not in found and "/.env:" not in found
    listed = text_of(await desk.run("Glob", pattern="**/*", path=place))
    assert "open.txt" in listed and "plan.txt" not in listed
