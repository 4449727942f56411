"""The version, as a constant: asking the installed metadata for it costs 24 ms."""

from __future__ import annotations

NAME = "gatewright"
VERSION = "0.1.0"
