#!/usr/bin/env python3
"""Commit messages begin with a type, as in "feat: add a page"."""

import json
import re
import shlex
import sys

data = json.load(sys.stdin)
if data.get("tool_name") != "Bash":
    sys.exit(0)
try:
    words = shlex.split(data["tool_input"]["command"])
except ValueError:
    sys.exit(0)
if words[:2] != ["git", "commit"] or "-m" not in words:
    sys.exit(0)
message = words[words.index("-m") + 1]
if not re.match(r"(feat|fix|docs|test|refactor|chore)(\(.+\))?: .+", message):
    print(
        json.dumps(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": f"{message!r} has no type: feat, fix, docs, ...",
                }
            }
        )
    )
