"""Recognises an answer that is nothing but a tool call written as text. Such a call never runs.

A server without a template or parser for tools hands on what its model was trained to write: JSON,
a fence around it, or the tags of Hermes, Qwen, Llama and Mistral.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gatewright.agent.providers.streams.foreign_json import rows, table
from gatewright.tools.protocol import ToolSpec
from gatewright.tools.system.patterns import later

LONGEST = 400_000  # characters: a call that writes a large file, and no more to look at
CALLS = 50  # in one answer

_THOUGHT = later(r"\s*<think>.*?</think>", re.DOTALL)
_FENCE = later(r"```([\w-]*)[ \t]*\n(.*?)\n?```\Z", re.DOTALL)
_FENCES = frozenset({"", "json", "tool_call", "tool_calls", "tool_code", "function_call", "xml"})

# What opens a call and stands in no prose; what follows is one, complete or not.
_TAGS = "tool_call|tool_calls|tools|tool|function_call|function_calls|function|invoke"
_OPENING = later(
    rf"<(?P<tag>{_TAGS})(?:=[\w.-]+|\s+name=\"[\w.-]+\")?>"
    r"|<\|python_tag\|>|\[TOOL_CALLS\]|<\|tool_calls?(?:_begin|_section_begin)?\|>"
    "|<\uff5ctool\u2581calls?\u2581begin\uff5c>"
)
_NAMED = (
    later(r"<function=([\w.-]+)>"),
    later(r"<(?:invoke|function|tool) name=\"([\w.-]+)\">"),
    later(r"functions\.([\w-]+):\d+"),
    later("<\uff5ctool\u2581sep\uff5c>([\\w.-]+)"),
    later(r"\"(?:name|function|tool|tool_name)\"\s*:\s*\"([\w.-]+)\""),
    later(r"\A\s*([\w.-]+)\s*(?:\[ARGS\]|\(|\{)"),
)
_CLOSING = later(r"(?:\s*</\w+>)*\s*\Z")
_HEAD = 2000  # characters in which a tagged call has its name
_PYTHONIC = later(r"\[\s*([\w.-]+)\((?:\s*([\w-]+)\s*=.*)?\)\s*\]\Z", re.DOTALL)

_NAMES = ("name", "tool", "tool_name", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "tool_input")
_BESIDE = frozenset({"id", "type", "index", "call_id", "tool_call_id"})


def written_call(text: str, offered: Sequence[ToolSpec]) -> str:
    """The first tool that `text`, as a whole, calls; empty for an answer."""
    if not offered or len(text) > LONGEST:
        return ""
    body = _THOUGHT.sub("", text, count=1).strip() if "</think>" in text else text.strip()
    tools = {spec.name.casefold(): spec for spec in offered}
    if fence := _FENCE.match(body):
        if fence[1].lower() not in _FENCES or "```" in fence[2]:
            return ""
        body = fence[2].strip()
    if opening := _OPENING.match(body):
        return _tagged(body, opening, tools)
    if body.startswith(("{", "[")):
        return _as_json(body, tools) or _pythonic(body, tools)
    return ""


def _tagged(body: str, opening: re.Match[str], tools: Mapping[str, ToolSpec]) -> str:
    """The tool a tagged call names, unless prose stands behind it; the JSON may be broken."""
    tag = opening["tag"]
    closed = body.rfind(f"</{tag}>") if tag else -1
    if closed >= 0 and not _CLOSING.match(body, closed):
        return ""
    inside = body[opening.end() :]
    for head in (body[:_HEAD], inside[:_HEAD]):
        for named in _NAMED:
            if (found := named.search(head)) and (spec := tools.get(found[1].casefold())):
                return spec.name
    return ""


def _as_json(body: str, tools: Mapping[str, ToolSpec]) -> str:
    """The tool of the first call where the text is calls in JSON and nothing else."""
    names = [_called(value, tools) for value in _values(body)]
    return names[0] if names and all(names) else ""


def _values(body: str) -> list[Any]:
    """The JSON values the text consists of; none where anything else is in it."""
    from json import JSONDecoder  # noqa: PLC0415  lazy: only for an answer that begins like JSON

    decoder = JSONDecoder(strict=False)  # small models leave line breaks in strings as they are
    found: list[Any] = []
    at = 0
    while at < len(body):
        try:
            value, at = decoder.raw_decode(body, at)
        except (ValueError, RecursionError):
            return []
        found += rows(value) or [value]
        if len(found) > CALLS:
            return []
        while at < len(body) and (body[at].isspace() or body[at] in ";,"):
            at += 1
    return found


def _called(value: Any, tools: Mapping[str, ToolSpec]) -> str:
    """The tool that one JSON value calls: a name, arguments, and nothing that is neither."""
    call = table(value)
    if call.keys() == {"tool_calls"}:
        names = [_called(item, tools) for item in rows(call["tool_calls"])]
        return names[0] if names and all(names) else ""
    if isinstance(call.get("function"), dict) and call.keys() <= _BESIDE | {"function"}:
        return _called(call["function"], tools)
    names = [key for key in _NAMES if key in call]
    arguments = [key for key in _ARGUMENTS if key in call]
    if len(names) != 1 or len(arguments) != 1:
        return ""
    if call.keys() - _BESIDE != {names[0], arguments[0]} or not isinstance(call[names[0]], str):
        return ""
    spec = tools.get(call[names[0]].casefold())
    if spec is None or not _fits(call[arguments[0]], spec, any_name=arguments[0] == "arguments"):
        return ""
    return spec.name


def _fits(given: Any, spec: ToolSpec, *, any_name: bool) -> bool:
    """Whether these can be meant as the tool's arguments: JSON about something else is an answer.

    One known parameter is enough, for small models make others up; `any_name` where the key they
    stand under is used for nothing but calls.
    """
    if isinstance(given, str):
        values = _values(given.strip())
        given = values[0] if len(values) == 1 else None
    known, keys = _parameters(spec), table(given).keys()
    if not isinstance(given, dict):
        return False
    if not keys:
        return not spec.schema.get("required")
    return any_name or bool(keys & known)


def _parameters(spec: ToolSpec) -> frozenset[str]:
    return frozenset(table(spec.schema.get("properties")))


def _pythonic(body: str, tools: Mapping[str, ToolSpec]) -> str:
    """The tool of `[Read(file_path="a")]`."""
    found = _PYTHONIC.match(body)
    spec = tools.get(found[1].casefold()) if found else None
    if found is None or spec is None:
        return ""
    known = _parameters(spec)
    return spec.name if (found[2] in known if found[2] else not spec.schema.get("required")) else ""
