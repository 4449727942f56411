"""A small model answers beside the conversation, or nothing comes of it."""

from __future__ import annotations

from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.model import OpenModel
from gatewright.agent.models.short_answer import PAGE_SYSTEM, PageReader
from tests.fakes.house import open_scripted
from tests.fakes.scripted_provider import ScriptedProvider


async def test_a_page_is_asked_about() -> None:
    provider = ScriptedProvider.parse("say: 42\n---\nerror: overloaded\n---\nsay: 43")
    opened: list[str] = []

    def open_model() -> OpenModel:
        opened.append("small")
        return open_scripted(provider, "small", "")

    reader = PageReader(open_model)
    assert await reader("What is it?") == "42"
    assert await reader("And now?") == ""
    assert await reader("Still?") == "43"
    assert opened == ["small"]
    assert provider.requests[0].system == (PAGE_SYSTEM,)
    await reader.close()
    assert provider.closed


async def test_without_a_model_there_is_no_answer() -> None:
    def none() -> OpenModel:
        raise GatewrightError("No key.")

    reader = PageReader(none)
    assert await reader("What is it?") == ""
    await reader.close()
