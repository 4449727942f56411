"""Calls about an address: the host by labels, and what kind of machine stands behind it."""

from __future__ import annotations

from gatewright.permissions.calls.subject import (
    Permit,
    PlanKind,
    Verdict,
    covers,
    param_matches,
    strongest,
)
from gatewright.permissions.calls.urls import (
    METADATA_NAMES,
    Kind,
    Url,
    host_matches,
    is_local_name,
    kind_of,
    literal_address,
    parse_url,
)
from gatewright.permissions.context import Call, Context
from gatewright.permissions.decision import Grant, Stage
from gatewright.permissions.modes import Mode
from gatewright.permissions.rulebook.rules import Bare, DomainForm, ParamForm, Rule
from gatewright.tools.access import Family

_REFUSED: tuple[Kind, ...] = ("metadata", "link_local", "unspecified")


class WebCall:
    """A call that fetches one or more addresses."""

    def __init__(self, call: Call, context: Context) -> None:
        self._call = call
        self._context = context
        self._urls: tuple[Url, ...] = tuple(map(parse_url, call.access.urls)) or (
            Url("", "the call names no address"),
        )

    @property
    def family(self) -> Family:
        return "web"

    @property
    def target(self) -> str:
        return ", ".join(self._call.access.urls)

    def impossible(self) -> tuple[Stage, str] | None:
        for url in self._urls:
            if url.problem:
                return Stage.URL, f"This cannot be fetched: {url.problem}."
        for url in self._urls:
            if self._poses_as_public(url.host):
                return Stage.URL, f"{url.host} is a public name that answers with a local address."
        return None

    def _poses_as_public(self, host: str) -> bool:
        if literal_address(host) is not None or is_local_name(host) or host in METADATA_NAMES:
            return False
        return any(kind in ("loopback", "unspecified", "link_local") for kind in self._kinds(host))

    def _kinds(self, host: str) -> set[Kind]:
        address = literal_address(host)
        if address is not None:
            return {kind_of(address)}
        if host in METADATA_NAMES:
            return {"metadata"}
        found: set[Kind] = set()
        for text in self._context.resolver.addresses(host):
            answer = literal_address(text)
            found.add(kind_of(answer) if answer is not None else "unspecified")
        if host == "localhost" or host.endswith(".localhost"):
            found.add("loopback")
        return found

    def denied(self) -> Rule | None:
        return next((rule for rule in self._context.rules.deny if self._fires(rule)), None)

    def asked(self) -> Rule | None:
        return strongest(rule for rule in self._context.rules.ask if self._fires(rule))

    def _fires(self, rule: Rule) -> bool:
        return covers(rule, self._call, "web") and any(
            self._covers(rule, url.host) for url in self._urls
        )

    def _covers(self, rule: Rule, host: str) -> bool:
        match rule.form:
            case Bare():
                return True
            case DomainForm(host=""):
                return True
            case DomainForm(host=pattern, subdomains=subdomains):
                return host_matches(host, pattern, subdomains=subdomains)
            case ParamForm() as form:
                return rule.behavior != "allow" and param_matches(form, self._call)
            case _:
                return False

    def floor(self) -> str:
        for url in self._urls:
            if any(kind in _REFUSED for kind in self._kinds(url.host)):
                return f"{url.host} leads to this machine's own metadata or link-local network."
        return ""

    def always_asks(self) -> str:
        for url in self._urls:
            if url.user:
                return f"The address names a user; the host is {url.host}."
            kinds = self._kinds(url.host)
            if kinds & {"private", "loopback"} and not self._named(url.host):
                return f"{url.host} is an address of this machine or a private network."
        return ""

    def _named(self, host: str) -> bool:
        """A trusted rule whose host is that literal address or that local name."""
        if literal_address(host) is None and not is_local_name(host):
            return False
        return any(
            isinstance(rule.form, DomainForm) and rule.form.host == host
            for rule in self._context.rules.trusted
            if covers(rule, self._call, "web")
        )

    def trusted(self, *, hook: bool) -> Permit | None:
        if self.always_asks():
            return None
        permit: Permit | None = None
        for url in self._urls:
            rules = self._context.rules.trusted
            best = strongest(
                r for r in rules if covers(r, self._call, "web") and self._covers(r, url.host)
            )
            if best is None and not hook:
                return None
            rank = best.rank if best is not None else (1, 0, 0)
            asks = (a for a in self._context.rules.ask if covers(a, self._call, "web"))
            if any(ask.rank > rank and self._covers(ask, url.host) for ask in asks):
                return None
            permit = permit or Permit(best)
        return permit

    def untrusted(self) -> Permit | None:
        return None  # an untrusted source never grants an address

    def skippable(self) -> bool:
        return False

    def danger(self) -> str:
        return ""

    def plan_kind(self) -> PlanKind:
        return "other"

    def strategy(self, mode: Mode) -> Verdict:
        return Verdict(False, f"Fetching from {self._urls[0].host} asks in {mode.id} mode.")

    def grants(self) -> tuple[Grant, ...]:
        if self.floor() or self.always_asks():
            return ()
        hosts = dict.fromkeys(url.host for url in self._urls)
        return tuple(Grant(rule=f"{self._call.tool}(domain:{host})") for host in hosts)

    def lacking(self) -> tuple[str, ...]:
        return ()
