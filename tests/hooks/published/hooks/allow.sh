#!/bin/bash
# Says yes to what never hurts.
input=$(cat)
command=$(printf '%s' "$input" | python3 -c 'import json,sys; print(json.load(sys.stdin)["tool_input"]["command"])')
case "$command" in
  "npm test" | "npm run lint" | "touch build/"*)
    echo '{"decision": "approve", "reason": "It is on the list."}'
    ;;
esac
exit 0
