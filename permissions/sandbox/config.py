"""The sandbox as settings describe it: plain data, with the defaults that hold without any."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec
from msgspec.structs import replace

from gatewright.permissions.sandbox.limits import Limits, with_limit
from gatewright.permissions.sandbox.profile import Network, Reach
from gatewright.tools.system.home import OwnHome
from gatewright.tools.system.secrets import Secrets

if TYPE_CHECKING:
    from gatewright.permissions.sandbox.restrictions import Restrictions

# Kept from every command: keys and tokens that no build needs.
PRIVATE = (
    "~/.ssh", "~/.aws", "~/.gnupg", "~/.azure", "~/.kube", "~/.config/gcloud", "~/.config/gh",
    "~/.docker/config.json", "~/.netrc", "~/.git-credentials", "~/.config/git/credentials",
    "~/.pypirc", "~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.config/op",
    "~/.password-store",
    "~/.local/share/keyrings", "~/.mozilla", "~/.config/google-chrome", "~/.config/chromium",
    "~/.bash_history", "~/.zsh_history", "~/.python_history", "~/.node_repl_history",
    "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh/ssh_host_*",
)  # fmt: skip
ENV_FILES = ("**/.env", "**/.env.*")
ENV_EXAMPLES = (".env.example", ".env.sample", ".env.template")


def firm_reads(deny_read: tuple[str, ...]) -> tuple[str, ...]:
    """Those that the person's rules and settings added: no yes to one command opens them."""
    ours = (*PRIVATE, *ENV_FILES)
    return deny_read[len(ours) :] if deny_read[: len(ours)] == ours else deny_read


class Config(msgspec.Struct, frozen=True):
    """Paths are as people write them; `base` is where relative ones start."""

    cwd: Path
    home: Path
    roots: tuple[Path, ...]
    temp: Path | None = None
    state: Path | None = None  # of our own, out of reach: what must not stay is put there
    back: str = "agent sandbox restore"  # what a person types to take it back
    own_home: OwnHome | None = None  # hidden, but for what this session's commands may read
    deny_read: tuple[str, ...] = (*PRIVATE, *ENV_FILES)
    allow_read: tuple[str, ...] = ()
    deny_write: tuple[str, ...] = ()
    allow_write: tuple[str, ...] = ()
    network: Network = msgspec.field(default_factory=Network)
    limits: Limits = msgspec.field(default_factory=Limits)
    secrets: Secrets = msgspec.field(default_factory=Secrets)


class FileSettings(Protocol):
    """What settings say about files; structurally the section of the settings schema."""

    @property
    def allow_write(self) -> tuple[str, ...]: ...
    @property
    def deny_write(self) -> tuple[str, ...]: ...
    @property
    def deny_read(self) -> tuple[str, ...]: ...
    @property
    def allow_read(self) -> tuple[str, ...]: ...


class NetworkSettings(Protocol):
    """What settings say about the network."""

    @property
    def allowed_domains(self) -> tuple[str, ...]: ...
    @property
    def denied_domains(self) -> tuple[str, ...]: ...
    @property
    def allow_all(self) -> bool: ...
    @property
    def allow_private(self) -> bool: ...
    @property
    def allow_local_binding(self) -> bool: ...
    @property
    def allow_unix_sockets(self) -> tuple[str, ...]: ...


class SandboxSettings(Protocol):
    """The whole section."""

    @property
    def enabled(self) -> bool | Literal["auto"]: ...
    @property
    def fail_if_unavailable(self) -> bool: ...
    @property
    def auto_allow_bash_if_sandboxed(self) -> bool: ...
    @property
    def allow_unsandboxed_commands(self) -> bool: ...
    @property
    def excluded_commands(self) -> tuple[str, ...]: ...
    @property
    def filesystem(self) -> FileSettings: ...
    @property
    def network(self) -> NetworkSettings: ...
    @property
    def limits(self) -> Mapping[str, int | str]: ...
    @property
    def keep_env(self) -> tuple[str, ...]: ...


def network(settings: NetworkSettings) -> Network:
    reach: Reach = "none"
    if settings.allow_all:
        reach = "open"
    elif settings.allowed_domains:
        reach = "proxy"
    return Network(
        reach=reach,
        allowed=settings.allowed_domains,
        denied=settings.denied_domains,
        private=settings.allow_private,
        local_binding=settings.allow_local_binding,
        unix_sockets=settings.allow_unix_sockets,
    )


def limited(texts: Mapping[str, int | str], before: Limits) -> tuple[Limits, list[str]]:
    """The limits of settings, and what is wrong with some: without those `before` goes on."""
    limits, wrong = _over(Limits(), texts)
    return (limits, wrong) if not wrong else _over(before, texts)


def _over(limits: Limits, texts: Mapping[str, int | str]) -> tuple[Limits, list[str]]:
    wrong: list[str] = []
    for name, value in texts.items():
        try:
            limits = with_limit(limits, f"{name}={value}")
        except ValueError as error:
            wrong.append(str(error))
    return limits, wrong


def configured(base: Config, settings: SandboxSettings) -> Config:
    """`base` with what the settings say added, but for the limits: those may be wrong."""
    files = settings.filesystem
    return replace(
        base,
        deny_read=(*base.deny_read, *files.deny_read),
        allow_read=(*base.allow_read, *files.allow_read),
        deny_write=(*base.deny_write, *files.deny_write),
        allow_write=(*base.allow_write, *files.allow_write),
        network=network(settings.network),
        secrets=base.secrets.keeping(settings.keep_env),
    )


def restricted(config: Config, more: Restrictions) -> Config:
    """`config` with what permission rules deny added."""
    network = config.network
    return replace(
        config,
        deny_read=(*config.deny_read, *more.deny_read),
        deny_write=(*config.deny_write, *more.deny_write),
        network=replace(network, denied=(*network.denied, *more.denied_domains)),
    )
