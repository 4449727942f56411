"""Renewing and giving back a login at the address that handed it out, and nowhere else."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote

import httpx2
import msgspec

from gatewright.mcp.oauth.asking import Asking
from gatewright.mcp.oauth.errors import LoginFailed
from gatewright.mcp.oauth.grant import Grant
from gatewright.tools.system.untyped_json import items, obj

OVER = "invalid_grant"
LONGEST = 16 * 1024  # of a token


async def renewed(grant: Grant, now: float) -> Grant | None:
    """None where the login is over. Raises LoginFailed, and then it may be tried again."""
    form = {"grant_type": "refresh_token", "refresh_token": grant.refresh}
    if grant.resource:
        form["resource"] = grant.resource
    async with Asking(grant.deepest) as asking:
        answer = await asking.send(_request(grant.token_url, form, grant))
    said = json_object(answer.content)
    if answer.status_code == 200:
        return taken_in(grant, said, now)
    if said.get("error") == OVER:
        return None
    raise LoginFailed(f"it cannot be renewed now (HTTP {answer.status_code})", later=True)


async def given_back(grant: Grant) -> str:
    """Told to be void where it came from; why it could not be, or nothing."""
    if not grant.revoke_url:
        return "the server has no way to be told so"
    token, kind = grant.refresh, "refresh_token"
    if not token:
        token, kind = grant.access, "access_token"
    form = {"token": token, "token_type_hint": kind}
    try:
        async with Asking(grant.deepest) as asking:
            answer = await asking.send(_request(grant.revoke_url, form, grant))
    except LoginFailed as failed:
        return str(failed)
    return "" if answer.status_code == 200 else f"HTTP {answer.status_code}"


def taken_in(grant: Grant, said: Mapping[str, Any], now: float) -> Grant:
    """The grant with what a token endpoint answered. Raises LoginFailed."""
    access, refresh, scope = said.get("access_token"), said.get("refresh_token"), said.get("scope")
    if not fit(access) or str(said.get("token_type", "Bearer")).lower() != "bearer":
        raise LoginFailed("what was handed out is no token that can be used")
    return msgspec.structs.replace(
        grant,
        access=access,
        refresh=refresh if fit(refresh) else grant.refresh,
        until=_until(said.get("expires_in"), now),
        scope=scope if isinstance(scope, str) else grant.scope,
    )


def fit(token: object) -> bool:
    """Whether it can stand in a header."""
    if not isinstance(token, str) or not 0 < len(token) <= LONGEST:
        return False
    return token.isascii() and token.isprintable() and " " not in token


def _until(seconds: object, now: float) -> float:
    try:
        length = float(cast("Any", seconds))
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return now + length if 0 < length < 1e10 else 0.0


def _request(url: str, form: Mapping[str, str], grant: Grant) -> httpx2.Request:
    """As the client says who it is."""
    data, headers = {**form, "client_id": grant.client_id}, dict[str, str]()
    if grant.client_secret and grant.client_auth == "client_secret_post":
        data["client_secret"] = grant.client_secret
    elif grant.client_secret and grant.client_auth != "none":
        pair = f"{quote(grant.client_id, safe='')}:{quote(grant.client_secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        del data["client_id"]
    return httpx2.Request("POST", url, data=data, headers=headers)


def json_object(text: bytes) -> Mapping[str, Any]:
    """Empty where it is none."""
    try:
        found: object = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return {}
    return obj(found)


def strings(value: object) -> tuple[str, ...]:
    return tuple(each for each in items(value) if isinstance(each, str))
