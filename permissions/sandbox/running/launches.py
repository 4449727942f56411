"""Makes runs of what is promised for them: descriptors, control groups, the line that starts it.

Holds what the runs of a sandbox share: the system-call filter, the file that covers others, and the
group in which their processes are counted.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from gatewright.permissions.sandbox.linux import bwrap, cgroup, landlock, seccomp
from gatewright.permissions.sandbox.machine import Machine
from gatewright.permissions.sandbox.probe import Level
from gatewright.permissions.sandbox.profile import SandboxProfile
from gatewright.permissions.sandbox.running import environment
from gatewright.permissions.sandbox.running.janitor import Janitor
from gatewright.permissions.sandbox.running.runs import Run, memory_file, status_pipe
from gatewright.permissions.sandbox.running.store import Store
from gatewright.tools.protocol import SpawnRequest


class Bridge(Protocol):
    """Serves what a run lets listen for the proxy."""

    @property
    def env(self) -> Mapping[str, str]: ...
    def __call__(self, run: Run) -> int: ...


class Order(msgspec.Struct, frozen=True):
    """All that a run is made of but its command: of two that are equal the same is made."""

    profile: SandboxProfile
    env: Mapping[str, str]  # without secrets
    own: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])  # inside alone
    bridge: Bridge | None = None  # where its network is a proxy
    proxy: Mapping[str, str] | None = None  # how the proxy is found inside
    mounts: Mapping[str, str] | None = None  # to be found inside: something else runs, too


class Launches:
    """Makes each run anew."""

    def __init__(self, machine: Machine, level: Level, janitor: Janitor) -> None:
        self.machine, self.level = machine, level
        self._janitor = janitor
        self._store = Store(janitor)
        self._filter = b""
        self._nursery: cgroup.Nursery | None = None
        self._counts = True  # until we know better

    def follow(self, nproc: int) -> None:
        """Something else holds from the next run on."""
        self._filter, self._counts = b"", True
        if self._nursery is not None:
            self._nursery.allow(nproc)

    def made(self, order: Order, argv: tuple[str, ...]) -> tuple[Run, SpawnRequest]:
        """A run, and what starts it with this command."""
        profile = order.profile
        run = self._run(profile)
        entry = self._entry(run, order)
        line = self._launcher(run, order)
        line += (*bwrap.limited(profile.limits, self.machine), *entry, *argv)
        line = cgroup.joined(line, run.group, self.machine.shell)
        return run, SpawnRequest(
            argv=tuple(line),
            cwd=Path("/"),
            env=environment.inside(order.env, profile.temp, order.proxy),
            fds=run.fds(),
            over=run.over,
            start=self._nursery.start if self._nursery is not None else None,
        )

    def begin(self, nproc: int) -> None:
        """Runs will be counted: to join takes up to ten milliseconds, while others are at work."""
        if self._nursery is None and self._counts:
            self._nursery = cgroup.nursery(self.machine.pids, nproc)
            self._counts = self._nursery is not None
            if self._nursery is not None:
                self._janitor.watch((str(self._nursery.group),))

    def _run(self, profile: SandboxProfile) -> Run:
        run = Run()
        self.begin(profile.limits.nproc)
        run.group = cgroup.make_groups(
            profile.limits, self.machine, counted=self._nursery is not None
        )
        self._janitor.watch(run.group)
        if self.machine.seccomp:
            if not self._filter:
                open_unix = bool(profile.network.unix_sockets)
                shut = self.level == "landlock" and profile.network.reach != "open"
                self._filter = seccomp.filter_bytes(unix_sockets=open_unix, internet=not shut)
            run.filter_fd = memory_file("filter", self._filter)
        if self.level == "bwrap":
            run.status_read, run.status_write = status_pipe()
        return run

    def _entry(self, run: Run, order: Order) -> list[str]:
        """What stands between the launcher and the command: usually nothing."""
        if order.bridge is None and order.mounts is None:
            return []
        spec = landlock.Spec(
            write=landlock.writable(order.profile),
            network="open",  # it is a network of its own
            bridge_fd=order.bridge(run) if order.bridge is not None else -1,
            mounts=order.mounts or {},
            cwd=order.profile.cwd,
        )
        return landlock.entry(self.machine, spec)

    def _launcher(self, run: Run, order: Order) -> list[str]:
        if self.level == "landlock":
            spec = landlock.alone(order.profile, self.machine, run.filter_fd)
            run.args_fd = memory_file("args", spec.text().encode())
            return landlock.entry(self.machine, run.args_fd)
        blank = self._store.blank(order.profile)
        supplies = bwrap.Supplies(run.filter_fd, run.status_write, blank)
        run.options = bwrap.arguments(order.profile, self.machine, supplies)
        options = [*run.options]
        for name, value in order.own.items():  # inside alone: a launcher obeys some of them
            options += ("--setenv", name, value)
        run.args_fd = memory_file("args", b"".join(os.fsencode(word) + b"\0" for word in options))
        return [self.machine.bwrap, "--args", str(run.args_fd), "--"]

    def taken_away(self, run: Run) -> bool:
        """Nothing is left of what was made for it; False when something would not end."""
        over = run.close()
        self._janitor.forget(run.group)
        return over

    def close(self) -> None:
        """Nothing of it runs any more."""
        if self._nursery is not None:
            if self._nursery.close():
                self._janitor.forget((str(self._nursery.group),))
            self._nursery = None
