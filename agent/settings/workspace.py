"""What the machine, the settings and the command line say, read once before anything is built."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.settings.layers.key import spelled
from gatewright.agent.settings.layers.sources import Loaded, load
from gatewright.agent.settings.paths import Places, places, user_home
from gatewright.agent.settings.schema import Settings
from gatewright.agent.settings.session_secrets import providers_of, secrets_of, set_by
from gatewright.agent.settings.traits import COMMITTED, Source
from gatewright.agent.settings.trust import TrustStore
from gatewright.tools.access import Where
from gatewright.tools.system.git import Caller, Wrap, bare
from gatewright.tools.system.programs import SearchPath, search_path
from gatewright.tools.system.secrets import KEEP, Secrets
from gatewright.tools.system.untyped_json import obj


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    options: LaunchOptions
    env: Mapping[str, str]  # what commands of the session see
    own_env: Mapping[str, str]  # the same without what files in the project set
    where: Where
    places: Places
    loaded: Loaded
    trusted: bool
    interactive: bool
    wrap: Wrap = bare  # how what we start for ourselves is confined
    search: SearchPath  # where programs are looked for, with what was left out of it

    providers: Mapping[str, ProviderSettings]

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    @property
    def secrets(self) -> Secrets:
        """What commands are not given and text does not show."""
        return secrets_of(self.settings, self.providers, self.env)

    @property
    def caller(self) -> Caller:
        """For whom we start git here."""
        return Caller(self.env, roots(self.where), self.wrap)

    def seen_from(self, where: Where) -> Where:
        """The place a call is made from, with the directories that are open now."""
        return msgspec.structs.replace(where, added=self.where.added)


def survey(
    options: LaunchOptions,
    env: Mapping[str, str],
    *,
    interactive: bool,
    before: Loaded | None = None,
    settled: Callable[[Path], bool] = lambda _: True,
) -> Surroundings:
    """`before` is what was loaded last: of a file that broke, what it forbade still counts, and
    all of one that is not `settled`.
    """
    cwd = Path(os.path.realpath(options.cwd or "."))
    found = places(cwd, env)
    trusted = options.trust or TrustStore(found, env).trusts(found.root)
    valid = None if before is None else before.valid
    loaded = load(found, options, env=env, trusted=trusted, before=valid, settled=settled)
    home = user_home(env)
    added = loaded.settings.permissions.additional_directories
    where = Where(
        cwd=cwd,
        root=found.root,
        home=home,
        added=tuple(Path(os.path.realpath(expanded(text, cwd, home))) for text in added),
    )
    given = {**env, **set_by(loaded.settings)}
    search = search_path(given, roots(where), activated=trusted)
    own = {**env, **_own(loaded, found)}
    path = search if own == given else search_path(own, roots(where), activated=trusted)
    return Surroundings(
        options=options,
        env={**given, "PATH": search.text},
        own_env={**own, "PATH": path.text},
        search=search,
        where=where,
        places=found,
        loaded=loaded,
        trusted=trusted,
        interactive=interactive,
        providers=providers_of(loaded.settings),
    )


def _own(loaded: Loaded, found: Places) -> Mapping[str, str]:
    """Variables that the person set, also where the project sets them to something else."""
    user = found.file(Source.USER)
    written: Mapping[str, Any] = loaded.valid.get(user, {}) if user is not None else {}
    theirs = {
        name
        for name in loaded.settings.env
        if COMMITTED.intersection(loaded.provenance.get(spelled(("env", name)), ()))
    }
    kept = {name: value for name, value in set_by(loaded.settings).items() if name not in theirs}
    before = {name: str(value) for name, value in obj(written.get("env")).items()}
    return {**{name: before[name] for name in theirs & before.keys() if name != KEEP}, **kept}


def roots(where: Where) -> tuple[Path, ...]:
    """The directories whose programs we do not use."""
    return (where.root, where.cwd, *where.added)


def expanded(text: str, cwd: Path, home: Path) -> Path:
    """A directory as settings and people write it."""
    return home / text[2:] if text.startswith("~/") or text == "~" else cwd / text
