"""A flag either does something or says that it does not: none is silently ignored."""

from __future__ import annotations

import re

from msgspec import structs

from gatewright.agent.options import LaunchOptions
from gatewright.agent.starting import IDLE
from tests.guards.sources import own_sources


def used() -> set[str]:
    """The options that something reads."""
    texts = [source.text for source in own_sources()]
    return {name for text in texts for name in re.findall(r"\b_?options\.([a-z_]+)\b", text)}


def test_every_other_flag_is_read_somewhere() -> None:
    fields = {field.name for field in structs.fields(LaunchOptions)}
    assert fields - used() - IDLE.keys() == set()


def test_idle_flags_are_read_by_nobody() -> None:
    assert not IDLE.keys() & used()
