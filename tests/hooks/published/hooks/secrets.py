#!/usr/bin/env python3
"""Refuses commands that hold something that looks like a key."""

import json
import re
import sys

PATTERNS = {
    "an AWS key": r"AKIA[0-9A-Z]{16}",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "a GitHub token": r"gh[pousr]_[A-Za-z0-9]{36}",
}

data = json.load(sys.stdin)
command = data.get("tool_input", {}).get("command", "")
for name, pattern in PATTERNS.items():
    if re.search(pattern, command):
        print(f"The command holds {name}. Read it from the environment.", file=sys.stderr)
        sys.exit(2)
