"""What goes wrong with a server or on the way to it; all else is a defect of ours."""

from __future__ import annotations

import anyio
import httpx2
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

FAILURES = (
    MCPError, ValidationError, OSError, RuntimeError, ValueError, LookupError, TimeoutError,
    httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, ExceptionGroup,
    anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream,
)  # fmt: skip
