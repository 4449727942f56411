"""Identifiers that sort by time (UUID version 7), made without importing `uuid`."""

from __future__ import annotations

import os
import time


def new_id() -> str:
    """A UUID v7: 48 bits of milliseconds, then random bits."""
    millis = time.time_ns() // 1_000_000
    value = (millis << 80) | int.from_bytes(os.urandom(10), "big")
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
