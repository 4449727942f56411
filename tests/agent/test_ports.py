"""Ports that no system uses yet do what they say: each has a throwaway consumer here."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gatewright.agent import build
from gatewright.agent.extensions.contribution import Contribution, Root
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.listed import EXTENSIONS
from gatewright.agent.record.events import UserMessage
from gatewright.agent.session.children import AgentSpec
from gatewright.tools.classify import Opinion, Pending
from gatewright.tools.protocol import TextContent, ToolCall
from tests.fakes.house import house
from tests.permissions.composed import WITHIN, desk

HERE = "tests.agent.test_ports"
FIRST = SECOND = Extension(name="nobody", plug=lambda host: asyncio.sleep(0, Contribution()))


class Plugged:
    """The first brings a directory and a classifier; the second finds what others brought."""

    def __init__(self) -> None:
        self.host: Host | None = None
        self.found: tuple[Root, ...] = ()
        self.judged: list[Pending] = []

    async def classify(self, pending: Pending) -> Opinion:
        self.judged.append(pending)
        return Opinion(word="deny", text="Not that.")

    async def first(self, host: Host) -> Contribution:
        root = Root(Path("/plugins/a"), "plugin")
        return Contribution(roots=(root,), classify=self.classify)

    async def second(self, host: Host) -> Contribution:
        self.host, self.found = host, tuple(host.roots)
        return Contribution()


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Plugged:
    made = Plugged()
    monkeypatch.setitem(globals(), "FIRST", Extension(name="first", plug=made.first))
    monkeypatch.setitem(globals(), "SECOND", Extension(name="second", plug=made.second))
    paths = (f"{HERE}:FIRST", f"{HERE}:SECOND")
    monkeypatch.setattr(build, "EXTENSIONS", (*EXTENSIONS, *paths))
    return made


async def test_who_comes_later_finds_directories_and_calls_through_the_gate(
    tmp_path: Path, plugged: Plugged
) -> None:
    denied = {"permissions": {"deny": ["Write"]}}
    async with desk(tmp_path, ["say: hello"], settings=denied) as made:
        assert plugged.found == (Root(Path("/plugins/a"), "plugin"),)
        assert plugged.host is not None
        write = ToolCall("x1", "Write", {"file_path": "a", "content": "x"})
        result = await plugged.host.session.call(write)
        assert not result.ok and not (made.project / "a").exists()
        assert (await made.decided("x1")).behavior == "deny"
        assert plugged.host.tools.find("Read") is not None
        assert plugged.host.session.mode == made.session.mode
        assert plugged.judged == [], "what is denied is nobody's to judge"


async def test_a_notice_reaches_the_agent_it_is_for_and_says_whose_words_it_is() -> None:
    async with house("say: hello\n---\n" * 4) as made:
        made.session.submit("hi")
        await made.session.idle()
        run = made.session.spawn(AgentSpec(name="a1", kind="general", prompt="look"))
        async with asyncio.timeout(WITHIN):
            await run.idle()
        made.session.tell("The slot has come.", agent=run.path, source="schedule")
        async with asyncio.timeout(WITHIN):
            await run.idle()
        heard = made.session.subscribe(agent=run.path).waiting()
        said = [e.event for e in heard if isinstance(e.event, UserMessage)]
        assert [(m.source, m.content) for m in said] == [
            ("agent", (TextContent("look"),)),
            ("schedule", (TextContent("The slot has come."),)),
        ]
        assert "The slot has come." not in str(made.talk.view())
        own = made.session.subscribe().waiting()
        typed = [e.event.source for e in own if isinstance(e.event, UserMessage)]
        assert typed == [""], "the person's own"


async def test_a_classifier_that_was_brought_answers_what_its_mode_leaves_to_it(
    tmp_path: Path, plugged: Plugged
) -> None:
    script = ('call[c1]: Bash {"command": "make deploy"}', "say: done")
    async with desk(tmp_path, script) as made:
        assert made.session.set_mode("auto") == "auto"
        made.session.submit("go")
        await made.ended()
        assert [pending.call.id for pending in plugged.judged] == ["c1"]
        assert (await made.decided("c1")).behavior == "deny"


async def test_without_a_classifier_its_mode_is_not_offered(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: hello"]) as made:
        with pytest.raises(ValueError, match="Auto mode is not available"):
            made.session.set_mode("auto")
