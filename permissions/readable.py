"""What a call would be told that reads on the model's behalf: a path, or a resource of a server."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from gatewright.permissions.calls.declared import declared_access
from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Decision, Deny
from gatewright.permissions.machine.world import DiskResolver
from gatewright.permissions.policy import Policy
from gatewright.tools.access import Access, Effect, Where

RESOURCE = "ReadMcpResource"


def read_decision(policy: Policy, where: Where, path: Path, real: Path) -> Decision:
    """The decision about reading `path`, which led to `real` when it was looked at.

    Modes are about what the model does by itself: here rules and places alone decide, and whether
    anybody is there to be asked makes no difference.
    """
    access = Access(reads=(path,), effects=Effect.READ_ONLY)
    resolver = DiskResolver(policy.place, {str(path): str(real)})
    context = policy.context(where, resolver=resolver)
    call = Call("Read", {"file_path": str(path)}, access)
    return decide(call, replace(context, mode="default", interactive=True, main_agent=True))


def denies_resource(policy: Policy, where: Where, server: str, uri: str) -> str:
    """The rule that forbids to read it, or what else does; empty where nothing does."""
    given = {"server": server, "uri": uri}
    access = declared_access(RESOURCE, given, policy.place)
    context = replace(policy.context(where), mode="default", interactive=True, main_agent=True)
    decision = decide(Call(RESOURCE, given, access), context)
    reason = decision.reason
    return (reason.rule or reason.text) if isinstance(decision, Deny) else ""
