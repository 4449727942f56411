"""The permission state settings ask for: the same for a session and for `agent permissions`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from gatewright.agent.autonomy.running.socket_places import socket_folders
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.models.judges import judge_for
from gatewright.agent.session.start.base import Base
from gatewright.agent.settings.layers.sources import Loaded
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.transcript.place import project_folder
from gatewright.permissions.modes import MODES, canonical, deprecation
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.allotment import allotted
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.permissions.sandbox.commands import Base as SandboxBase
from gatewright.permissions.sandbox.commands import CommandSandbox
from gatewright.permissions.sandbox.restrictions import restrictions
from gatewright.tools.system.home import OwnHome

LOOSE_MODES = frozenset({"bypassPermissions", "fullAccess", "auto", "autoInProject", "work"})


def _say_nothing(_: str) -> None:
    return


def own_of(base: Base) -> OwnHome:
    """Our home as this session may see it, and where sessions are answered, which it may not."""
    around, kept = base.around, str(base.start.path.with_suffix(""))
    return OwnHome(str(around.places.home), kept, sockets=_sockets(around))


def _sockets(around: Surroundings) -> tuple[str, ...]:
    return tuple(str(each) for each in socket_folders(around.own_env))


def policy_config(around: Surroundings, mode: str, own: OwnHome | None = None) -> PolicyConfig:
    """`own` is our home with what of it is the session's; without a session nothing is."""
    permissions = around.settings.permissions
    skip = permissions.skip
    return PolicyConfig(
        root=around.where.root,
        cwd=around.where.cwd,
        home=around.where.home,
        directories=around.where.added,
        spelled=spelled_root(around),
        rules=rules_of(around.loaded),
        mode=mode,
        interactive=around.interactive,
        trusted=around.trusted,
        skip_edits=skip.edits,
        skip_bash=skip.bash,
        skip_skills=skip.skills,
        skip_mcp=skip.mcp,
        plan_enforcement=permissions.plan_enforcement,
        disable_bypass=permissions.disable_bypass_permissions_mode == "disable",
        bypass_offered=around.options.allow_bypass
        or any(_bypasses(name) for name in (around.options.mode, permissions.default_mode)),
        harmless_env=permissions.harmless_env,
        own=own or OwnHome(str(around.places.home), sockets=_sockets(around)),
        scrubbed_env=not around.secrets.shown(around.env),
        search=around.search.text,
    )


def command_sandbox(
    around: Surroundings,
    policy: Policy,
    own: OwnHome,
    *,
    warn: Callable[[str], None] = _say_nothing,
    unconfined: Callable[[str], None] = _say_nothing,
) -> CommandSandbox:
    """What confines commands here; nothing is started before the first."""
    where = around.where
    roots = (where.root, *where.added)
    return CommandSandbox(
        SandboxBase(cwd=where.cwd, home=where.home, roots=roots, own_home=own),
        around.settings.sandbox,
        restrictions=lambda: restrictions(
            policy.rules(), str(where.root), str(where.cwd), kept=policy.place.running
        ),
        warn=warn,
        unconfined=unconfined,
        secrets=lambda: around.secrets,
    )


def _bypasses(name: str) -> bool:
    mode = canonical(name)
    return mode is not None and MODES[mode].bypass


def spelled_root(around: Surroundings) -> tuple[Path, ...]:
    """The root as the person wrote it, where links of theirs led the session here."""
    where = around.where
    shell = around.env.get("PWD", "")
    given = Path(os.path.normpath(os.path.join(shell, around.options.cwd or "")))  # noqa: PTH118
    depth = len(where.cwd.relative_to(where.root).parts)
    if not given.is_absolute() or depth > len(given.parents):
        return ()
    spelled = given.parents[depth - 1] if depth else given
    leads_here = os.path.realpath(given) == str(where.cwd)
    same = leads_here and os.path.realpath(spelled) == str(where.root)
    return (spelled,) if same and spelled != where.root else ()


def start_mode(base: Base) -> str:
    """Command line, then what the session was in, then settings; a resume loosens nothing."""
    around, start = base.around, base.start
    here = project_folder(around.places.home, around.where.cwd)
    ours = start.path.parent == here and not start.foreign
    if not around.options.mode and ours and start.mode and start.mode not in LOOSE_MODES:
        return start.mode
    if around.interactive and ours and not around.options.mode and start.mode in LOOSE_MODES:
        base.warn(f"This session was in {start.mode} mode. /mode {start.mode} goes on in it.")
    wanted = around.settings.permissions.default_mode or "default"
    if canonical(wanted) is None:
        base.warn(f"There is no permission mode {wanted!r} (permissions.defaultMode).")
        return "default"
    if canonical(wanted) == "auto" and (lack := judge_for(around).lack):
        if around.options.mode:
            raise UsageError(lack)
        base.warn(lack)
        return "default"
    if canonical(wanted) == "delegate":
        base.warn("There are no agents to delegate to here (permissions.defaultMode).")
        return "default"
    if note := deprecation(wanted):
        base.warn(note)
    return wanted


def rules_of(loaded: Loaded) -> Mapping[str, RuleTexts]:
    """Every source's rules, as the gate takes them."""
    named = loaded.named_rules.items()
    return allotted({name: RuleTexts(one.allow, one.ask, one.deny) for name, one in named})
