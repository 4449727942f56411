"""A small model answers beside the conversation, or nothing comes of it."""

from __future__ import annotations

from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.model import OpenModel
from gatewright.agent.models.short_answer import PAGE_SYSTEM, PageReader
from gatewright.agent.record.events import AnyEvent, AttemptPaid
from tests.fakes.house import open_scripted
from tests.fakes.scripted_provider import ScriptedProvider


async def test_a_page_is_asked_about() -> None:
    provider = ScriptedProvider.parse(
        "say: 42\nusage: in=30 out=5\n---\nerror: overloaded\n---\nsay: 43\nusage: in=30 out=5"
    )
    opened: list[str] = []

    def open_model() -> OpenModel:
        opened.append("small")
        return open_scripted(provider, "small", "")

    booked: list[AnyEvent] = []
    reader = PageReader(open_model, booked.append)
    assert await reader("What is it?") == "42"
    assert await reader("And now?") == ""
    assert await reader("Still?") == "43"
    assert opened == ["small"]
    paid = [(each.by, each.usage.output) for each in booked if isinstance(each, AttemptPaid)]
    assert paid == [("pages", 5)] * 2, "what was used counts for the session"
    assert provider.requests[0].system == (PAGE_SYSTEM,)
    await reader.close()
    assert provider.closed


async def test_without_a_model_there_is_no_answer() -> None:
    def none() -> OpenModel:
        raise GatewrightError("No key.")

    reader = PageReader(none, lambda event: None)
    assert await reader("What is it?") == ""
    await reader.close()
