"""Servers that ask the person: forms and addresses, in both eras, answered, declined, abused."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.extensions.servers import elicitations
from gatewright.agent.extensions.servers.filling import KEEP, LEAVE, options, read
from gatewright.agent.extensions.servers.quoted import quoted
from gatewright.agent.record.events import Answered, Asked, Noticed
from gatewright.agent.text.printable import escaped
from gatewright.mcp.asked.form import form_of
from gatewright.mcp.asked.questions import Unfit
from gatewright.tools import form_values
from gatewright.tools.blocks import plain
from gatewright.tools.interact import Answer
from tests.fakes.near_server import NEAR, Near, instead
from tests.fakes.waiting import eventually
from tests.frontends.wire import Wire
from tests.mcp.test_session import connected
from tests.permissions.composed import Desk, desk

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "mail": {"type": "string", "format": "email"},
        "age": {"type": "integer", "minimum": 18, "default": 30},
        "share": {"type": "number"},
        "agree": {"type": "boolean", "default": True},
        "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}], "default": "s"},
        "pets": {"type": "array", "items": {"enum": ["cat", "dog"]}, "maxItems": 1},
        "api_token": {"type": "string"},
    },
    "required": ["name", "agree"],
}
OWN = {"mcpServers": {"fake": NEAR}, "permissions": {"allow": ["mcp__fake"]}}
TOOLS = {"tools": [{"name": "sign", "inputSchema": {"type": "object"}}]}
SCRIPT = ["call[c1]: mcp__fake__sign {}", "say: done"]


def asking(params: dict[str, Any], *, then: str = "") -> Near:
    """A server whose tool asks before it answers, and says what it was told."""

    async def sign(given: dict[str, Any]) -> dict[str, Any]:
        del given
        answer = await near.ask("elicitation/create", params)
        said = answer.get("result", answer.get("error"))
        return {"content": [{"type": "text", "text": then or str(said)}]}

    near = Near({"tools/list": TOOLS, "tools/call": sign})
    return near


def test_every_kind_of_field() -> None:
    form = form_of(SCHEMA)
    kinds = {field.name: (field.label, field.type, field.default) for field in form.fields}
    assert kinds == {
        "name": ("Your name", "text", None),
        "mail": ("mail", "text", None),
        "age": ("age", "integer", 30),
        "share": ("share", "number", None),
        "agree": ("agree", "boolean", True),
        "colour": ("colour", "one", None),
        "size": ("size", "one", "Small"),
        "pets": ("pets", "several", None),
        "api_token": ("api_token", "secret", None),
    }
    by_name = {field.name: field for field in form.fields}
    assert "looks like a secret" in by_name["api_token"].help
    assert by_name["colour"].options == ("Red", "Green")
    assert form.content({"colour": "Green", "pets": ["cat"]}) == {"colour": "g", "pets": ["cat"]}
    wrong = {
        ("name", "x"): "too little: 2 characters at least",
        ("mail", "nobody"): "no email",
        ("age", 3): "too little: 18 at least",
        ("pets", ("cat", "dog")): "too much: 1 to choose at most",
        ("mail", "a@b.c"): "",
    }
    for (name, value), why in wrong.items():
        given = list(value) if isinstance(value, tuple) else value
        assert form_values.wrong(by_name[name], given) == why


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": 3},
        {"type": "array", "properties": {}},
        {"properties": {"a": 3}},
        {"properties": {"a": {"type": "object"}}},
        {"properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        {"properties": {str(n): {"type": "string"} for n in range(100)}},
        {"properties": {"a": {"type": "string", "enum": [str(n) for n in range(1000)]}}},
    ],
)
def test_what_is_no_form(schema: dict[str, Any]) -> None:
    with pytest.raises(Unfit):
        form_of(schema)


@pytest.mark.parametrize(
    "rule",
    [
        {"type": "integer", "minimum": 10**400},
        {"type": "string", "minLength": 10**400},
        {"type": "integer", "default": 10**30},
        {"type": "number", "default": float("inf")},
        {"type": "number", "maximum": float("nan")},
    ],
)
def test_a_number_that_nobody_can_draw_or_type_is_no_limit(rule: dict[str, Any]) -> None:
    (field,) = form_of({"properties": {"a": rule}}).fields
    assert form_values.limits(field) in ("", "a whole number", "a number")
    assert (field.least, field.most, field.default) == (None, None, None)


@pytest.mark.parametrize(
    "enum", [["x" * 200 + "1", "x" * 200 + "2"], ["a b", "a  b", "a b "], ["", " "]]
)
def test_choices_that_look_the_same_are_none(enum: list[str]) -> None:
    with pytest.raises(Unfit, match="look the same"):
        form_of({"properties": {"a": {"type": "string", "enum": enum}}})


def test_a_choice_is_never_taken_for_a_word_of_ours() -> None:
    names = ["leave", "keep", "\x00keep"]
    form = form_of({"properties": {"a": {"type": "string", "enum": names}}})
    (field,) = form.fields
    picked = [read(field, Answer.of(each.id)) for each in options(field)[: len(names)]]
    assert [form.content({"a": each})["a"] for each in picked] == names
    assert not {LEAVE, KEEP} & {*field.options}


def test_a_host_in_letters_that_look_like_others_says_so() -> None:
    assert elicitations.host_of("https://\u0430pple.com/x").startswith("xn--pple-43d.com (")
    assert elicitations.host_of("https://x\u2044evil.com/").startswith("xn--")
    with pytest.raises(Unfit):
        elicitations.host_of("https://\u200b.com/")


class Answers:
    """Answers questions in turn: option ids, or texts that begin with `=`."""

    def __init__(self, made: Desk) -> None:
        self._made = made
        self._count = 0
        self.asked: list[Asked] = []

    async def __call__(self, *words: str) -> None:
        for word in words:
            self._count += 1
            asked = await self._made.asked(self._count)
            self.asked.append(asked)
            text = word.removeprefix("=") if word.startswith("=") else ""
            answer = Answer(text=text) if text else Answer((word,))
            self._made.session.answer(asked.id, answer)


async def test_a_form_is_filled_in_field_by_field_and_kept_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = asking({"message": "Who\x1b[2J?", "requestedSchema": SCHEMA}, then="thanks")
    instead(monkeypatch, near)
    async with desk(tmp_path, SCRIPT, own=OWN) as made:
        await connected(made)
        made.session.submit("go")
        answer = Answers(made)
        await answer("accept", "=A", "=Ada Secretname", KEEP, "=ten", "=20", "=0.5")
        await answer("yes", "Green", "Small", "cat", "=t0psecret")
        assert await made.finished("c1") == "thanks"
        await made.ended()
        first = answer.asked[0].ask
        assert first.title == "The MCP server fake asks you"
        shown = "\n".join(map(plain, first.body))
        assert "Who<U+001B>[2J?" in shown
        assert "That is too little: 2 characters at least." in str(answer.asked[2].ask.body)
        assert "That is no whole number." in str(answer.asked[5].ask.body)
        (told,) = [each["result"] for each in near.heard if "result" in each]
        assert told == {
            "action": "accept",
            "content": {
                "name": "Ada Secretname", "age": 20, "share": 0.5, "agree": True,
                "colour": "g", "size": "s", "pets": ["cat"], "api_token": "t0psecret",
            },
        }  # fmt: skip
        assert "Secretname" not in str(made.seen.of(Answered))
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    for path in kept:
        assert b"t0psecret" not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("words", "action"),
    [
        (("decline",), "decline"),
        (("cancel",), "cancel"),
        (("accept", "=Ada", LEAVE), "cancel"),
    ],
)
async def test_it_is_declined_or_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], action: str
) -> None:
    instead(monkeypatch, asking({"message": "Who?", "requestedSchema": SCHEMA}))
    async with desk(tmp_path, SCRIPT, own=OWN) as made:
        await connected(made)
        made.session.submit("go")
        await Answers(made)(*words)
        assert f"'action': '{action}'" in await made.finished("c1")
        await made.ended()


async def test_where_nobody_is_it_is_cancelled_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instead(monkeypatch, asking({"message": "Who?", "requestedSchema": SCHEMA}))
    async with desk(tmp_path, SCRIPT, own=OWN, interactive=False) as made:
        await connected(made)
        made.session.submit("go")
        assert "'action': 'cancel'" in await made.finished("c1")
        await made.ended()
        assert not made.seen.of(Asked)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://bank.example/login", ""),
        ("http://localhost:3000/x", ""),
        ("http://bank.example/login", "begins with https"),
        ("javascript:alert(1)", "names no host"),
        ("file:///etc/passwd", "names no host"),
        ("https://bank.example@evil.example/", "a person at one"),
        ("https://%65vil.example/", "no host as it is"),
        ("https://a.example/\u202eb", "cannot be shown"),
        ("https://a.example/" + "x" * 5_000, "cannot be shown"),
    ],
)
async def test_an_address_is_shown_whole_and_only_some_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, said: str
) -> None:
    params = {"mode": "url", "message": "Pay", "url": url, "elicitationId": "e"}
    instead(monkeypatch, asking(params))
    async with desk(tmp_path, SCRIPT, own=OWN) as made:
        await connected(made)
        made.session.submit("go")
        if not said:
            asked = await made.asked()
            assert url in "\n".join(map(plain, asked.ask.body))
            made.answer(asked, "accept")
        told = await made.finished("c1")
        assert (said or "'action': 'accept'") in told
        await made.ended()


async def test_a_server_that_nothing_waits_for_asks_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = asking({})
    instead(monkeypatch, near)
    async with desk(tmp_path, SCRIPT, own=OWN) as made:
        await connected(made)
        made.session.submit("go")
        await made.finished("c1")
        await made.ended()
        answer = await near.ask("elicitation/create", {"message": "x", "requestedSchema": SCHEMA})
        assert "asks nobody" in answer["error"]["message"]
        assert not made.seen.of(Asked)


async def test_a_call_that_is_stopped_takes_its_question_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instead(monkeypatch, asking({"message": "Who?", "requestedSchema": SCHEMA}))
    async with desk(tmp_path, SCRIPT, own=OWN) as made:
        await connected(made)
        made.session.submit("go")
        asked = await made.asked()
        made.session.interrupt()
        await made.ended()
        closed = await made.seen.until(Answered)
        assert (closed.id, closed.answer.cancelled) == (asked.id, True)


async def test_a_flood_of_questions_is_one_at_a_time_and_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    params: dict[str, Any] = {"message": "Who?", "requestedSchema": schema}

    async def sign(given: dict[str, Any]) -> dict[str, Any]:
        del given
        many = [near.ask("elicitation/create", params) for _ in range(30)]
        actions = [each["result"]["action"] for each in await asyncio.gather(*many)]
        text = f"{actions.count('decline')} {actions.count('cancel')}"
        return {"content": [{"type": "text", "text": text}]}

    near = Near({"tools/list": TOOLS, "tools/call": sign})
    instead(monkeypatch, near)
    async with desk(tmp_path, SCRIPT, own=OWN) as made:
        await connected(made)
        made.session.submit("go")
        for count in range(1, 11):
            asked = await made.asked(count)
            assert len(made.seen.of(Asked)) == count
            made.answer(asked, "decline")
        assert await made.finished("c1") == "10 20"
        await made.ended()


async def test_in_the_newer_era_it_is_asked_by_rounds_and_those_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "Sure?", "requestedSchema": {
            "type": "object", "properties": {"sure": {"type": "boolean"}}}},
    }  # fmt: skip

    def sign(given: dict[str, Any]) -> dict[str, Any]:
        if "inputResponses" in given and given["name"] == "sign":
            text = f"{given['requestState']} {given['inputResponses']['q']['content']}"
            return {"resultType": "complete", "content": [{"type": "text", "text": text}]}
        return {
            "resultType": "input_required",
            "inputRequests": {"q": request},
            "requestState": "s1",
        }

    tools = {"tools": [*TOOLS["tools"], {"name": "ever", "inputSchema": {"type": "object"}}]}
    listed = {**tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    instead(monkeypatch, Near({"tools/list": listed, "tools/call": sign}, era="2026-07-28"))
    script = [SCRIPT[0], "call[c2]: mcp__fake__ever {}", "say: done"]
    async with desk(tmp_path, script, own=OWN) as made:
        await connected(made)
        made.session.submit("go")
        answer = Answers(made)
        await answer("accept", "yes")
        assert await made.finished("c1") == "s1 {'sure': True}"
        await answer(*(["decline"] * 10))
        assert "more than 10 rounds" in await made.finished("c2")
        await made.ended()


def hook(folder: Path, event: str, said: dict[str, Any]) -> dict[str, Any]:
    """A hook of the person's own that answers so."""
    (folder / "said.json").write_text(json.dumps({"hookSpecificOutput": said}), encoding="utf-8")
    command = {"type": "command", "command": f"cat {folder / 'said.json'}"}
    return {"hooks": {event: [{"hooks": [command]}]}}


