#!/bin/bash
# Tells the model at the start where it is.
echo "## Project status"
echo "Directory: $(basename "$CLAUDE_PROJECT_DIR")"
echo "Branch: $(git rev-parse --abbrev-ref HEAD 2>/dev/null || echo none)"
if [ -n "$CLAUDE_ENV_FILE" ]; then
  echo 'export APP_ENV=development' >> "$CLAUDE_ENV_FILE"
fi
exit 0
