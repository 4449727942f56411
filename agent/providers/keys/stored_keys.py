"""Keys people logged in with: in the system's keyring, or in a file only they can read.

The file always says where a provider's key is, so that nobody waits for a keyring that holds
nothing of ours.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, cast

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.tools.system.regular import read_regular

SERVICE = "gatewright"
MAX_BYTES = 1024 * 1024
Place: TypeAlias = Literal["keyring", "file"]


class KeyringPort(Protocol):
    """The part of a keyring that is used."""

    def get_password(self, service: str, user: str) -> str | None: ...
    def set_password(self, service: str, user: str, password: str) -> None: ...
    def delete_password(self, service: str, user: str) -> None: ...


class StoredKey(msgspec.Struct, frozen=True, omit_defaults=True):
    place: Place
    key: str = ""


class KeyStore:
    """`again` is what people run where a key is lost."""

    def __init__(
        self, path: Path, *, keyring: KeyringPort | None = None, again: str = "agent login"
    ) -> None:
        self._path = path
        self._given = keyring
        self._again = again

    def names(self) -> tuple[str, ...]:
        """The providers that have a stored key."""
        return tuple(self._load())

    def held(self) -> tuple[str, ...]:
        """The keys in the file itself. A file that cannot be read holds none that we would use."""
        try:
            stored = self._load().values()
        except GatewrightError:
            return ()
        return tuple(one.key for one in stored if one.key)

    def find(self, provider: str) -> str:
        """The stored key, or an empty string. May ask the keyring."""
        stored = self._load().get(provider)
        if stored is None:
            return ""
        if stored.place == "file":
            return stored.key
        ring = self._keyring()
        if ring is None:
            raise GatewrightError(
                f"The key for {provider} is in a keyring that is not here now: unlock it, or run "
                f"`{self._again}` again."
            )
        return ring.get_password(SERVICE, provider) or ""

    def put(self, provider: str, key: str) -> Place:
        """Store a key; says where it went."""
        ring = self._keyring()
        place: Place = "file"
        if ring is not None:
            with contextlib.suppress(*_ring_errors()):
                ring.set_password(SERVICE, provider, key)
                place = "keyring"
        stored = StoredKey("keyring") if place == "keyring" else StoredKey("file", key)
        self._change(provider, stored)
        return place

    def drop(self, provider: str) -> bool:
        """Forget a key; False when there was none."""
        stored = self._load().get(provider)
        if stored is None:
            return False
        if stored.place == "keyring" and (ring := self._keyring()):
            with contextlib.suppress(*_ring_errors()):
                ring.delete_password(SERVICE, provider)
        self._change(provider, None)
        return True

    def _load(self) -> dict[str, StoredKey]:
        try:
            return msgspec.json.decode(
                read_regular(self._path, MAX_BYTES), type=dict[str, StoredKey]
            )
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, msgspec.DecodeError) as error:
            raise GatewrightError(
                f"{self._path} cannot be read ({error}); remove it and run `{self._again}` again."
            ) from error

    def _change(self, provider: str, stored: StoredKey | None) -> None:
        from gatewright.agent.settings.edit import edit  # noqa: PLC0415  lazy: 5 ms, on login only

        def change(values: dict[str, Any]) -> None:
            values.pop(provider, None)
            if stored is not None:
                values[provider] = msgspec.to_builtins(stored)

        with contextlib.suppress(FileNotFoundError):
            self._path.chmod(0o600)  # a file that is new gets this mode anyway
        edit(self._path, change)

    def _keyring(self) -> KeyringPort | None:
        """The system's keyring where there is a working one."""
        if self._given is not None:
            return self._given
        import keyring  # noqa: PLC0415  lazy: 80 ms, and more where a desktop must be asked

        found = keyring.get_keyring()
        return cast("KeyringPort", found) if found.priority > 0 else None


def _ring_errors() -> tuple[type[Exception], ...]:
    from keyring.errors import KeyringError  # noqa: PLC0415  lazy: see above

    return (KeyringError, RuntimeError)


def key_store(env: Mapping[str, str]) -> KeyStore:
    from gatewright.agent.settings.paths import own_home  # noqa: PLC0415  lazy: 3 ms

    return KeyStore(own_home(env) / "state" / "keys.json")


def login_store(env: Mapping[str, str]) -> KeyStore:
    """Logins at MCP servers: a file of their own, so that no list of providers names them."""
    from gatewright.agent.settings.paths import own_home  # noqa: PLC0415  lazy: 3 ms

    return KeyStore(own_home(env) / "state" / "logins.json", again="agent mcp login")


def plugin_store(home: Path, keyring: KeyringPort | None = None) -> KeyStore:
    """What plugins were told in secret: apart, so that no list of providers names them."""
    path = home / "state" / "plugin-secrets.json"
    return KeyStore(path, keyring=keyring, again="agent plugin configure")


def held_secrets(env: Mapping[str, str]) -> tuple[str, ...]:
    """Every secret that lies in a file of ours, to be masked in texts."""
    from gatewright.agent.settings.paths import own_home  # noqa: PLC0415  lazy: 3 ms

    found = [*key_store(env).held(), *plugin_store(own_home(env)).held()]
    for text in login_store(env).held():
        with contextlib.suppress(msgspec.MsgspecError, RecursionError):
            login = msgspec.json.decode(text, type=dict[str, Any])
            parts = (login.get(part) for part in ("access", "refresh", "client_secret"))
            found += [part for part in parts if isinstance(part, str)]
    return tuple(found)
