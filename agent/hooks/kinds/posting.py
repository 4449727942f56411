"""Runs a handler that is an address: the input is posted there, the answer is its JSON.

No redirects, no header of the environment that was not named twice, and for a project's handlers
no secrets and public hosts alone, unless the person's own settings list them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from gatewright.agent.errors import ProviderError
from gatewright.agent.hooks.handlers import SCRUBBED, Handler
from gatewright.agent.hooks.kinds.running import KEPT, Firing, Output

# Posts a body; the status and the body of the answer. Raises ProviderError. The last argument says
# whether only a public host will do.
Post: TypeAlias = Callable[[str, Mapping[str, str], bytes, bool], Awaitable[tuple[int, bytes]]]
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_IN_HOST = r"[^/?#@\\]*"
EVERYWHERE = "*"


class PostPorts(msgspec.Struct, frozen=True, kw_only=True):
    post: Post
    env: Callable[[bool], Mapping[str, str]]  # scrubbed?
    urls: Callable[[], Sequence[str]]  # allowedHttpHookUrls
    variables: Callable[[], Sequence[str]]  # httpHookAllowedEnvVars


class Poster:
    def __init__(self, ports: PostPorts) -> None:
        self._ports = ports

    async def run(self, handler: Handler, firing: Firing) -> Output:
        url, ports = handler.said.url, self._ports
        if refusal := refused(url, ports.urls(), of_project=handler.place.origin in SCRUBBED):
            return Output(failure=refusal)
        public = handler.place.origin in SCRUBBED and not listed(url, ports.urls())
        headers = {"content-type": "application/json", **self._headers(handler)}
        try:
            status, body = await ports.post(url, headers, firing.data, public)
        except ProviderError as error:
            return Output(failure=str(error))
        if not 200 <= status < 300:
            return Output(failure=f"it answered {status}")
        return _answer(body)

    def _headers(self, handler: Handler) -> dict[str, str]:
        allowed = self._ports.variables()
        names = {
            name
            for name in handler.said.allowed_env_vars
            if EVERYWHERE in allowed or name in allowed
        }
        whole = self._ports.env(False)
        env = self._ports.env(True) if handler.place.origin in SCRUBBED else whole

        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            found = whole if name in allowed else env  # a secret of the person's, by its name
            return found.get(name, "") if name in names else ""

        return {name: _VARIABLE.sub(value, text) for name, text in handler.said.headers.items()}


def listed(url: str, patterns: Sequence[str]) -> bool:
    """Whether the person named it, and not just everything."""
    return any(each != EVERYWHERE and _fits(each, url) for each in patterns)


def refused(url: str, patterns: Sequence[str], *, of_project: bool) -> str:
    """Why nothing is posted there; empty where it is."""
    if not url.startswith(("http://", "https://")):
        return f"{url} is no http:// or https:// address"
    if not any(_fits(each, url) for each in patterns):
        return f"{url} is not among allowedHttpHookUrls"
    if of_project and not listed(url, patterns) and not url.startswith("https://"):
        return f"{url} is no https:// address; list it in allowedHttpHookUrls of your own settings"
    return ""


def _fits(pattern: str, url: str) -> bool:
    """A `*` before the path stands for no part of one: a path could end in any host's name."""
    if pattern == EVERYWHERE:
        return True
    scheme, _, rest = pattern.partition("://")
    host, slash, path = rest.partition("/")
    whole = f"{_with(scheme, '[a-z]*')}://{_with(host, _IN_HOST)}"
    if slash:
        whole += f"/{_with(path, '.*')}"
    elif host.endswith("*"):
        whole += "(?:[/?#].*)?"
    return re.fullmatch(whole, url, re.DOTALL) is not None


def _with(text: str, star: str) -> str:
    return star.join(map(re.escape, text.split("*")))


def _answer(body: bytes) -> Output:
    if len(body) > KEPT:
        return Output(failure="its answer is larger than 1 MiB")
    if not body.strip():
        return Output(exit=0)
    try:
        value: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Output(failure=f"its answer is no JSON: {error}")
    if not isinstance(value, dict):
        return Output(failure="its answer is no JSON object")
    return Output(exit=0, stdout=body.decode("utf-8", "replace"))
