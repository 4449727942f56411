"""A server that gives texts of a wanted size, prepared before it is asked: for who measures."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOL = {
    "name": "give",
    "inputSchema": {"type": "object", "properties": {"size": {"type": "integer"}}},
    "annotations": {"readOnlyHint": True},
}


def main() -> None:
    made: dict[int, str] = {}
    out = sys.stdout

    def send(id: Any, result: str) -> None:
        out.write(f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"result":{result}}}\n')
        out.flush()

    for line in sys.stdin:
        said = json.loads(line)
        params: dict[str, Any] = said.get("params") or {}
        match said.get("method"):
            case "initialize":
                hello: dict[str, Any] = {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "giving", "version": "1"},
                }
                send(said["id"], json.dumps(hello))
            case "tools/list":
                send(said["id"], json.dumps({"tools": [TOOL]}))
            case "tools/call":
                size: int = params["arguments"]["size"]
                if size not in made:
                    made[size] = json.dumps({"content": [{"type": "text", "text": "x" * size}]})
                send(said["id"], made[size])
            case _ if "id" in said:
                error = {"code": -32601, "message": "Method not found"}
                out.write(json.dumps({"jsonrpc": "2.0", "id": said["id"], "error": error}) + "\n")
                out.flush()
            case _:
                pass


if __name__ == "__main__":
    main()
