"""Forms of servers and prompts: all fields in one dialog, and nothing given that was not meant."""

from __future__ import annotations

from typing import Any

import pytest

from gatewright.agent.record.events import Answered, Asked
from gatewright.tools.blocks import Text
from gatewright.tools.interact import ACCEPT, ELICITATION, Answer, Ask, Field, Option
from gatewright.tui.ask.guard import HOLD, QUIET
from tests.tui.stage import Stage, stage

FIELDS = (
    Field("name", "Your name", required=True, least=2),
    Field("mail", "Mail", format="email"),
    Field("age", "Age", type="integer", default=30, least=18),
    Field("agree", "I agree", type="boolean", default=False, required=True),
    Field("colour", "Colour", type="one", options=("Red", "Green"), default="Green"),
    Field("pets", "Pets", type="several", options=("cat", "dog", "owl"), most=2),
    Field("api_token", "Token", type="secret", help="This looks like a secret."),
)


def form(*fields: Field) -> Ask:
    return Ask(
        kind=ELICITATION,
        title="The MCP server fake asks you",
        body=(Text("Who are you?"),),
        options=(Option(ACCEPT, "Fill it in", "y"), Option("decline", "Decline", "n")),
        fields=fields or FIELDS,
    )


async def opened(s: Stage, ask: Ask) -> None:
    s.session.publish(Asked(id=1, ask=ask))
    await s.see("Fill it in")
    await s.settled()
    s.clock.now += 2 * QUIET
    await s.press("y")
    await s.see("Send it")


def given(s: Stage) -> dict[str, Any]:
    ((number, answer),) = s.session.answers
    assert (number, answer.choices) == (1, (ACCEPT,))
    assert answer.values is not None
    return answer.values


async def key_by_key(s: Stage, *keys: str) -> None:
    for key in keys:
        s.clock.now += 1
        await s.press(key)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_all_fields_are_seen_with_what_stands_in_them(size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        s.session.publish(Asked(id=1, ask=form()))
        shown = await s.see("Fill it in", "Your name *", "Token")
        shown = shown.replace("\u00a0", " ")
        for part in ("Who are you?", "Age", "30", "(•) No", "(•) Green", "[ ] cat", "secret"):
            assert part in shown, shown


async def test_every_kind_is_filled_in_and_given_once_enter_is_pressed_on_the_last_row() -> None:
    async with stage(size=(100, 40)) as s:
        await opened(s, form())
        await key_by_key(s, *"Ada", "enter", *"ada@x.example", "enter")
        await key_by_key(s, "backspace", "backspace", *"42", "down", "space", "down", "left")
        await key_by_key(s, "down", "space", "right", "right", "space", "down", *"t0p")
        screen = await s.see("•••")
        assert "t0p" not in screen
        assert s.session.answers == []
        await key_by_key(s, "enter", "enter")
        await s.until(lambda: len(s.session.answers) == 1)
        assert given(s) == {
            "name": "Ada", "mail": "ada@x.example", "age": 42, "agree": True, "colour": "Red",
            "pets": ["cat", "owl"], "api_token": "t0p",
        }  # fmt: skip


async def test_what_does_not_fit_is_said_and_not_given() -> None:
    async with stage(size=(100, 40)) as s:
        await opened(s, form())
        await key_by_key(s, "A", "up", "enter")
        await s.see("That is too little: 2 characters at least.")
        assert s.session.answers == []
        await key_by_key(s, "d", "down", *"nobody", "pagedown", "enter")
        await s.see("That is no email.")
        await key_by_key(s, "ctrl+u", "pagedown", "enter")
        await s.until(lambda: len(s.session.answers) == 1)
        assert given(s) == {"name": "Ad", "age": 30, "agree": False, "colour": "Green"}


async def test_escape_goes_back_to_the_question_and_what_was_typed_stays() -> None:
    async with stage() as s:
        await opened(s, form())
        await key_by_key(s, *"Ada", "escape")
        await s.see("Fill it in", "Ada")
        await s.press("escape")
        await s.pilot.pause(2 * HOLD)
        assert s.session.answers == []
        await key_by_key(s, "y")
        await s.see("Send it", "Ada")
        await key_by_key(s, "escape")
        s.clock.now += 2 * QUIET
        await key_by_key(s, "n")
        await s.until(lambda: s.session.answers == [(1, Answer(("decline",)))])


async def test_what_is_pasted_is_a_value_and_gives_nothing() -> None:
    async with stage() as s:
        await opened(s, form(FIELDS[0], FIELDS[1]))
        await s.paste("Ada\nLovelace\n")
        await s.see("Ada Lovelace")
        await s.burst("x\ry\r\r\r\r")
        await s.settled()
        assert s.session.answers == []


async def test_the_field_with_the_keys_is_in_sight_on_a_small_screen() -> None:
    many = tuple(Field(f"f{n}", f"Field {n}", help=f"about {n}") for n in range(30))
    async with stage(size=(80, 24)) as s:
        await opened(s, form(*many))
        for number in range(30):
            assert f"▸ Field {number} " in await s.see(f"▸ Field {number} ")
            await key_by_key(s, "down")
        await s.see("▸ Send it")
        await key_by_key(s, "down")
        await s.see("▸ Field 0 ")


async def test_keys_of_a_form_that_is_gone_are_the_drafts() -> None:
    async with stage() as s:
        await opened(s, form())
        s.session.publish(Answered(id=1, answer=Answer(cancelled=True)))
        await s.gone("Send it")
        await s.type("hello")
        assert s.app.repl.box.text == "hello"
        assert s.session.answers == []
