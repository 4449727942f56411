#!/usr/bin/env python3
"""Formats a Python file after it was written."""

import json
import sys

data = json.load(sys.stdin)
path = data["tool_input"].get("file_path", "")
if not path.endswith(".py"):
    sys.exit(0)
with open(path, encoding="utf-8") as file:
    before = file.read()
after = "".join(line.rstrip() + "\n" for line in before.splitlines())
if after != before:
    with open(path, "w", encoding="utf-8") as file:
        file.write(after)
    print(
        json.dumps(
            {"systemMessage": f"Formatted {path.rpartition('/')[2]}", "suppressOutput": True}
        )
    )
