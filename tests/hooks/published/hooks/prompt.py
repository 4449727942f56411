#!/usr/bin/env python3
"""Spells out shortcuts in a prompt, and stops prompts that hold a password."""

import json
import re
import sys

SHORTCUTS = {"!brief": "Answer in one sentence.", "!plan": "Write a plan first, change nothing."}

data = json.load(sys.stdin)
prompt = data.get("prompt", "")
if re.search(r"(?i)\bpassword\s*[:=]\s*\S+", prompt):
    print(json.dumps({"decision": "block", "reason": "The prompt holds a password."}))
    sys.exit(0)
extra = [text for key, text in SHORTCUTS.items() if key in prompt]
if extra:
    output = {"hookEventName": "UserPromptSubmit", "additionalContext": " ".join(extra)}
    print(json.dumps({"hookSpecificOutput": output}))
