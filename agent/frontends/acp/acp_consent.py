"""Questions of a session put to the client, and its answers: whole or not at all.

What the client answers counts only where we offered it; everything else is no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gatewright.agent.frontends.acp.jsonrpc import Gone, Peer, RpcError
from gatewright.agent.frontends.acp.params import Elicited, Permission
from gatewright.agent.frontends.acp.shown_blocks import WholeOf, contents, text_content
from gatewright.agent.frontends.sdk.consent import field_schema
from gatewright.tools.blocks import plain
from gatewright.tools.interact import ACCEPT, ELICITATION, Answer, Ask, Option
from gatewright.tools.system.untyped_json import Json, items

NOBODY = Answer(cancelled=True)
ALLOWS, ALWAYS, REJECTS = "allow_once", "allow_always", "reject_once"
NO = frozenset({"no", "stop", "decline", "cancel", "continue", "exit"})
CHOICE, WORDS = "answer", "other"
DETAIL = 20_000  # characters of what is at stake in a form


class Put(msgspec.Struct, frozen=True):
    """One question on its way: of which session and call, and what is known of its files."""

    session: str
    call: str
    whole_of: WholeOf
    agent: str = ""  # as people call the one below the main agent that asks
    raw: Json | None = None


class Consent:
    def __init__(self, peer: Peer, *, forms: bool) -> None:
        self._peer, self._forms = peer, forms

    async def answer(self, ask: Ask, put: Put) -> Answer:
        """What the person at the client says; nobody, where there is none to ask."""
        try:
            if ask.kind == "permission":
                return await self._permission(ask, put)
            if self._forms:
                return await self._form(ask, put)
            if ask.kind == "trust" or ask.fields:
                return NOBODY  # its words would not fit on a button
            return await self._permission(ask, put)
        except (RpcError, Gone, msgspec.MsgspecError):
            return NOBODY

    async def _permission(self, ask: Ask, put: Put) -> Answer:
        options = [option for option in ask.options if not option.leaves]
        if not options:
            return NOBODY
        call: dict[str, Any] = {
            "toolCallId": put.call,
            "title": " ".join(_title(ask, put).split())[:500] or "A question",
            "status": "pending",
            "content": _stakes(ask, put.whole_of),
        }
        if put.raw is not None:
            call["rawInput"] = put.raw
        said = await self._peer.request(
            "session/request_permission",
            {
                "sessionId": put.session,
                "toolCall": call,
                "options": [_option(ask, option, n) for n, option in enumerate(options)],
            },
        )
        outcome = msgspec.convert(said, Permission).outcome
        if outcome.outcome != "selected":
            return NOBODY
        chosen = next((option for option in options if option.id == outcome.option_id), None)
        return Answer.of(chosen.id) if chosen is not None else NOBODY

    async def _form(self, ask: Ask, put: Put) -> Answer:
        schema = form_of(ask)
        about: Json = {"toolCallId": put.call} if put.raw is not None else {}
        said = await self._peer.request(
            "elicitation/create",
            {
                "sessionId": put.session,
                **about,
                "mode": "form",
                "message": _words(ask, _title(ask, put)),
                "requestedSchema": schema,
            },
        )
        given = msgspec.convert(said, Elicited)
        if given.action != "accept":
            return _declined(ask)
        content = given.content or {}
        if ask.fields:
            return Answer.of(ACCEPT) if not content else Answer((ACCEPT,), values=content)
        return _chosen(ask, content)


def form_of(ask: Ask) -> Json:
    """The fields of a form, or one that chooses among the options."""
    if ask.fields:
        properties = {field.name: field_schema(field) for field in ask.fields}
        required = [field.name for field in ask.fields if field.required]
        return {"type": "object", "properties": properties, "required": required}
    ways = [{"const": each.id, "title": each.label} for each in ask.options if not each.leaves]
    single: Json = {"type": "string", "title": ask.title, "oneOf": ways}
    several: Json = {"type": "array", "title": ask.title, "items": {"anyOf": ways}}
    found: dict[str, Json] = {CHOICE: several if ask.multiple else single}
    if ask.free_text:
        found[WORDS] = {"type": "string", "title": "Something else"}
    required = [] if ask.free_text or ask.multiple else [CHOICE]
    return {"type": "object", "properties": found, "required": required}


def _chosen(ask: Ask, content: Mapping[str, object]) -> Answer:
    """Options that were offered, or words where words were wanted."""
    said, words = content.get(CHOICE), content.get(WORDS)
    text = words if ask.free_text and isinstance(words, str) and words.strip() else ""
    picked: Sequence[object] = items(said) if ask.multiple else (said,)
    ids = {option.id for option in ask.options if not option.leaves}
    chosen = tuple(each for each in picked if isinstance(each, str) and each in ids)
    if text and (not ask.multiple or len(chosen) < len(picked)):
        return Answer(text=text)
    return Answer(chosen, text) if chosen and len(chosen) == len(picked) else NOBODY


def _declined(ask: Ask) -> Answer:
    ids = [option.id for option in ask.options]
    return next((Answer.of(id) for id in ("decline", "no", "continue") if id in ids), NOBODY)


def _option(ask: Ask, option: Option, at: int) -> Json:
    return {"optionId": option.id, "name": option.label[:300], "kind": _kind(ask, option, at)}


def _kind(ask: Ask, option: Option, at: int) -> str:
    if option.id == "always":
        return ALWAYS
    if option.id in NO or (ask.kind != "question" and at and at == len(ask.options) - 1):
        return REJECTS
    return ALLOWS


def _stakes(ask: Ask, whole_of: WholeOf) -> list[Json]:
    """All that is at stake, what must be seen first in front."""
    reason = [text_content(ask.reason)] if ask.reason else []
    lacking = [text_content("Not covered: " + " · ".join(ask.lacking))] if ask.lacking else []
    body = contents(ask.body, whole_of)
    return [*reason, *body, *lacking] if ask.danger else [*body, *lacking, *reason]


def _title(ask: Ask, put: Put) -> str:
    return f"{put.agent}: {ask.title}" if put.agent else ask.title


def _words(ask: Ask, title: str) -> str:
    shown = "\n".join(map(plain, ask.body))
    if len(shown) > DETAIL:
        shown = f"{shown[:DETAIL]}\n[{len(shown) - DETAIL:,} more characters]"
    lacking = "\n".join(ask.lacking) if ask.kind == ELICITATION else ""
    return "\n\n".join(filter(None, (title, shown, lacking, ask.reason)))
