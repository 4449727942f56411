"""`session/request_permission` of another agent: judged by what it says it would do, by our gate.

The answer is for once, and one of those that were offered. What is said of the facts in several
places counts together, and where nothing is said a person has to answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

from gatewright.agent.foreign.calls import Calls
from gatewright.agent.foreign.permission_tool import PERMISSION, Act
from gatewright.agent.foreign.recording import VERBS, joined, titled
from gatewright.agent.foreign.said import Choice, Permission, Update
from gatewright.agent.foreign.stated import Stated, stated
from gatewright.agent.frontends.acp.jsonrpc import BAD_PARAMS, RpcError
from gatewright.tools.system.untyped_json import Json, items, obj

READING, CHANGING = ("read", "search"), ("edit", "delete", "move")
MOST = 50  # paths
LONGEST = 100_000  # characters of a fact
TOO_LONG = "What it would do is too long to be judged."
CANCELLED: Json = {"outcome": {"outcome": "cancelled"}}


async def decided(calls: Calls, asked: Permission, known: Update | None) -> Json:
    """What it is answered. `known` is what it said of that call before."""
    call = asked.tool_call if known is None else joined(known, asked.tool_call)
    act = act_of(call, calls.cwd)
    given = {name: value for name, value in act.items() if value}
    try:
        done = await calls.run(PERMISSION, given)
    except RpcError:
        return CANCELLED
    return chosen(asked.options, allowed=done.result.ok)


def chosen(options: Sequence[Choice], *, allowed: bool) -> Json:
    """Never a word for more than once; an id that two options have says nothing."""
    ids = [option.option_id for option in options]
    wanted = ("allow_once",) if allowed else ("reject_once", "reject_always")
    for kind in wanted:
        for option in options:
            if option.kind == kind and ids.count(option.option_id) == 1:
                return {"outcome": {"outcome": "selected", "optionId": option.option_id}}
    return CANCELLED


def act_of(call: Update, cwd: str = "") -> dict[str, Any]:
    """The input of the call that is judged; everything that it says anywhere is in it."""
    raw = stated(call.raw_input, cwd)
    kind = call.kind or ""
    command = "\n".join(dict.fromkeys(raw.commands))
    paths = dict.fromkeys((*_located(call, raw), *raw.paths))
    changes = dict.fromkeys(_changed(call, raw))
    urls = tuple(dict.fromkeys(raw.urls))
    reading = kind in READING and not raw.changes
    reads: Sequence[str] = tuple(paths) if reading else ()
    writes: Sequence[str] = (*changes, *(path for path in paths if path not in changes))
    if reads:
        writes = tuple(changes)
    _bounded(command, *paths, *changes, *urls)
    said = {"execute": command, "fetch": urls}.get(kind, ())
    if reading:
        said = reads
    elif kind in (*READING, *CHANGING):
        said = writes
    many = len(paths) + len(changes) + len(urls) > MOST
    act = Act(
        title=titled(call),
        verb=VERBS.get(kind, "Allow"),
        command=command,
        reads=tuple(reads)[:MOST],
        writes=tuple(writes)[:MOST],
        urls=urls[:MOST],
        unsaid=raw.vague or many or not said,
    )
    return cast("dict[str, Any]", msgspec.to_builtins(act))


def _bounded(*facts: str) -> None:
    if any(len(each) > LONGEST for each in facts):
        raise RpcError(BAD_PARAMS, TOO_LONG)


def _located(call: Update, raw: Stated) -> Iterator[str]:
    for place in call.locations or ():
        if place.path and "\0" not in place.path:
            yield place.path
        else:
            raw.vague = True


def _changed(call: Update, raw: Stated) -> Iterator[str]:
    for each in items(call.content):
        table = obj(each)
        if table.get("type") != "diff":
            continue
        path = table.get("path")
        if isinstance(path, str) and path and "\0" not in path:
            yield path
        else:
            raw.vague = True
