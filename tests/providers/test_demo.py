"""The demo against results as the real tools give them."""

from __future__ import annotations

import pytest

from gatewright.agent.providers.demo.demo import LABEL, DemoProvider, ReplayProvider
from gatewright.agent.providers.demo.demo_words import Wish, parse
from gatewright.agent.providers.protocol import Finished, Provider, Request, StopReason
from gatewright.agent.record.events import AssistantMessage
from gatewright.agent.record.messages import (
    AssistantTurn,
    CallPart,
    ResultTurn,
    TextPart,
    Turn,
    UserTurn,
)
from gatewright.agent.turn.answer_stream import Assembly
from gatewright.tools.protocol import TextContent, ToolSpec


@pytest.mark.parametrize(
    ("text", "does", "said"),
    [
        ("tour", "tour", {}),
        ("Give me a tour of this project!", "tour", {}),
        ("find TODO", "find", {"what": "TODO"}),
        ("grep 'def main'", "find", {"what": "def main"}),
        ("search for *.py", "find", {"what": "*.py"}),
        ("read README.md", "read", {"path": "README.md"}),
        ("please show src/a.py.", "read", {"path": "src/a.py"}),
        ("run git status --short", "run", {"command": "git status --short"}),
        ("run `ls -l`", "run", {"command": "ls -l"}),
        ('run "./my tool" "it"', "run", {"command": '"./my tool" "it"'}),
        (
            "replace colour by color in a.txt",
            "replace",
            {"old": "colour", "new": "color", "path": "a.txt"},
        ),
        (
            'replace "in the" with "on a" in b.txt',
            "replace",
            {"old": "in the", "new": "on a", "path": "b.txt"},
        ),
        ("create notes.txt", "create", {"path": "notes.txt", "content": ""}),
        (
            "create a file notes.txt with two\nlines",
            "create",
            {"path": "notes.txt", "content": "two\nlines"},
        ),
        ('create a.txt with "it"', "create", {"path": "a.txt", "content": '"it"'}),
        ("plan a rewrite", "plan", {"goal": "a rewrite"}),
        ("plan", "plan", {"goal": ""}),
        ("todo", "todo", {}),
    ],
)
def test_requests_are_read_plainly(text: str, does: str, said: dict[str, str]) -> None:
    assert parse(text) == Wish(does, said)


@pytest.mark.parametrize("text", ["what is the meaning of life?", ""])
def test_what_is_none_of_them_is_not_guessed(text: str) -> None:
    assert parse(text) is None


class Talk:
    """A conversation with the demo in which calls get the results they are given."""

    def __init__(self, provider: Provider | None = None) -> None:
        self.provider = provider or DemoProvider()
        self.turns: list[Turn] = []

    async def say(self, text: str) -> Assembly:
        self.turns.append(UserTurn((TextContent(text),)))
        return await self.answer()

    async def results(self, *results: str | None) -> Assembly:
        """None: the call failed."""
        for call, text in zip(self.calls, results, strict=True):
            content = (TextContent("it failed" if text is None else text),)
            self.turns.append(ResultTurn(call.id, text is not None, content))
        return await self.answer()

    @property
    def calls(self) -> list[CallPart]:
        last = self.turns[-1]
        assert isinstance(last, AssistantTurn)
        return [part for part in last.parts if isinstance(part, CallPart)]

    @property
    def text(self) -> str:
        last = self.turns[-1]
        assert isinstance(last, AssistantTurn)
        return "".join(part.text for part in last.parts if isinstance(part, TextPart))

    async def answer(self) -> Assembly:
        tools = (ToolSpec("ExitPlanMode", "", {}),)
        request = Request(
            model="demo", system=(), tools=tools, turns=tuple(self.turns), max_output=100
        )
        assembly = Assembly(frozenset())
        async for piece in self.provider.stream(request):
            assembly.add(piece)
        self.turns.append(AssistantTurn(assembly.parts, "demo"))
        return assembly


async def test_everything_it_says_is_labelled() -> None:
    talk = Talk()
    for words in ("hello", "read a.txt", "plan", "tour"):
        await talk.say(words)
        assert talk.text.startswith(LABEL.strip())


async def test_unknown_words_get_the_list_of_what_it_can_do() -> None:
    talk = Talk()
    answer = await talk.say("hello")
    assert answer.reason is StopReason.END
    assert all(word in talk.text for word in ("tour", "find", "read", "run", "replace", "create"))
    assert "ANTHROPIC_API_KEY" in talk.text


async def test_a_tour_is_made_of_what_the_tools_returned() -> None:
    talk = Talk()
    await talk.say("tour")
    assert [call.name for call in talk.calls] == ["Bash", "Bash", "Glob", "Glob"]
    listed = ".git/\nREADME.md\npyproject.toml\nsrc/\ntests/\n"
    await talk.results(listed, "abc123 Add the engine\n", "", "")
    assert [(call.name, call.input.get("file_path")) for call in talk.calls] == [
        ("Read", "README.md"),
        ("Read", "pyproject.toml"),
        ("Grep", None),
    ]
    readme = "     1\t# Rocket\n     2\t\n     3\tFlies to the moon.\n     4\tAnd back.\n"
    manifest = '     1\t[project]\n     2\tname = "rocket"\n     3\tdependencies = ["fuel>=2"]\n'
    await talk.results(readme, manifest, "src/rocket/main.py:12:def main() -> None:\n")
    assert [call.input["file_path"] for call in talk.calls] == ["src/rocket/main.py"]
    await talk.results("    12\tdef main() -> None:\n")
    assert not talk.calls
    for fact in (
        "rocket",
        "Flies to the moon. And back.",
        "src/",
        "fuel",
        "main.py",
        "Add the engine",
    ):
        assert fact in talk.text
    ids = [
        p.id
        for t in talk.turns
        if isinstance(t, AssistantTurn)
        for p in t.parts
        if isinstance(p, CallPart)
    ]
    assert len(set(ids)) == len(ids)


