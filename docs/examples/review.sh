#!/bin/sh
# Review what changed since a commit. Prints findings as JSON; exit code 1 when one is serious, and
# the agent's own code when the review itself failed. Usage: review.sh BASE [FLAGS FOR AGENT]
set -u
base=$1
shift

schema='{
  "type": "object",
  "properties": {
    "findings": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "file": {"type": "string"},
          "line": {"type": "integer"},
          "severity": {"enum": ["note", "serious"]},
          "what": {"type": "string"}
        },
        "required": ["file", "line", "severity", "what"],
        "additionalProperties": false
      }
    }
  },
  "required": ["findings"],
  "additionalProperties": false
}'

findings=$(git diff "$base"... | agent -p "Review this diff. Report only what you are sure of." \
    --tools "Read,Grep,Glob" --max-turns 30 --json-schema "$schema" "$@") || exit $?
printf '%s\n' "$findings"
case $findings in
*'"severity":"serious"'*) exit 1 ;;
esac
