"""Questions of the session put to an SDK client as `can_use_tool`, and its verdicts as answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from gatewright.agent.frontends.sdk.control import Refused
from gatewright.agent.frontends.sdk.shapes import by
from gatewright.agent.hooks.inputs import suggestion
from gatewright.agent.record.events import Asked
from gatewright.agent.session.session import Session
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import plain
from gatewright.tools.interact import ACCEPT, ELICITATION, Always, Answer, Ask, Field
from gatewright.tools.system.untyped_json import Json, items, obj

DENIED = "The person denied this call."
KEPT_IN = ("localSettings", "userSettings")
NO_INPUT = "No consent: its updatedInput is no object."


_LIMITS = {
    "text": ("minLength", "maxLength"),
    "secret": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "several": ("minItems", "maxItems"),
}


class Answering(Protocol):
    """Who answers: a client, or a tool."""

    async def request(self, body: Json) -> Json:
        """Raises Refused."""
        ...


class Consent:
    """`inputs` are the calls of the session by id; a client sees what the model asked for, or
    what became of it."""

    def __init__(self, client: Answering, session: Session) -> None:
        self._client = client
        self._session = session
        # By agent and call, whose ids are a server's and may repeat: answers to all its questions.
        self._told: dict[tuple[str, str], Mapping[str, Any]] = {}

    async def answer(self, asked: Asked, input: Json, agent: str = MAIN) -> Answer:
        """What the client says; an error or its absence is no consent."""
        ask = asked.ask
        if ask.rewritten is not None:
            input = ask.rewritten  # what would run
        if ask.kind == ELICITATION:
            return await self._elicited(ask)
        known = self._told.get((agent, ask.call_id)) if ask.kind == "question" else None
        if known is not None:
            return chosen(ask, known.get(ask.title))
        try:
            verdict = await self._client.request({**request_for(ask, input), **by(agent)})
        except Refused as error:
            return Answer(text=f"No consent: {error}") if ask.free_text else Answer(cancelled=True)
        allowed = verdict.get("behavior") == "allow"
        updates = [*map(obj, items(verdict.get("updatedPermissions")))]
        if allowed and (kept := await self._kept(asked, updates, verdict, input)) is not None:
            return kept
        await self._apply(updates, widening=allowed)
        match ask.kind:
            case "question":
                return self._question(ask, verdict, agent)
            case "plan" | "trust":
                return plan_answer(ask, verdict)
            case "permission":
                return permission_answer(verdict, input)
            case _:
                return Answer(cancelled=True)  # this protocol has no answer to what it asks

    async def _elicited(self, ask: Ask) -> Answer:
        """What a server asks, put as such and once: who knows no such request cancels."""
        if not any(option.id == ACCEPT for option in ask.options):
            return Answer(cancelled=True)  # one field of a form that was not filled in
        try:
            said = await self._client.request(elicitation(ask))
        except Refused:
            return Answer(cancelled=True)
        action = said.get("action")
        if action not in ("accept", "decline"):
            return Answer(cancelled=True)
        return Answer((str(action),), values=dict(obj(said.get("content"))))

    def _question(self, ask: Ask, verdict: Json, agent: str) -> Answer:
        if verdict.get("behavior") != "allow":
            return Answer(cancelled=True)
        answers = obj(obj(verdict.get("updatedInput")).get("answers"))
        if not answers:
            return Answer(cancelled=True)
        if ask.call_id:  # a question of our own is asked each time
            self._told[agent, ask.call_id] = answers
        return chosen(ask, answers.get(ask.title))

    async def _kept(
        self, asked: Asked, updates: Sequence[Json], verdict: Json, input: Json
    ) -> Answer | None:
        """An "always": rules for a settings file that settle this very call, and nothing else."""
        places = {update.get("destination") for update in updates}
        answer = permission_answer(verdict, input)
        if asked.ask.always is None or len(places) != 1 or answer.input is not None:
            return None
        (place,) = places
        if place not in KEPT_IN or not all(map(_allows, updates)):
            return None
        rules = [rule_text(obj(rule)) for each in updates for rule in items(each.get("rules"))]
        if not rules or (await self._session.weigh(asked.id, rules)).problem:
            return None
        return Answer(("always",), rules=tuple(rules), place="user" if place == KEPT_IN[1] else "")

    async def _apply(self, updates: Sequence[Json], *, widening: bool) -> None:
        """Session rules and modes that came with a verdict; only a yes widens anything."""
        for update in updates:
            if not widening and update.get("behavior") not in ("deny", "ask"):
                continue
            match update.get("type"):
                case "setMode" if widening:
                    with suppress(ValueError):  # no such mode here: the verdict counts without it
                        self._session.set_mode(str(update.get("mode", "")))
                case "addRules":
                    behavior = str(update.get("behavior"))
                    for rule in map(obj, items(update.get("rules"))):
                        with suppress(ValueError):  # no such rule: the verdict counts without it
                            self._session.restrict([(behavior, rule_text(rule))])
                case _:
                    pass


def suggestions(always: Always | None) -> list[Json]:
    """What "always" would store, as updates that a verdict may bring back."""
    if always is None or not always.offered:
        return []
    found: list[Json] = [{**suggestion(r), "destination": KEPT_IN[0]} for r in always.rules]
    mode = {"type": "setMode", "mode": always.mode, "destination": "session"}
    return [*found, mode] if always.mode else found


def _allows(update: Json) -> bool:
    return update.get("type") == "addRules" and update.get("behavior") == "allow"


def request_for(ask: Ask, input: Json) -> Json:
    body: dict[str, Any] = {
        "subtype": "can_use_tool",
        "tool_name": ask.tool,
        "input": input,
        "tool_use_id": ask.call_id,
        "permission_suggestions": suggestions(ask.always),
        "title": ask.title,
        "description": "\n".join(map(plain, ask.body)),
    }
    return {**body, "decision_reason": ask.reason} if ask.reason else body


def elicitation(ask: Ask) -> Json:
    """A question of a server; its fields as the schema of what is to be answered."""
    schema = {
        "type": "object",
        "properties": {field.name: field_schema(field) for field in ask.fields},
        "required": [field.name for field in ask.fields if field.required],
    }
    body: Json = {
        "subtype": "elicitation",
        "mcp_server_name": ask.tool.removeprefix("mcp__"),
        "message": "\n".join(map(plain, ask.body)),
    }
    if ask.lacking:
        return {**body, "mode": "url", "url": ask.lacking[0]}
    return {**body, "mode": "form", "requested_schema": schema}


def field_schema(field: Field) -> Json:
    about = {"title": field.label, "description": field.help, "default": field.default}
    found: dict[str, Any] = {name: each for name, each in about.items() if each not in (None, "")}
    for name, value in zip(_LIMITS.get(field.type, ()), (field.least, field.most), strict=False):
        found |= {} if value is None else {name: value}
    found |= {"format": field.format} if field.format else {}
    match field.type:
        case "one":
            return {"type": "string", "enum": list(field.options), **found}
        case "several":
            items = {"type": "string", "enum": list(field.options)}
            return {"type": "array", "items": items, **found}
        case "text" | "secret":
            return {"type": "string", **found}
        case kind:
            return {"type": kind, **found}


def permission_answer(verdict: Json, input: Json) -> Answer:
    if verdict.get("behavior") == "allow":
        given = verdict.get("updatedInput")
        if given is not None and not isinstance(given, dict):
            return Answer(text=NO_INPUT)  # it was to run with another one
        updated = obj(verdict.get("updatedInput"))
        return Answer(choices=("once",), input=updated if updated and updated != input else None)
    if verdict.get("interrupt"):
        return Answer(choices=("no",))
    return Answer(text=str(verdict.get("message") or DENIED))


def plan_answer(ask: Ask, verdict: Json) -> Answer:
    """The first option goes ahead, the last does not."""
    if verdict.get("behavior") == "allow":
        return Answer(choices=(ask.options[0].id,))
    return Answer(choices=(ask.options[-1].id,), text=str(verdict.get("message") or ""))


def chosen(ask: Ask, said: object) -> Answer:
    """Labels, one or several, or the client's own words."""
    words = [str(word) for word in items(said)]
    if isinstance(said, str):
        labels = {option.label for option in ask.options}
        words = [said] if said in labels or not ask.multiple else said.split(", ")
    ids = {option.label: option.id for option in ask.options}
    if words and all(word in ids for word in words):
        return Answer(choices=tuple(ids[word] for word in words))
    return Answer(text=", ".join(words)) if words else Answer(cancelled=True)


def rule_text(rule: Json) -> str:
    content = rule.get("ruleContent")
    name = str(rule.get("toolName", ""))
    return f"{name}({content})" if content else name
