"""The plugins of a session: each that is on, looked through again, with why others are not.

What a plugin says is read only after its tree proved to be the one that was agreed to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.enabled import Enabled, enabled
from gatewright.agent.plugins.manifest import wrong_name
from gatewright.agent.plugins.options import Options
from gatewright.agent.plugins.parts import Plugin, PluginFault
from gatewright.agent.plugins.reading_parts import FoundPlugin, read_plugin
from gatewright.agent.plugins.record import Lock, Record
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.tree import HISTORY, BadTree, tree_of
from gatewright.agent.settings.layers.sources import Loaded
from gatewright.agent.settings.paths import Places

GIVEN = "flag"  # the market of what --plugin-dir names


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    plugins: tuple[Plugin, ...] = ()
    faults: tuple[PluginFault, ...] = ()
    changed: tuple[Record, ...] = ()  # linked ones whose files are others now: to be asked about
    chosen: Enabled = Enabled()
    lock: Lock = Lock()


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """All that decides which plugins there are."""

    loaded: Loaded
    places: Places
    trusted: bool
    bare: bool = False
    folders: tuple[Path, ...] = ()  # of --plugin-dir


def gathered(ground: Ground) -> Gathered:
    """Raises nothing: what is wrong with one plugin is its own."""
    store = Store(ground.places.home)
    options = Options(ground.places.home)
    faults: list[PluginFault] = []
    try:
        lock = store.lock.read()
    except GatewrightError as error:
        lock, faults = Lock(), [PluginFault(str(store.lock.path), str(error))]
    chosen = enabled(ground.loaded, ground.places, lock, trusted=ground.trusted, bare=ground.bare)
    unknown = bool(faults)
    found = [each for folder in ground.folders if (each := _given(store, folder, faults))]
    names = {each.plugin.name for each in found}
    changed: list[Record] = []
    for id in chosen.on if not unknown else ():  # else it is not known what is installed
        record = lock.plugins.get(id)
        if record is None:
            faults.append(
                PluginFault(id, f"it is on, and not installed: agent plugin install {id}")
            )
            continue
        if record.name in names:
            continue  # --plugin-dir stands in its place
        why, stamp = store.proved(record)
        if why:
            if record.linked and store.root(record).is_dir():
                changed.append(record)
            faults.append(PluginFault(id, f"it is off: {why}. {_again(record)}"))
        elif read := _read(store, record, faults):
            names.add(record.name)
            found.append(replace(read, plugin=replace(read.plugin, stamp=stamp)))
    for each in found:
        faults += _minor(each)
    faults += _lacking(found)
    plugins = tuple(_with_options(each, options, faults) for each in found)
    return Gathered(
        plugins=plugins, faults=tuple(faults), changed=tuple(changed), chosen=chosen, lock=lock
    )


def _again(record: Record) -> str:
    if record.linked:
        return f"agent plugin enable {record.id} shows what it is now"
    return f"agent plugin uninstall {record.id} removes it; then install it again"


def unchanged(plugin: Plugin) -> bool:
    """Whether its tree is the very one that was agreed to, in no file touched since."""
    try:
        return not plugin.stamp or tree_of(plugin.root, HISTORY).stamp == plugin.stamp
    except BadTree:
        return False


def _given(store: Store, folder: Path, faults: list[PluginFault]) -> FoundPlugin | None:
    """Of the command line: naming it there is agreeing to it, for this run."""
    real = Path(os.path.realpath(folder))
    try:
        if not real.is_dir():
            raise GatewrightError("there is no such directory")
        tree_of(real, HISTORY)
        found = read_plugin(real, market=GIVEN, data=Path())
    except GatewrightError as error:
        faults.append(PluginFault(str(folder), str(error).removesuffix(".")))
        return None
    return replace(found, plugin=replace(found.plugin, data=store.data(found.plugin.id)))


def _read(store: Store, record: Record, faults: list[PluginFault]) -> FoundPlugin | None:
    try:
        found = read_plugin(
            store.root(record),
            market=record.market,
            data=store.data(record.id),
            entry=record.entry,
            called=record.name,
        )
        if why := wrong_name(record.name):
            raise GatewrightError(f"the name {why}")
    except GatewrightError as error:
        faults.append(PluginFault(record.id, str(error).removesuffix(".")))
        return None
    return replace(found, plugin=replace(found.plugin, id=record.id, name=record.name))


def _minor(found: FoundPlugin) -> Iterator[PluginFault]:
    for text in found.errors:
        yield PluginFault(found.plugin.id, text, stopped=False)
    for text in found.later:
        yield PluginFault(found.plugin.id, text, stopped=False, quiet=True)


def _lacking(found: Sequence[FoundPlugin]) -> Iterator[PluginFault]:
    """Other plugins that one counts on."""
    there = {each.plugin.name for each in found} | {each.plugin.id for each in found}
    for each in found:
        for needed in each.manifest.needs:
            if needed not in there:
                text = f"it needs {needed}, which is not on: agent plugin install {needed}"
                yield PluginFault(each.plugin.id, text, stopped=False)


def _with_options(found: FoundPlugin, options: Options, faults: list[PluginFault]) -> Plugin:
    wanted = found.manifest.user_config
    if not wanted:
        return found.plugin
    id = found.plugin.id
    values: Mapping[str, str] = {}
    try:
        values = options.values(id, wanted)
    except GatewrightError as error:
        faults.append(PluginFault(id, str(error), stopped=False))
    for key, want in wanted.items():
        if want.required and not values.get(key):
            text = f"it needs {key}: agent plugin configure {id} {key}"
            faults.append(PluginFault(id, text, stopped=False))
    secret = frozenset(key for key, want in wanted.items() if want.sensitive)
    return replace(found.plugin, options=values, secret=secret)
