#!/usr/bin/env python3
"""Keeps every call in one log."""

import datetime
import json
import os
import sys

data = json.load(sys.stdin)
entry = {
    "time": datetime.datetime.now(datetime.timezone.utc).isoformat(),
    "session": data["session_id"],
    "tool": data["tool_name"],
    "input": data["tool_input"],
}
folder = os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "logs")
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "calls.jsonl"), "a", encoding="utf-8") as log:
    log.write(json.dumps(entry) + "\n")
