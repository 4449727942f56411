"""What the checkers of all three APIs share. They return faults; no fault means a valid body."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any, cast

Json = dict[str, Any]
IMAGES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
PDF = {"application/pdf"}
TOOL = re.compile(r"[a-zA-Z0-9_-]{1,128}")
ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def is_base64(data: Any) -> bool:
    try:
        return isinstance(data, str) and bool(base64.b64decode(data, validate=True))
    except binascii.Error:
        return False


def is_data_url(url: Any, types: set[str]) -> bool:
    if not isinstance(url, str) or not url.startswith("data:"):
        return False
    head, _, data = url[5:].partition(";base64,")
    return head in types and is_base64(data)


def is_object(text: Any) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except ValueError:
        return False


def parts_of(content: Any) -> list[Json]:
    """Content as parts; none where it is plain text."""
    return cast("list[Json]", content) if isinstance(content, list) else []
