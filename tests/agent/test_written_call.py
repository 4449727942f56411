"""A call written as text is never an answer, and never runs; an answer in JSON stays one."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import pytest

from gatewright.agent.launch.exits import Exit, code_of
from gatewright.agent.models.model import OpenModel
from gatewright.agent.providers.presets import load_presets
from gatewright.agent.record.events import Noticed, ToolStarted, TurnEnded, UserMessage
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.loop import LACK, WRITTEN_NOTE
from gatewright.agent.turn.request import RequestFrame
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.written_call import LONGEST, written_call
from gatewright.tools.protocol import JsonObject, TextContent
from gatewright.tools.registry import TOOLS, BuiltinTools
from tests.fakes.house import House, build, price
from tests.fakes.recorder import Recorder
from tests.fakes.scripted_provider import ScriptedProvider

OFFERED = BuiltinTools(TOOLS).specs()
PLAIN = '{"name": "Read", "arguments": {"file_path": "a.py"}}'
WRITE = '{"name": "Write", "arguments": {"file_path": "a", "content": "one\ntwo"}}'

CALLS = {
    "json": PLAIN,
    "json over lines": json.dumps(json.loads(PLAIN), indent=2),
    "another case": PLAIN.replace("Read", "read"),
    "a parameter that does not exist": '{"name": "Read", "arguments": {"path": "a.py"}}',
    "arguments as text": '{"name": "Read", "arguments": "{\\"file_path\\": \\"a.py\\"}"}',
    "line breaks in strings": WRITE,
    "no arguments": '{"name": "TaskList", "arguments": {}}',
    "Llama 3": '{"type": "function", "name": "Bash", "parameters": {"command": "ls"}}',
    "Llama 3, several": '{"name": "Glob", "parameters": {"pattern": "*"}}; ' + PLAIN,
    "Llama 3, tag": "<|python_tag|>" + PLAIN,
    "Llama 4": '[Read(file_path="a.py")]',
    "OpenAI": '{"id": "c1", "type": "function", "function": ' + PLAIN + "}",
    "OpenAI, list": '{"tool_calls": [{"type": "function", "function": ' + PLAIN + "}]}",
    "list": f"[{PLAIN}]",
    "fence": f"```json\n{PLAIN}\n```",
    "fence without a language": f"```\n{PLAIN}\n```",
    "fence of a tool": f"```tool_call\n{PLAIN}\n```\n",
    "Hermes": f"<tool_call>\n{PLAIN}\n</tool_call>",
    "Hermes, several": f"<tool_call>{PLAIN}</tool_call>\n<tool_call>{WRITE}</tool_call>",
    "Hermes, unended": f"<tool_call>\n{PLAIN}",
    "Hermes, broken JSON": '<tool_call>{"name": "Bash", "arguments": {"command": "ls}</tool_call>',
    "Hermes, in a fence": f"```xml\n<tool_call>{PLAIN}</tool_call>\n```",
    "Qwen 2.5 Coder": f"<tools>\n{PLAIN}\n</tools>",
    "Qwen 3 Coder": "<tool_call>\n<function=Read>\n<parameter=file_path>\na.py\n</parameter>\n"
    "</function>\n</tool_call>",
    "Qwen 3 Coder, half a tag": "<function=Read>\n<parameter=file_path>a</parameter>\n</function>\n"
    "</tool_call>",
    "function tag": '<function=Bash>{"command": "ls"}</function>',
    "Mistral": f"[TOOL_CALLS] [{PLAIN}]",
    "Mistral, new": '[TOOL_CALLS]Read[ARGS]{"file_path": "a.py"}',
    "DeepSeek": "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>"
    'function<\uff5ctool\u2581sep\uff5c>Read\n```json\n{"file_path": "a.py"}\n```',
    "Kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.Read:0"
    '<|tool_call_argument_begin|>{"file_path": "a.py"}<|tool_call_end|>',
    "Claude": '<function_calls>\n<invoke name="Read">\n<parameter name="file_path">a</parameter>\n'
    "</invoke>\n</function_calls>",
    "after a thought": f"<think>\nI should read it.\n</think>\n\n{PLAIN}",
}

ANSWERS = {
    "prose": "Read the file first.",
    "nothing": "",
    "a call in prose": f"A call of Read looks like this:\n\n```json\n{PLAIN}\n```",
    "prose behind it": f"<tool_call>{PLAIN}</tool_call>\nThat is how Hermes writes a call.",
    "prose behind a fence": f"```json\n{PLAIN}\n```\nThis is what I would send.",
    "two fences": f"```json\n{PLAIN}\n```\nor\n```json\n{PLAIN}\n```",
    "JSON that was asked for": '{"name": "gatewright", "version": "0.1.0"}',
    "a list that was asked for": '["Read", "Write"]',
    "objects that were asked for": '[{"name": "Read", "count": 3}, {"name": "Write", "count": 1}]',
    "a person named as a tool": '{"name": "Edit", "parameters": {"age": 3}}',
    "a definition of a tool": '{"name": "Read", "description": "Reads", "parameters": '
    '{"type": "object", "properties": {"file_path": {"type": "string"}}}}',
    "a schema alone": '{"name": "Read", "parameters": {"type": "object", "properties": {}}}',
    "another tool": '{"name": "get_weather", "arguments": {"city": "Bonn"}}',
    "another tool in a tag": '<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>',
    "a call among other things": f'[{PLAIN}, {{"note": "and then nothing"}}]',
    "more keys": '{"name": "Bash", "arguments": {"command": "ls"}, "why": "to look"}',
    "code": '```python\nRead(file_path="a.py")\n```',
    "a Python list": '[Path("a"), Path("b")]',
    "a file of another format": "```yaml\nname: Read\narguments: {}\n```",
    "XML that was asked for": "<tools>\n  <hammer/>\n</tools>",
    "HTML": "<p>Read</p>",
    "half of it": '{"name": "Read", "arguments": {"file',
    "deep": "[" * 100_000,
    "long": "{" + " " * LONGEST + "}",
}


@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_an_answer_that_is_a_call_is_recognised(text: str) -> None:
    assert written_call(text, OFFERED) in TOOLS
    assert written_call(text, ()) == ""  # of a tool that is not offered it is an answer


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_shows_json_stays_an_answer(text: str) -> None:
    assert written_call(text, OFFERED) == ""


@asynccontextmanager
async def writing(
    *answers: str, limits: Limits | None = None, lack: str = "", schema: JsonObject | None = None
) -> AsyncGenerator[tuple[House, Recorder]]:
    """A model with the built-in tools that gives these answers."""
    script = "\n---\n".join(answers)
    provider = ScriptedProvider.parse(script)

    def opened(name: str, effort: str) -> OpenModel:
        frame = RequestFrame(
            model=name, effort=effort, system=("s",), tools=tuple(OFFERED), max_output=1000,
            schema=schema,
        )  # fmt: skip
        return OpenModel(
            name=name, provider=provider, frame=frame, window=100_000, price=price, lack=lack
        )

    built = build(script, open_model=opened, limits=limits or Limits())
    try:
        async with Recorder(built.session) as seen:
            yield built, seen
    finally:
        await built.session.close()


def hidden(messages: Sequence[UserMessage]) -> list[str]:
    return [
        part.text
        for message in messages
        if message.hidden
        for part in message.content
        if isinstance(part, TextContent)
    ]


async def test_the_model_is_told_once_how_to_call() -> None:
    call = f"call: Read {json.dumps({'file_path': 'a'})}"
    async with writing(f"say: {PLAIN}", call, "say: Done.") as (built, seen):
        built.session.submit("read a")
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.COMPLETED
        assert hidden(seen.of(UserMessage)) == [WRITTEN_NOTE.format(tool="Read")]
        assert [event.name for event in seen.of(ToolStarted)] == ["Read"]
        assert len(built.executor.started) == 1  # the one that was called; text never runs
        assert any("as text" in event.text for event in seen.of(Noticed))


async def test_a_model_that_goes_on_writing_calls_ends_without_success() -> None:
    async with writing(*[f"say: {PLAIN}"] * 3, lack="Start it with --tools.") as (built, seen):
        built.session.submit("read a")
        ended = await seen.until(TurnEnded)
        assert (ended.stop, ended.requests) == (Stop.MALFORMED_TOOL_USE, 2)
        assert "Read as text" in ended.message and "Start it with --tools." in ended.message
        assert code_of(ended) is Exit.ERROR
        assert built.executor.started == []


async def test_an_answer_that_insists_on_being_one_is_success() -> None:
    async with writing(f"say: {PLAIN}", "say: This is the JSON you wanted: {}") as (built, seen):
        built.session.submit("show me a call of Read as JSON, nothing else")
        assert (await seen.until(TurnEnded)).stop is Stop.COMPLETED


async def test_the_limit_of_rounds_counts_the_second_chance() -> None:
    async with writing(*[f"say: {PLAIN}"] * 2, limits=Limits(requests=1)) as (built, seen):
        built.session.submit("read a")
        assert (await seen.until(TurnEnded)).stop is Stop.MAX_TURNS


async def test_an_answer_shaped_by_a_schema_is_no_call() -> None:
    async with writing(f"say: {PLAIN}", schema={"type": "object"}) as (built, seen):
        built.session.submit("a call as JSON")
        assert (await seen.until(TurnEnded)).stop is Stop.COMPLETED


async def test_each_turn_has_its_own_chance() -> None:
    async with writing(*[f"say: {PLAIN}"] * 4) as (built, seen):
        for _ in range(2):
            built.session.submit("read a")
            await seen.until(TurnEnded)
            await built.session.idle()
        assert len(hidden(seen.of(UserMessage))) == 2


@pytest.mark.parametrize("name", ["llamacpp", "vllm", "ollama", "lmstudio"])
def test_what_a_local_server_lacks_is_known(name: str) -> None:
    assert load_presets()[name].lack.endswith(".")
    assert "--jinja" in load_presets()["llamacpp"].lack
    assert "--tool-call-parser" in load_presets()["vllm"].lack
    assert "--jinja" in LACK and "--tool-call-parser" in LACK