async def test_a_tour_without_commands_still_sees_the_files() -> None:
    talk = Talk()
    await talk.say("tour")
    await talk.results(None, None, "README.md\nCargo.toml", "src/main.rs\nsrc/lib.rs\ndocs/a.md")
    read = [call.input.get("file_path") for call in talk.calls]
    assert read == ["README.md", "Cargo.toml", None]
    await talk.results("     1\t# X", "     1\t[package]", "src/main.rs:1:fn main() {")
    await talk.results("     1\tfn main() {")
    assert "docs/, src/" in talk.text


async def test_a_tour_of_nothing_still_ends() -> None:
    talk = Talk()
    await talk.say("tour")
    await talk.results(None, None, None, None)
    while talk.calls:
        await talk.results(*[None] * len(talk.calls))
        assert len(talk.turns) < 20
    assert "demo" in talk.text


async def test_find_read_and_run() -> None:
    talk = Talk()
    await talk.say("find f(x)")
    assert talk.calls[0].input["pattern"] == r"f\(x\)"
    await talk.results("a.py:3:f(x)\nb.py:9:f(x)\n")
    assert "2 lines" in talk.text
    await talk.say("find *.toml")
    assert (talk.calls[0].name, talk.calls[0].input) == ("Glob", {"pattern": "**/*.toml"})
    await talk.results("No files found")
    assert "Nothing found" in talk.text
    await talk.say("read a.txt")
    await talk.results("     1\tone\n     2\ttwo")
    assert "2 lines" in talk.text
    await talk.say("run false")
    assert talk.calls[0].input["command"] == "false"
    await talk.results(None)
    assert "did not end well" in talk.text


async def test_replace_reads_first_and_changes_only_what_is_there() -> None:
    talk = Talk()
    await talk.say("replace red by blue in a.txt")
    assert [call.name for call in talk.calls] == ["Read"]
    await talk.results("     1\tred and red\n")
    assert talk.calls[0].input == {
        "file_path": "a.txt",
        "old_string": "red",
        "new_string": "blue",
        "replace_all": True,
    }
    await talk.results("done")
    assert "now `blue`" in talk.text
    await talk.say("replace green by blue in a.txt")
    await talk.results("     1\tred\n")
    assert not talk.calls


async def test_what_was_read_before_is_remembered() -> None:
    talk = Talk()
    await talk.say("read a.txt")
    await talk.results("     1\tred\n")
    await talk.say("replace red by blue in a.txt")
    await talk.results("[a.txt has not changed since you read this part; its content is above]")
    assert [call.name for call in talk.calls] == ["Edit"]


async def test_create_plan_and_todo() -> None:
    talk = Talk()
    await talk.say("create a.txt with hello")
    assert talk.calls[0].input == {"file_path": "a.txt", "content": "hello\n"}
    await talk.results("ok")
    assert "is written" in talk.text
    await talk.say("plan a thing")
    assert talk.calls[0].name == "ExitPlanMode"
    await talk.results(None)
    assert "a thing" in talk.text
    await talk.say("todo")
    names: list[str] = []
    while talk.calls:
        names.append(talk.calls[0].name)
        await talk.results("a\nb")
    assert names == ["TodoWrite", "Bash", "TodoWrite", "TodoWrite"]
    assert "2 entries" in talk.text


async def test_notes_in_the_middle_of_a_turn_do_not_confuse_it() -> None:
    talk = Talk()
    await talk.say("read a.txt")
    talk.turns.append(ResultTurn(talk.calls[0].id, True, (TextContent("     1\tone"),)))
    talk.turns.append(UserTurn((TextContent("The same call has given the same result."),)))
    await talk.answer()
    assert "has 1 line;" in talk.text


async def test_the_same_conversation_gets_the_sameanswer() -> None:
    request = Request(
        model="demo",
        system=(),
        tools=(),
        turns=(UserTurn((TextContent("tour"),)),),
        max_output=9,
    )
    first = [piece async for piece in DemoProvider().stream(request)]
    assert first == [piece async for piece in DemoProvider().stream(request)]


async def test_a_recording_is_replayed_answer_byanswer() -> None:
    call = CallPart("c1", "Read", {"file_path": "a"})
    recorded = [
        AssistantMessage(id="1", model="m", parts=(TextPart("Looking."), call)),
        AssistantMessage(id="2", model="m", parts=(TextPart("Done."),)),
    ]
    talk = Talk(ReplayProvider(recorded))
    first = await talk.say("whatever")
    assert first.parts == recorded[0].parts
    assert (await talk.results("text")).parts == recorded[1].parts
    last = await talk.say("more")
    assert "recording ends" in talk.text
    assert last.reason == Finished(StopReason.END).reason
