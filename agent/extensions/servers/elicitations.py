"""Questions of servers to the person: who asks is named, hooks may answer, and nobody means no.

What is typed goes to the server alone: it is in no event, no transcript and no log.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.servers.filling import filled
from gatewright.agent.extensions.servers.logins import browser, open_page
from gatewright.agent.extensions.servers.quoted import quoted
from gatewright.agent.record.events import Noticed
from gatewright.agent.text.printable import escaped
from gatewright.mcp.asked.form import Form, form_of
from gatewright.mcp.asked.questions import Elicitation, Reply, Unfit
from gatewright.mcp.names import lead_of
from gatewright.mcp.surroundings import Around
from gatewright.tools.blocks import Block, Text
from gatewright.tools.form_values import wrong
from gatewright.tools.interact import ACCEPT, ELICITATION, Answer, Ask, Option
from gatewright.tools.moments import Elicited, Elicits, Verdict

DECLINE, MYSELF = "decline", "myself"
MOST_OPENED = 20
COMPLETE = "The MCP server {server} says that what you opened is done."
COMPLETED = "elicitation_complete"  # as who listens to notices knows it
HERE = frozenset({"localhost", "127.0.0.1", "::1"})
OPEN = "Open this address yourself, in a browser you trust:"
UNFIT = "The answer of a hook to the server {server} does not fit what it asks for: {why}."


class Elicitations:
    def __init__(self, host: Host, around: Callable[[], Around]) -> None:
        self._host, self._around = host, around
        self._opened: deque[tuple[str, str]] = deque(maxlen=MOST_OPENED)  # addresses, by their ids

    async def ask(self, server: str, asked: Elicitation) -> Reply:
        """Raises Unfit."""
        form = form_of(asked.schema) if asked.schema is not None else None
        if form is None:
            host_of(asked.url)
        reply = await self._by_hook(server, asked, form)
        if reply is None:
            reply = await self._by_person(server, asked, form)
        reply = await self._told(server, asked, reply, form)
        if reply.action == "accept" and asked.id:
            self._opened.append((server, asked.id))
        return reply

    def completed(self, server: str, id: str) -> None:
        """What the person went to an address for is done there; told of those they went to."""
        if (server, id) in self._opened:
            self._opened.remove((server, id))
            self._host.publish(Noticed(text=COMPLETE.format(server=server), about=COMPLETED))

    async def _by_hook(self, server: str, asked: Elicitation, form: Form | None) -> Reply | None:
        if (moments := self._host.moments) is None:
            return None
        verdict = await moments.at(
            Elicits(
                server=server,
                message=asked.message,
                mode=asked.mode,
                url=asked.url,
                schema=asked.schema,
                id=asked.id,
            )
        )
        return self._answered(server, verdict, form)

    async def _told(
        self, server: str, asked: Elicitation, reply: Reply, form: Form | None
    ) -> Reply:
        """Whoever listens may still change it, or keep it back."""
        if (moments := self._host.moments) is None:
            return reply
        moment = Elicited(
            server=server,
            action=reply.action,
            content=reply.content,
            mode=asked.mode,
            id=asked.id,
        )
        return self._answered(server, await moments.at(moment), form) or reply

    def _answered(self, server: str, verdict: Verdict, form: Form | None) -> Reply | None:
        if verdict.notice:
            self._host.warn(escaped(verdict.notice))
        if verdict.word in ("deny", "stop"):
            return Reply("decline")
        given = verdict.input or {}
        action = given.get("action")
        if action not in ("accept", "decline", "cancel"):
            return None
        content = given.get("content")
        table = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
        if action == "accept" and (why := _wrong(form, table)):
            self._host.warn(escaped(UNFIT.format(server=server, why=why)))
            return None
        accepted = action == "accept" and form is not None
        return Reply(action, table if accepted else None)

    async def _by_person(self, server: str, asked: Elicitation, form: Form | None) -> Reply:
        if not self._host.around.interactive:
            return Reply("cancel")
        if form is None:
            return await self._sent_to(server, asked)
        answer = await filled(self._host.session.ask, _question(server, asked, form))
        return _reply(answer, form)

    async def _sent_to(self, server: str, asked: Elicitation) -> Reply:
        """The address is opened only after a yes, and only where a browser would be seen."""
        around = self._around()
        program = browser(around.env, around.avoid)
        answer = await self._host.session.ask(_question(server, asked, None, opens=bool(program)))
        if answer.choice == ACCEPT and program and not await open_page(program, asked.url, around):
            self._host.warn("The browser did not open: open the address yourself.")
        if answer.choice == MYSELF:
            return Reply("accept")
        return _reply(answer, None)


def _reply(answer: Answer | None, form: Form | None) -> Reply:
    if answer is None or answer.cancelled:
        return Reply("cancel")
    if answer.choice != ACCEPT:
        return Reply("decline" if answer.choice == DECLINE else "cancel")
    return Reply("accept", form.content(answer.values or {}) if form is not None else None)


def _wrong(form: Form | None, content: Mapping[str, Any]) -> str:
    """Why what a hook says is none of the form; choices are named as the server names them."""
    if form is None:
        return ""
    known = {field.name for field in form.fields}
    if extra := set(content) - known:
        return f"there is no {sorted(extra)[0]}"
    for field in form.fields:
        titles = {value: title for title, value in form.values.get(field.name, {}).items()}
        value = content.get(field.name)
        shown = _shown(value, titles)
        if why := wrong(field, shown):
            return f"{field.name} is {why}"
    return ""


def _question(server: str, asked: Elicitation, form: Form | None, *, opens: bool = False) -> Ask:
    body: list[Block] = list(quoted(asked.message, "It says:"))
    if form is None:
        host = host_of(asked.url)
        told = [] if opens else [Text(OPEN, "dim")]
        body += [*told, Text(asked.url), Text(f"It is on {host}.")]
        label = "Open it in the browser" if opens else "I have opened it"
        title = "wants you to go to an address"
    else:
        label, title = ("Fill it in" if form.fields else "Yes"), "asks you"
    return Ask(
        kind=ELICITATION,
        title=f"The MCP server {server} {title}",
        body=tuple(body),
        options=(
            Option(ACCEPT, label, "y"),
            *([Option(MYSELF, "I open it myself", "o")] if opens else []),
            Option(DECLINE, "Decline", "n"),
        ),
        reason="What you answer goes to that server.",
        tool=lead_of(server),
        fields=form.fields if form is not None else (),
        lacking=(asked.url,) if form is None else (),
    )


def host_of(url: str) -> str:
    """The host of an address that may be gone to: https, or this machine's. Raises Unfit."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        raise Unfit("The address cannot be read.") from None
    if not host or "\\" in url or any(mark in parts.netloc for mark in "@%"):
        raise Unfit("The address names no host as it is, or a person at one.")
    if parts.scheme != "https" and not (parts.scheme == "http" and host in HERE):
        raise Unfit("An address begins with https://, or is this machine's.")
    return _plain_host(host)


def _plain_host(host: str) -> str:
    """In the letters that are asked for: many others look like them. Raises Unfit."""
    try:
        return host if host.isascii() else f"{host.encode('idna').decode()} ({host})"
    except UnicodeError:
        raise Unfit("The address names no host as it is, or a person at one.") from None


def _shown(value: Any, titles: Mapping[str, str]) -> Any:
    """A choice as people read it."""
    match value:
        case str():
            return titles.get(value, value)
        case list():
            return [
                titles.get(each) if isinstance(each, str) else None
                for each in cast("list[object]", value)
            ]
        case _:
            return value
