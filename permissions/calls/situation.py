"""What the gate knows of a call, as plain values: for whoever judges it in a person's place.

Nothing of it is what the model says of its call.
"""

from __future__ import annotations

from collections.abc import Iterator

from gatewright.permissions.calls.path_call import PathCall
from gatewright.permissions.calls.shell_call import ShellCall
from gatewright.permissions.context import Call, Context
from gatewright.permissions.decide import FAILURES
from gatewright.permissions.inquiry import Inquiry, inquiries
from gatewright.permissions.machine.world import DiskResolver, fetch_missing
from gatewright.permissions.recent import Judged
from gatewright.permissions.request import GatePorts, Request
from gatewright.tools.access import Effect
from gatewright.tools.classify import Pending
from gatewright.tools.protocol import JsonObject

MOST = 40  # paths of one call
LONGEST = 400  # characters of a path, or of a reason


async def pending(request: Request, judged: Judged, mode: str, ports: GatePorts) -> Pending:
    """What is to be judged; whether there is work that git does not hold is looked up for it."""
    context = judged.context
    resolver, root = context.resolver, context.place.root
    if isinstance(resolver, DiskResolver):
        resolver.dirty(root)
        await fetch_missing(resolver, ports.lookup, ports.dirty, ports.keeps)
    found = facts_of(judged.call, context)
    return Pending(
        call=request.call,
        access=request.facts.access,
        agent=request.agent,
        mode=mode,
        reason=judged.decision.reason.text,
        facts=found | ({"uncommitted_changes": True} if resolver.dirty(root) else {}),
    )


def facts_of(call: Call, context: Context) -> JsonObject:
    """Never raises: what cannot be found out is left out, which says less, never more."""
    found: JsonObject = {"sandboxed": context.sandbox and not _leaves(call)}
    inside: list[str] = []
    outside: list[str] = []
    try:
        for inquiry in inquiries(call, context):
            if danger := inquiry.subject.danger():
                found["danger"] = danger[:LONGEST]
            if isinstance(inquiry.subject, ShellCall):
                found |= _of_line(inquiry.subject)
            for path, within in _paths(inquiry):
                (inside if within else outside).append(path[:LONGEST])
    except FAILURES as error:
        found["unknown"] = f"the call could not be looked through ({type(error).__name__})"
    if inside:
        found["inside"] = list(dict.fromkeys(inside))[:MOST]
    if outside:
        found["outside"] = list(dict.fromkeys(outside))[:MOST]
    if not call.access.effects & Effect.READ_ONLY and call.access.remote is not None:
        found["server"] = call.access.remote.server
    return found


def _leaves(call: Call) -> bool:
    return call.access.runs is None or call.access.runs.unsandboxed


def _of_line(line: ShellCall) -> JsonObject:
    found: JsonObject = {}
    if not line.line.understood:
        found["not_understood"] = line.line.why[:LONGEST]
    if unsure := [one.text for one in line.named() if not one.exact]:
        found["known_only_when_it_runs"] = [text[:LONGEST] for text in unsure[:MOST]]
    return found


def _paths(inquiry: Inquiry) -> Iterator[tuple[str, bool]]:
    """Each path with how it is used, and whether it lies in the project."""
    subject, access = inquiry.subject, inquiry.call.access
    used: list[tuple[str, str]] = []
    if isinstance(subject, ShellCall):
        used = [(one.path, "writes" if one.use != "read" else "reads") for one in subject.named()]
    elif isinstance(subject, PathCall):
        used = [(str(path), "writes") for path in access.writes]
        used += [(str(path), "reads") for path in access.reads]
    for path, use in used:
        located = inquiry.paths.locate(path)
        yield f"{use} {located.real}", inquiry.paths.is_inside(located)
