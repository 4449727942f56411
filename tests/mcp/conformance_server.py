"""What the public conformance suite asks a server for, served as `agent mcp serve --http` serves.

`python conformance_server.py` prints an address. What is there passes everything on, with the token
that the suite cannot be given; the tools are the suite's own, as far as ours can be like them.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
from collections.abc import Sequence

from gatewright.mcp.served import Offer, Question, ServedCall
from gatewright.mcp.talk.serving_http import Served, listening, serve_http
from gatewright.tools.protocol import (
    DocumentContent,
    ImageContent,
    Progress,
    TextContent,
    ToolResult,
)

TOKEN = "conformance-" * 4
PIXEL = base64.b64encode(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
    )
).decode()
SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
NAMES = (
    "test_simple_text",
    "test_image_content",
    "test_error_handling",
    "test_tool_with_progress",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_input_required_result_elicitation",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
)
DOCUMENT = DocumentContent("application/pdf", base64.b64encode(b"%PDF-1.4").decode(), "test.pdf")


class Tools:
    """Structurally the `Calls` of `mcp/served.py`."""

    async def offers(self, client: str, *, asks: bool) -> Sequence[Offer]:
        del client, asks
        plain = [Offer(name=name, description=name, schema={"type": "object"}) for name in NAMES]
        schema = Offer(name="json_schema_2020_12_tool", description="-", schema=SCHEMA_2020)
        return [*plain, schema]

    async def run(self, call: ServedCall) -> ToolResult:
        match call.name:
            case "test_simple_text":
                return ToolResult.text("This is a simple text response for testing.", summary="")
            case "test_image_content":
                return ToolResult(ok=True, content=(ImageContent("image/png", PIXEL),))
            case "test_tool_with_progress":
                for at in (0.0, 50.0, 100.0):
                    call.heard(Progress(str(at), 0, at))
                    await asyncio.sleep(0.15)  # progress is said ten times a second at most
                return ToolResult.text("done", summary="")
            case "test_embedded_resource":
                return ToolResult(ok=True, content=(DOCUMENT,))
            case "test_multiple_content_types":
                text = TextContent("Multiple content types test:")
                return ToolResult(
                    ok=True, content=(text, ImageContent("image/png", PIXEL), DOCUMENT)
                )
            case (
                "test_input_required_result_elicitation"
                | "test_input_required_result_request_state"
                | "test_input_required_result_tampered_state"
            ):
                said = await call.put(Question("Please confirm", ("Yes", "No"))) if call.put else ""
                return ToolResult.text(f"state-ok: {said}", summary="")
            case "test_error_handling":
                said = "This tool intentionally returns an error for testing"
                return ToolResult(ok=False, content=(TextContent(said),))
            case _:
                return ToolResult.not_run("There is no such tool.")

    async def close(self) -> None: ...


async def passed_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, own: int, port: int
) -> None:
    """One request, with the token and under the name of the server behind."""
    with contextlib.suppress(OSError, asyncio.IncompleteReadError), contextlib.closing(writer):
        head = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
        hosts = {f"{host}:{own}".encode(): f"{host}:{port}" for host in ("localhost", "127.0.0.1")}
        lines = [head[0]]
        for line in head[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"connection":
                continue
            value = value.strip().replace(*_swapped(value.strip(), hosts))
            lines.append(name + b": " + value)
        lines += [f"Authorization: Bearer {TOKEN}".encode(), b"Connection: close"]
        there, out = await asyncio.open_connection("127.0.0.1", port)
        out.write(b"\r\n".join(lines) + b"\r\n\r\n")
        ways = [asyncio.create_task(_copy(reader, out)), asyncio.create_task(_copy(there, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        out.close()


def _swapped(value: bytes, hosts: dict[bytes, str]) -> tuple[bytes, bytes]:
    for host, real in hosts.items():
        if value.removeprefix(b"http://") == host:
            return host, real.encode()
    return b"", b""


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65536):
        writer.write(chunk)
        await writer.drain()


async def main() -> None:
    with listening(0) as listens:
        port = int(listens.getsockname()[1])
        front = socket.create_server(("127.0.0.1", 0))
        own = int(front.getsockname()[1])
        await asyncio.start_server(lambda r, w: passed_on(r, w, own, port), sock=front)
        print(f"http://localhost:{own}/mcp", flush=True)
        await serve_http(Served(calls=Tools, version="1", token=TOKEN), listens)


if __name__ == "__main__":
    asyncio.run(main())
