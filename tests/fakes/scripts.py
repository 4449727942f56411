"""Script lines as the bytes each model API streams; `model_server` plays them.

What an answer of the scripted provider can say, a server can say too. On top of that it can
misbehave: see `model_server` for those lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gatewright.agent.record.messages import Usage
from tests.fakes.scripted_provider import DEFAULT_USAGE, Line, ending, pieces_of

Json = dict[str, Any]
Item = bytes | Line  # bytes to send, or a line the server acts on

WORDS = 12


def event(name: str, data: Json) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (
        name.encode(),
        json.dumps(data, ensure_ascii=False).encode(),
    )


def data(value: Json) -> bytes:
    return b"data: %s\n\n" % json.dumps(value, ensure_ascii=False).encode()


def usage_of(lines: Sequence[Line]) -> Usage:
    return next((line.usage() for line in lines if line.verb == "usage"), DEFAULT_USAGE)


def has(lines: Sequence[Line], verb: str) -> bool:
    return any(line.verb == verb for line in lines)


def size_of(lines: Sequence[Line]) -> int:
    """`words: 200` sends text in pieces of that many characters."""
    return next((int(line.text) for line in lines if line.verb == "words"), WORDS)


# ---- Messages API


def anthropic(lines: Sequence[Line], number: int) -> Iterator[Item]:
    usage = usage_of(lines)
    counts = {
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
    }
    yield event(
        "message_start",
        {
            "type": "message_start",
            "message": {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": "fake",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {**counts, "output_tokens": 1},
            },
        },
    )
    index = 0
    for line in lines:
        match line.verb:
            case "say" | "think" | "call" | "badcall":
                yield from _anthropic_block(line, index, f"toolu_{number}_{index}", lines)
                index += 1
            case "ping":
                yield event("ping", {"type": "ping"})
            case _:
                yield line
    finish = ending(lines)
    reasons = {
        "end": "end_turn",
        "calls": "tool_use",
        "length": "max_tokens",
        "pause": "pause_turn",
    }
    delta: Json = {"stop_reason": reasons.get(finish.reason, finish.reason), "stop_sequence": None}
    if finish.reason == "refusal":
        delta["stop_details"] = {"type": "refusal", "category": None, "explanation": finish.detail}
    elif finish.reason == "other":
        delta["stop_reason"] = finish.detail
    yield event(
        "message_delta",
        {
            "type": "message_delta",
            "delta": delta,
            "usage": {**counts, "output_tokens": usage.output},
        },
    )
    if not has(lines, "nostop"):
        yield event("message_stop", {"type": "message_stop"})


def _anthropic_block(line: Line, index: int, id: str, lines: Sequence[Line]) -> Iterator[Item]:
    def delta(value: Json) -> bytes:
        return event(
            "content_block_delta", {"type": "content_block_delta", "index": index, "delta": value}
        )

    block: Json
    deltas: list[Json] = []
    match line.verb:
        case "say":
            pieces = list(pieces_of(line.text, size_of(lines)))
            block = {"type": "text", "text": pieces[0] if has(lines, "double") and pieces else ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
        case "think" if line.tag == "redacted":
            block = {"type": "redacted_thinking", "data": line.text}
        case "think":
            block = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [
                {"type": "thinking_delta", "thinking": p} for p in pieces_of(line.text, WORDS)
            ]
            deltas.append({"type": "signature_delta", "signature": f"signed-{len(line.text)}"})
        case _:
            name, arguments = line.call()
            given = id if line.tag is None else line.tag
            block = {"type": "tool_use", "id": given, "name": name, "input": {}}
            if has(lines, "atonce"):
                block["input"] = json.loads(arguments)
            else:
                deltas = [
                    {"type": "input_json_delta", "partial_json": piece}
                    for piece in ["", *pieces_of(arguments, WORDS)]
                ]
    yield event(
        "content_block_start",
        {"type": "content_block_start", "index": index, "content_block": block},
    )
    yield from map(delta, deltas)
    yield event("content_block_stop", {"type": "content_block_stop", "index": index})


# ---- Chat Completions


def chat(lines: Sequence[Line], number: int) -> Iterator[Item]:
    def chunk(delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return data({**_chat_head(number), "choices": [choice], "usage": None})

    yield chunk({"role": "assistant", "content": ""})
    index = 0
    for line in lines:
        match line.verb:
            case "say":
                pieces = list(pieces_of(line.text, size_of(lines)))
                yield from (chunk({"content": piece}) for piece in pieces)
            case "think":
                yield from (chunk({"reasoning_content": p}) for p in pieces_of(line.text, WORDS))
            case "call" | "badcall":
                for call in _chat_call(line, index, number, lines):
                    yield chunk({"tool_calls": [call]})
                index += 1
            case "ping":
                yield b": still here\n\n"
            case _:
                yield line
    finish = ending(lines)
    reasons = {
        "end": "stop",
        "calls": "tool_calls",
        "length": "length",
        "refusal": "content_filter",
    }
    yield chunk({}, reasons.get(finish.reason, finish.detail or "stop"))
    yield data({**_chat_head(number), "choices": [], "usage": _chat_usage(usage_of(lines))})
    if not has(lines, "nostop"):
        yield b"data: [DONE]\n\n"


def _chat_head(number: int) -> Json:
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake",
    }


def _chat_call(line: Line, index: int, number: int, lines: Sequence[Line]) -> Iterator[Json]:
    name, arguments = line.call()
    id = f"call_{number}_{index}" if line.tag is None else line.tag
    first: Json = {"type": "function", "function": {"name": name, "arguments": ""}}
    if id:
        first["id"] = id
    pieces = list(pieces_of(arguments, WORDS))
    if has(lines, "atonce"):
        first["function"]["arguments"] = arguments
        pieces = []
    rest: list[Json] = [{"function": {"arguments": piece}} for piece in pieces]
    for call in [first, *rest]:
        yield call if has(lines, "noindex") else {"index": index, **call}


def _chat_usage(usage: Usage) -> Json:
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
    }


# ---- Responses


def responses(lines: Sequence[Line], number: int) -> Iterator[Item]:
    sequence = 0

    def send(kind: str, **fields: Any) -> bytes:
        nonlocal sequence
        sequence += 1
        return event(kind, {"type": kind, "sequence_number": sequence, **fields})

    head: Json = {"id": f"resp_{number}", "object": "response", "model": "fake", "output": []}
    yield send("response.created", response={**head, "status": "in_progress", "usage": None})
    yield send("response.in_progress", response={**head, "status": "in_progress", "usage": None})
    index = 0
    for line in lines:
        match line.verb:
            case "say" | "think" | "call" | "badcall":
                for kind, fields in _response_item(line, index, number, lines):
                    yield send(kind, output_index=index, **fields)
                index += 1
            case "ping":
                yield send("keepalive")
            case _:
                yield line
    finish = ending(lines)
    if finish.reason == "refusal":
        item = {"item_id": "msg_r", "content_index": 0}
        yield send("response.refusal.delta", output_index=index, delta=finish.detail, **item)
    last = {**head, "status": "completed", "usage": _response_usage(usage_of(lines))}
    if finish.reason == "length":
        last |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        yield send("response.incomplete", response=last)
    else:
        yield send("response.completed", response=last)


def _response_item(
    line: Line, index: int, number: int, lines: Sequence[Line]
) -> Iterator[tuple[str, Json]]:
    item: Json
    deltas: list[tuple[str, Json]] = []
    id = f"item_{number}_{index}"
    match line.verb:
        case "say":
            item = {"type": "message", "id": id, "role": "assistant", "status": "completed"}
            item["content"] = [{"type": "output_text", "text": line.text, "annotations": []}]
            empty: Json = {"content": []}
            at = {"item_id": id, "content_index": 0}
            deltas = [
                ("response.output_text.delta", {**at, "delta": piece})
                for piece in pieces_of(line.text, size_of(lines))
            ]
            deltas.append(("response.output_text.done", {**at, "text": line.text}))
        case "think":
            item = {"type": "reasoning", "id": id, "encrypted_content": f"sealed-{len(line.text)}"}
            item["summary"] = [{"type": "summary_text", "text": line.text}]
            empty = {"summary": [], "encrypted_content": ""}
            at = {"item_id": id, "summary_index": 0}
            part = {"type": "summary_text", "text": ""}
            deltas = [("response.reasoning_summary_part.added", {**at, "part": part})]
            deltas += [
                ("response.reasoning_summary_text.delta", {**at, "delta": piece})
                for piece in pieces_of(line.text, WORDS)
            ]
        case _:
            name, arguments = line.call()
            call = f"call_{number}_{index}" if line.tag is None else line.tag
            item = {"type": "function_call", "id": id, "call_id": call, "name": name}
            item |= {"arguments": arguments, "status": "completed"}
            empty = {"arguments": ""}
            deltas = [
                ("response.function_call_arguments.delta", {"item_id": id, "delta": piece})
                for piece in pieces_of(arguments, WORDS)
            ]
            done = {"item_id": id, "arguments": arguments}
            deltas.append(("response.function_call_arguments.done", done))
    yield "response.output_item.added", {"item": {**item, **empty, "status": "in_progress"}}
    if not has(lines, "atonce"):
        yield from deltas
    yield "response.output_item.done", {"item": item}


def _response_usage(usage: Usage) -> Json:
    prompt = usage.input + usage.cache_read + usage.cache_write
    details = {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write}
    return {
        "input_tokens": prompt,
        "input_tokens_details": details,
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + usage.output,
    }


def _response_whole(lines: Sequence[Line], number: int) -> Json:
    said = [line for line in lines if line.verb in ("say", "think", "call", "badcall")]
    items = [list(_response_item(line, at, number, lines))[-1] for at, line in enumerate(said)]
    return {
        "id": f"resp_{number}",
        "status": "completed",
        "output": [fields["item"] for _, fields in items],
        "usage": _response_usage(usage_of(lines)),
    }


RENDER: dict[str, Callable[[Sequence[Line], int], Iterator[Item]]] = {
    "/messages": anthropic,
    "/chat/completions": chat,
    "/responses": responses,
}


def _anthropic_whole(lines: Sequence[Line], number: int) -> Json:
    content: list[Json] = []
    for line in lines:
        match line.verb:
            case "say":
                content.append({"type": "text", "text": line.text})
            case "call":
                name, arguments = line.call()
                call = {"id": f"toolu_{number}", "name": name, "input": json.loads(arguments)}
                content.append({"type": "tool_use", **call})
            case _:
                pass
    usage = usage_of(lines)
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": "tool_use" if has(lines, "call") else "end_turn",
        "usage": {"input_tokens": usage.input, "output_tokens": usage.output},
    }


def _chat_whole(lines: Sequence[Line], number: int) -> Json:
    text = "".join(line.text for line in lines if line.verb == "say")
    calls: list[Json] = []
    for line in lines:
        if line.verb == "call":
            name, arguments = line.call()
            function = {"name": name, "arguments": arguments}
            calls.append({"id": f"call_{number}", "type": "function", "function": function})
    message: Json = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = calls
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if calls else "stop",
    }
    return {"id": f"chatcmpl-{number}", "choices": [choice], "usage": _chat_usage(usage_of(lines))}


WHOLE: dict[str, Callable[[Sequence[Line], int], Json]] = {
    "/messages": _anthropic_whole,
    "/chat/completions": _chat_whole,
    "/responses": _response_whole,
}


def rendered(api: str, lines: Sequence[Line], number: int = 1) -> bytes:
    """A whole well-behaved answer as one piece of bytes."""
    return b"".join(item for item in RENDER[api](lines, number) if isinstance(item, bytes))


# ---- what a failing server says

KINDS: dict[str, tuple[int, str]] = {
    "auth": (401, "authentication_error"),
    "quota": (402, "billing_error"),
    "rate": (429, "rate_limit_error"),
    "overloaded": (529, "overloaded_error"),
    "too_long": (413, "request_too_large"),
    "refused": (400, "invalid_request_error"),
    "transport": (500, "api_error"),
}


def error_body(line: Line) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an `error:` line before the stream began."""
    options = line.options()
    status, kind = KINDS[options[""]]
    headers = {"retry-after": options["retry_after"]} if "retry_after" in options else {}
    error = {"type": kind, "message": options.get("message", f"The server says {kind}.")}
    body = json.dumps({"type": "error", "error": error}).encode()
    return int(options.get("status", status)), headers, body


def error_event(api: str, line: Line) -> bytes:
    """The same in the middle of a stream."""
    _, _, body = error_body(line)
    return (
        event("error", json.loads(body)) if api != "/chat/completions" else b"data: %s\n\n" % body
    )
