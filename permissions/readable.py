"""What a call of Read would be told about a path: for what is read on the model's behalf."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Decision
from gatewright.permissions.machine.world import DiskResolver
from gatewright.permissions.policy import Policy
from gatewright.tools.access import Access, Effect, Where


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
