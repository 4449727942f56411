"""The marketplaces that the person has added: where each is from, and what it said last.

What was fetched of one lies in a directory of its own below `plugins/markets`; `markets.json` says
which counts. So a change is whole or did not happen, whenever the program ends.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.marketplaces.market import (
    BadMarket,
    Market,
    market_in,
    read_market,
)
from gatewright.agent.plugins.sources.limits import SourceError
from gatewright.agent.plugins.sources.source import (
    FileSource,
    LocalSource,
    Source,
    host_of,
    read,
)
from gatewright.agent.plugins.tree import remove_tree
from gatewright.agent.providers.transport.address import on_loopback
from gatewright.agent.settings.edit import edit, section
from gatewright.agent.settings.layers.settled import MAX_BYTES
from gatewright.tools.system import private
from gatewright.tools.system.locks import let_go, taken
from gatewright.tools.system.regular import read_regular

KEY: Final = "markets"
_OLD: Final = 600.0  # seconds for which what was replaced may still be read from


class Known(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One marketplace. `folder` is below `plugins/markets`, or where a linked one really lies."""

    name: str
    source: Mapping[str, Any] | str
    said: str = ""
    resolved: str = ""
    folder: str = ""
    file: str = ""  # of it, where it is not the usual one
    linked: bool = False
    updated_at: float = 0.0

    def origin(self, env: Mapping[str, str]) -> Source:
        """Raises SourceError."""
        return read(self.source, env)


class KnownMarkets:
    """`plugins/markets.json` of our own home. Making one looks at nothing."""

    def __init__(self, home: Path, env: Mapping[str, str]) -> None:
        self.folder = home / "plugins" / "markets"
        self.path = home / "plugins" / "markets.json"
        self._env = env

    def every(self) -> dict[str, Known]:
        """By name. Raises GatewrightError where the file says nothing we know."""
        try:
            data = read_regular(self.path, MAX_BYTES)
            said = (
                msgspec.json.decode(data, type=dict[str, dict[str, Known]]) if data.strip() else {}
            )
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise GatewrightError(
                f"{self.path} cannot be read, so that no marketplace counts: {error}. Repair it, "
                "or remove it and add them again."
            ) from error
        return dict(sorted(said.get(KEY, {}).items()))

    def find(self, name: str) -> Known:
        """Raises GatewrightError."""
        known = self.every()
        if name not in known:
            there = ", ".join(known) or "none"
            raise GatewrightError(f"There is no marketplace {name}. Added are: {there}.")
        return known[name]

    def base(self, known: Known) -> Path | None:
        """Where relative sources of it begin; None where only its list was fetched."""
        if known.linked:
            place = Path(known.folder)
            if place.suffix != ".json":
                return place
            inner = place.parent
            return inner.parent if inner.name.endswith("-plugin") else inner
        if isinstance(_origin(known, self._env), FileSource):
            return None
        return self.folder / known.folder

    def near(self, known: Known) -> bool:
        """Whether it is from this machine, and so may name places of it."""
        source = _origin(known, self._env)
        match source:
            case LocalSource():
                return True
            case FileSource(where=where) if "://" not in where:
                return True
            case _:
                return source is not None and on_loopback(host_of(source))

    def market(self, known: Known) -> Market:
        """What it says now, without asking anybody. Raises BadMarket."""
        if known.linked and known.folder.endswith(".json"):
            found = read_market(Path(known.folder), self._env)
        else:
            place = Path(known.folder) if known.linked else self.folder / known.folder
            found = market_in(place, self._env, known.file)
        if found.name != known.name:
            raise BadMarket(
                f"It calls itself {found.name} now: agent plugin marketplace add adds it as that."
            )
        return found

    def keep(self, known: Known, tree: Path | None) -> None:
        """Let this count from now on; `tree` is what was fetched of it. Raises OSError."""
        with self._alone():
            before = self.every().get(known.name)
            if tree is not None:
                private.folder(self.folder)
                target = self.folder / known.folder
                if target.exists():
                    remove_tree(target)
                tree.rename(target)
            edit(self.path, lambda said: self._put(said, known))
            if before is not None and not before.linked:
                with suppress(OSError):
                    os.utime(self.folder / before.folder)  # from now on its age counts
            self._clean()

    def drop(self, name: str) -> None:
        with self._alone():
            edit(self.path, lambda said: section(self.path, said, KEY).pop(name, None))
            self._clean()

    def _put(self, said: dict[str, Any], known: Known) -> None:
        section(self.path, said, KEY)[known.name] = msgspec.to_builtins(known)

    def _clean(self) -> None:
        """What was replaced goes a little later: somebody may be copying from it."""
        kept = {known.folder for known in self.every().values() if not known.linked}
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name in kept:
                    continue
                with suppress(OSError):
                    age = time.time() - entry.stat(follow_symlinks=False).st_ctime
                    if age > _OLD:
                        remove_tree(Path(entry.path))

    @contextmanager
    def _alone(self) -> Generator[None]:
        """One process at a time; who fetches does not hold this."""
        private.folder(self.path.parent)
        lock = self.path.with_name(".markets.lock")
        ends = time.monotonic() + 10.0
        while (held := taken(lock)) is None:
            if time.monotonic() > ends:
                raise GatewrightError("Another process has been changing marketplaces for 10 s.")
            time.sleep(0.01)
        try:
            yield
        finally:
            let_go(lock, held)


def _origin(known: Known, env: Mapping[str, str]) -> Source | None:
    try:
        return known.origin(env)
    except SourceError:
        return None
