#!/bin/bash
# A notification on the desktop.
input=$(cat)
message=$(printf '%s' "$input" | python3 -c 'import json,sys; print(json.load(sys.stdin)["message"])')
if command -v notify-send > /dev/null; then
  notify-send "Claude Code" "$message"
fi
exit 0
