"""What an SDK client answers to one agent answers no question of another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from gatewright.agent.frontends.sdk.consent import Consent
from gatewright.agent.record.events import Asked
from gatewright.agent.session.session import Session
from gatewright.tools.interact import Ask, Option
from gatewright.tools.system.untyped_json import Json

OPTIONS = (Option("go_on", "Go on", "y"), Option("stop", "Stop", "n"))


@dataclass
class Client:
    """Says the same to everybody, and remembers who asked."""

    said: str = "Go on"
    asked: list[Json] = field(default_factory=list[Json])

    async def request(self, body: Json) -> Json:
        self.asked.append(body)
        answers = {str(body["title"]): self.said}
        return {"behavior": "allow", "updatedInput": {"answers": answers}}


def question(id: int, call_id: str, kind: Any = "question") -> Asked:
    return Asked(
        id=id, ask=Ask(kind=kind, title="Go on?", body=(), options=OPTIONS, call_id=call_id)
    )


def consent(client: Client) -> Consent:
    return Consent(client, cast("Session", None))


async def test_two_agents_with_one_call_id_are_asked_each() -> None:
    """The ids of calls are the server's: those of two conversations may be the same."""
    client = Client()
    asking = consent(client)
    for agent in ("main/a1", "main/a2", "main/a1"):
        assert (await asking.answer(question(1, "call_1"), {}, agent)).choices == ("go_on",)
    assert len(client.asked) == 2, "once for each, and not again for the first"


async def test_a_question_of_no_call_is_asked_each_time() -> None:
    client = Client()
    asking = consent(client)
    for count in (1, 2, 3):
        await asking.answer(question(count, ""), {}, "main/a1")
        assert len(client.asked) == count


async def test_an_answer_to_a_question_permits_no_call() -> None:
    client = Client()
    asking = consent(client)
    await asking.answer(question(1, "call_1"), {}, "main")
    answer = await asking.answer(question(2, "call_1", "permission"), {"a": 1}, "main")
    assert len(client.asked) == 2 and answer.choices == ("once",), "it was asked for itself"