@pytest.mark.parametrize(
    ("event", "said", "words", "told"),
    [
        (
            "Elicitation",
            {"action": "accept", "content": {"name": "Ada", "agree": True, "colour": "g"}},
            (),
            "{'action': 'accept', 'content': {'name': 'Ada', 'agree': True, 'colour': 'g'}}",
        ),
        ("Elicitation", {"action": "decline"}, (), "{'action': 'decline'}"),
        ("Elicitation", {"action": "accept", "content": {"no": 1}}, ("decline",), "decline"),
        ("ElicitationResult", {"action": "decline"}, ("cancel",), "decline"),
    ],
)
async def test_hooks_answer_in_the_persons_place(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    event: str,
    said: dict[str, Any],
    words: tuple[str, ...],
    told: str,
) -> None:
    instead(monkeypatch, asking({"message": "Who?", "requestedSchema": SCHEMA}))
    own = {**OWN, **hook(tmp_path, event, {"hookEventName": event, **said})}
    async with desk(tmp_path, SCRIPT, own=own) as made:
        await connected(made)
        made.session.submit("go")
        await Answers(made)(*words)
        assert told in await made.finished("c1")
        await made.ended()
        assert len(made.seen.of(Asked)) == len(words)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            {"action": "accept", "content": {"name": "Ada", "agree": True}},
            "{'action': 'accept', 'content': {'name': 'Ada', 'agree': True}}",
        ),
        ({"action": "accept", "content": {"name": "A"}}, "{'action': 'cancel'}"),
        ({"action": "decline"}, "{'action': 'decline'}"),
        ({"behavior": "allow"}, "{'action': 'cancel'}"),
    ],
)
async def test_a_client_of_the_public_dialect_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any], told: str
) -> None:
    instead(monkeypatch, asking({"message": "Who?", "requestedSchema": SCHEMA}))
    async with desk(tmp_path, SCRIPT, own=OWN) as made:
        await connected(made)
        wire = Wire(made.session)
        wire.say("go")
        request = await wire.until("control_request")
        body = request["request"]
        assert (body["subtype"], body["mcp_server_name"]) == ("elicitation", "fake")
        assert body["requested_schema"]["properties"]["colour"]["enum"] == ["Red", "Green"]
        assert body["requested_schema"]["required"] == ["name", "agree"]
        wire.verdict(request, **answer)
        assert told in await made.finished("c1")
        await made.ended()
        assert await wire.code() == 0


