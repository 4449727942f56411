"""What MCP servers cost: `python tests/bench/mcp.py [--runs N] [--only WORD] [--check]`.

Beside the other benches, and not one of them by itself: in its own folder `import mcp` would find
this file and not the SDK.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    runpy.run_module("tests.bench.mcp_program", run_name="__main__", alter_sys=True)
