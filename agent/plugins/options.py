"""What the person told a plugin (`userConfig`): plain values in a file, secrets in the keyring.

No secret is ever in a settings file, in shell text, or in what is shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.manifest import Manifest, Wanted
from gatewright.agent.providers.keys.stored_keys import KeyringPort, plugin_store
from gatewright.tools.system.regular import read_regular
from gatewright.tools.system.untyped_json import obj

MAX_BYTES = 1024 * 1024
LONGEST = 10_000


class Options:
    """Of all plugins."""

    def __init__(self, home: Path, keyring: KeyringPort | None = None) -> None:
        self._path = home / "plugins" / "options.json"
        self._secrets = plugin_store(home, keyring)

    def values(self, id: str, wanted: Mapping[str, Wanted]) -> Mapping[str, str]:
        """As texts, the defaults among them; what is not known is left out."""
        kept = obj(self._kept().get(id))
        found: dict[str, str] = {}
        for key, want in wanted.items():
            if want.sensitive:
                value: object = self._secret(id, key)
            else:
                value = kept.get(key, want.default)
            if value is not None and value != "":
                found[key] = _text(value)
        return found

    def lacking(self, id: str, manifest: Manifest) -> tuple[str, ...]:
        """What it cannot do without and nobody said."""
        values = self.values(id, manifest.user_config)
        return tuple(
            key
            for key, want in manifest.user_config.items()
            if want.required and not values.get(key)
        )

    def put(self, id: str, key: str, want: Wanted, text: str) -> None:
        """Raises GatewrightError for a value that it cannot be."""
        value = _checked(key, want, text)
        if want.sensitive:
            self._secrets.put(_secret_name(id, key), text)
            return
        from gatewright.agent.settings.edit import edit, section  # noqa: PLC0415  lazy: 9 ms

        edit(self._path, lambda values: section(self._path, values, id).update({key: value}))

    def forget(self, id: str) -> None:
        """All that was said to it."""
        from gatewright.agent.settings.edit import edit  # noqa: PLC0415  lazy: 9 ms

        for name in self._secrets.names():
            if name.startswith(f"{id}/"):
                self._secrets.drop(name)

        def change(values: dict[str, Any]) -> None:
            values.pop(id, None)

        if id in self._kept():
            edit(self._path, change)

    def _secret(self, id: str, key: str) -> str:
        return self._secrets.find(_secret_name(id, key))

    def _kept(self) -> dict[str, Any]:
        try:
            return obj(msgspec.json.decode(read_regular(self._path, MAX_BYTES)))
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return {}


def _secret_name(id: str, key: str) -> str:
    return f"{id}/{key}"


def _checked(key: str, want: Wanted, text: str) -> object:
    if len(text) > LONGEST or "\0" in text:
        raise GatewrightError(f"{key} takes a text of {LONGEST:,} characters at most.")
    match want.type:
        case "number":
            try:
                number = float(text)
            except ValueError:
                number = math.nan
            if not math.isfinite(number):
                raise GatewrightError(f"{key} takes a number.")
            return int(number) if number.is_integer() else number
        case "boolean":
            if text.lower() not in ("true", "false"):
                raise GatewrightError(f"{key} takes true or false.")
            return text.lower() == "true"
        case "directory" | "file":
            path = Path(text).expanduser()
            if not (path.is_dir() if want.type == "directory" else path.is_file()):
                raise GatewrightError(f"{key}: there is no {want.type} {text}.")
            return str(path.absolute())
        case "string":
            return text


def _text(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