@pytest.mark.parametrize(("word", "pages"), [("accept", 1), ("myself", 0), ("decline", 0)])
async def test_an_address_is_opened_after_a_yes_and_never_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, pages: int
) -> None:
    opened: list[str] = []

    async def open_page(program: str, page: str, around: Any) -> bool:
        del program, around
        opened.append(page)
        return True

    def browser(env: object, avoid: object) -> str:
        del env, avoid
        return "/usr/bin/browser"

    monkeypatch.setattr(elicitations, "browser", browser)
    monkeypatch.setattr(elicitations, "open_page", open_page)
    url = "https://bank.example/login"
    params = {"mode": "url", "message": "Pay", "url": url, "elicitationId": "e"}
    instead(monkeypatch, asking(params))
    async with desk(tmp_path, SCRIPT, own=OWN) as made:
        await connected(made)
        made.session.submit("go")
        asked = await made.asked()
        assert opened == []
        made.answer(asked, word)
        action = "decline" if word == "decline" else "accept"
        assert f"'action': '{action}'" in await made.finished("c1")
        await made.ended()
        assert opened == [url] * pages


async def test_hooks_of_notifications_hear_of_a_question_its_answer_and_what_it_led_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "heard"
    url = {"mode": "url", "message": "Pay", "url": "https://bank.example/x", "elicitationId": "e1"}
    near = asking(url)
    instead(monkeypatch, near)
    command = {"type": "command", "command": f"cat >> {log}"}
    events = ("Notification", "Elicitation", "ElicitationResult")
    own = {**OWN, "hooks": {each: [{"hooks": [command]}] for each in events}}
    monkeypatch.setattr("gatewright.agent.hooks.following.ASKED_AFTER", 0.0)

    def heard() -> list[dict[str, Any]]:
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return [json.loads(line) for line in lines]

    def told(kind: str) -> bool:
        return any(each.get("notification_type") == kind for each in heard())

    async with desk(tmp_path, SCRIPT, own=own) as made:
        await connected(made)
        made.session.submit("go")
        asked = await made.asked()
        await eventually(lambda: told("elicitation_dialog"))
        made.answer(asked, "accept")
        assert "accept" in await made.finished("c1")
        await eventually(lambda: told("elicitation_response"))
        await near.notify("notifications/elicitation/complete", {"elicitationId": "other"})
        await near.notify("notifications/elicitation/complete", {"elicitationId": "e1"})
        notice = await made.seen.until(Noticed, where=lambda e: bool(e.about))
        assert notice.text == "The MCP server fake says that what you opened is done."
        await eventually(lambda: told("elicitation_complete"))
        await near.notify("notifications/elicitation/complete", {"elicitationId": "e1"})
        await made.ended()
        by_event = {each["hook_event_name"]: each for each in heard()}
        assert by_event["Elicitation"]["elicitation_id"] == "e1"
        result = by_event["ElicitationResult"]
        assert (result["mode"], result["elicitation_id"]) == ("url", "e1")
        assert len([e for e in made.seen.of(Noticed) if e.about]) == 1


@pytest.mark.parametrize(
    "words",
    [
        "Hello\n\nWhat you answer goes to that server.",
        "Hello" + " " * 400 + "What you answer goes to that server.",
        "Hello" + "x" * 400,
        "It asks for: nothing\r\nIt says:",
    ],
)
def test_no_line_of_a_server_passes_for_one_of_ours(words: str) -> None:
    head, said = quoted(words, "It says:")
    assert plain(head) == "It says:"
    lines = plain(said).split("\n")
    assert all(line.startswith("│ ") and len(line) <= 74 for line in lines)
    joined = "".join(line[2:] for line in lines)
    assert joined.replace(" ", "") == escaped(words).replace("\n", "").replace(" ", "")
    assert list(quoted(" \n", "It says:")) == []
