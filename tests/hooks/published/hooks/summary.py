#!/usr/bin/env python3
"""Reads the transcript and counts who said what."""

import collections
import json
import os
import sys

data = json.load(sys.stdin)
counts = collections.Counter()
prompts = []
with open(os.path.expanduser(data["transcript_path"]), encoding="utf-8") as transcript:
    for line in transcript:
        entry = json.loads(line)
        counts[entry["type"]] += 1
        content = entry.get("message", {}).get("content")
        if entry["type"] == "user" and isinstance(content, str):
            prompts.append(content)
        elif entry["type"] == "user":
            prompts += [part["text"] for part in content or [] if part.get("type") == "text"]
        elif entry["type"] == "assistant":
            for part in content:
                counts[part["type"]] += 1
path = os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "logs", "summary.json")
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "w", encoding="utf-8") as out:
    json.dump({"counts": counts, "prompts": prompts}, out)
