"""`session/request_permission` of another agent: judged by what it says it would do, by our gate.

The answer is for once, and one of those that were offered. What is said of the facts in several
places counts together, and where nothing is said a person has to answer.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

from gatewright.agent.foreign.calls import Calls
from gatewright.agent.foreign.permission_tool import PERMISSION, Act
from gatewright.agent.foreign.recording import VERBS, joined, titled
from gatewright.agent.foreign.said import Choice, Permission, Update
from gatewright.agent.frontends.acp.jsonrpc import RpcError
from gatewright.tools.system.untyped_json import Json, items, obj

PATHS = (
    "path", "file_path", "filePath", "abs_path", "absPath", "target_file", "filename", "file",
    "notebook_path", "old_path", "new_path", "source", "destination", "directory", "dir",
)  # fmt: skip
COMMANDS = ("command", "cmd", "script", "shell_command")
URLS = ("url", "uri")
READING, CHANGING = ("read", "search"), ("edit", "delete", "move")
MOST = 50  # paths
CANCELLED: Json = {"outcome": {"outcome": "cancelled"}}


async def decided(calls: Calls, asked: Permission, known: Update | None) -> Json:
    """What it is answered. `known` is what it said of that call before."""
    call = asked.tool_call if known is None else joined(known, asked.tool_call)
    act = act_of(call)
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


def act_of(call: Update) -> dict[str, Any]:
    """The input of the call that is judged; everything that it says anywhere is in it."""
    raw = obj(call.raw_input)
    kind = call.kind or ""
    command = next(filter(None, (_line(raw.get(name)) for name in COMMANDS)), "")
    paths = dict.fromkeys((*(place.path for place in call.locations or ()), *_texts(raw, PATHS)))
    changes = dict.fromkeys(_changed(call))
    urls = tuple(dict.fromkeys(_texts(raw, URLS)))
    reads: Sequence[str] = tuple(paths) if kind in READING else ()
    writes: Sequence[str] = (*changes, *(path for path in paths if path not in changes))
    if reads:
        writes = tuple(changes)
    said = {"execute": command, "fetch": urls}.get(kind, ())
    if kind in READING:
        said = reads
    elif kind in CHANGING:
        said = writes
    many = len(paths) + len(changes) + len(urls) > MOST
    act = Act(
        title=titled(call),
        verb=VERBS.get(kind, "Allow"),
        command=command,
        reads=tuple(reads)[:MOST],
        writes=tuple(writes)[:MOST],
        urls=urls[:MOST],
        unsaid=many or not said,
    )
    return cast("dict[str, Any]", msgspec.to_builtins(act))


def _line(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    words = [each for each in items(value) if isinstance(each, str)]
    return shlex.join(words) if words and len(words) == len(items(value)) else ""


def _texts(raw: Json, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        value = raw.get(name)
        if isinstance(value, str) and value and "\0" not in value:
            yield value


def _changed(call: Update) -> Iterator[str]:
    for each in items(call.content):
        table = obj(each)
        path = table.get("path")
        if table.get("type") == "diff" and isinstance(path, str) and path:
            yield path
