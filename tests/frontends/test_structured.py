"""Answers of a given shape: checked, sent back a few times, and printed as JSON."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from gatewright.agent.frontends import plain
from gatewright.agent.frontends.sdk import stream
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import UserMessage
from gatewright.agent.turn.structured_answer import Shape
from gatewright.tools.protocol import TextContent
from tests.fakes.house import house
from tests.fakes.recorder import Recorder

SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'


async def run(script: str, output_format: str = "text") -> tuple[int, str, str, list[str]]:
    """Exit code, output, errors, and what was sent to the model."""
    out, err = io.StringIO(), io.StringIO()
    options = LaunchOptions(prompt="go", json_schema=SCHEMA, output_format=output_format)
    async with house(script) as built, Recorder(built.session) as seen:
        front_end = plain.run if output_format == "text" else stream.run
        code = await front_end(built.session, options, out, err)
        await built.session.idle()
        sent = [
            part.text
            for message in seen.of(UserMessage)
            for part in message.content
            if isinstance(part, TextContent)
        ]
    return code, out.getvalue(), err.getvalue(), sent


async def test_a_right_answer_is_printed_as_it_was_meant() -> None:
    assert (await run('say: {"n": 1}'))[:3] == (0, '{"n":1}\n', "")


async def test_a_fence_is_forgiven() -> None:
    assert (await run('say: ```json\n  {"n": 1}\n  ```'))[:2] == (0, '{"n":1}\n')


async def test_a_wrong_answer_is_sent_back_with_the_reason() -> None:
    code, out, _, sent = await run('say: One.\n---\nsay: {"n": "x"}\n---\nsay: {"n": 3}')
    assert (code, out) == (0, '{"n":3}\n')
    assert len(sent) == 3
    assert "no JSON" in sent[1]
    assert "$.n: 'x' is not of type 'integer'" in sent[2]


async def test_it_is_sent_back_so_often_and_no_more() -> None:
    code, out, err, sent = await run("say: No.\n---\nsay: No.\n---\nsay: No.\n---\nsay: {}")
    assert (code, out) == (1, "")
    assert "does not satisfy the schema" in err
    assert len(sent) == 3


async def test_one_result_sums_all_tries() -> None:
    code, out, _, _ = await run('say: No.\n---\nsay: {"n": 2}', "stream-json")
    lines: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    (result,) = (line for line in lines if line["type"] == "result")
    assert lines[-1] == result
    assert (code, result["subtype"], result["structured_output"]) == (0, "success", {"n": 2})
    assert (result["num_turns"], result["usage"]["output_tokens"]) == (2, 10)


async def test_failure_has_its_own_subtype() -> None:
    code, out, _, _ = await run("\n---\n".join(["say: No."] * 3), "json")
    result = json.loads(out)
    assert (code, result["is_error"]) == (1, True)
    assert result["subtype"] == "error_max_structured_output_retries"
    assert "structured_output" not in result


async def test_a_turn_that_failed_is_not_sent_back() -> None:
    code, _, err, sent = await run("error: auth message=No key.")
    assert (code, err) == (1, "agent: No key.\n")
    assert len(sent) == 1


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"', '{"a":' * 100_000])
def test_what_is_no_schema(text: str) -> None:
    with pytest.raises(UsageError, match="takes a JSON object"):
        Shape(text)


def test_an_answer_that_is_too_deep_is_no_json() -> None:
    assert Shape("{}").problem("[" * 100_000).startswith("it is no JSON")


def test_an_invalid_schema() -> None:
    with pytest.raises(UsageError, match=r"\$\.type"):
        Shape('{"type": "nonsense"}').check()


@pytest.mark.parametrize(
    ("schema", "enforceable"),
    [
        (SCHEMA, False),
        ('{"type": "string"}', False),
        (
            '{"type": "object", "properties": {"n": {}}, "required": ["n"],'
            ' "additionalProperties": false}',
            True,
        ),
        (
            '{"type": "object", "properties": {"n": {"type": "array", "items": {"type": "object",'
            ' "properties": {"x": {}}}}}, "required": ["n"], "additionalProperties": false}',
            False,
        ),
    ],
)
def test_what_an_api_can_enforce(schema: str, enforceable: bool) -> None:
    assert Shape(schema).enforceable is enforceable
