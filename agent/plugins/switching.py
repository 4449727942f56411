"""Turns plugins on and off, and forgets them: what settings say, and what was said to a project.

A file of the project says it for everybody; the person's own yes is kept outside of it.
"""

from __future__ import annotations

from typing import Any

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.enabled import KEY
from gatewright.agent.plugins.lock_file import LockFile
from gatewright.agent.plugins.options import Options
from gatewright.agent.plugins.record import Lock, Record, id_of
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.tree import remove_tree
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.traits import COMMITTED, Source
from gatewright.tools.system.untyped_json import obj


def installed(lock: Lock, text: str) -> Record:
    """By name, or name@market. Raises GatewrightError with the nearest."""
    name, market = id_of(text)
    for record in lock.plugins.values():
        if record.name == name and market in ("", record.market):
            return record
    from difflib import get_close_matches  # noqa: PLC0415  5 ms, on a typing error only

    near = get_close_matches(name, [each.name for each in lock.plugins.values()], n=1)
    meant = f" Did you mean {near[0]}?" if near else " agent plugin list lists what is."
    raise GatewrightError(f"There is no plugin {text} installed.{meant}")


def switch(places: Places, id: str, source: Source, *, on: bool) -> None:
    """In that file; on in a project's is a yes here. Raises SettingsError."""
    from gatewright.agent.settings.edit import edit, section  # noqa: PLC0415  lazy: 9 ms

    path = places.file(source)
    assert path is not None
    lock = LockFile(Store(places.home).lock.path)
    if source in COMMITTED and on:
        lock.answer(places.root, id, "yes")
    edit(path, lambda values: section(path, values, KEY).update({id: on}))


def forget(places: Places, id: str, source: Source) -> None:
    """No file says anything of it any more, as far as it is the person's or the one named."""
    from gatewright.agent.settings.edit import edit  # noqa: PLC0415  lazy: 9 ms

    def change(values: dict[str, Any]) -> None:
        said = obj(values.get(KEY))
        said.pop(id, None)
        if KEY in values and not said:
            del values[KEY]

    for each in dict.fromkeys((Source.USER, Source.LOCAL, source)):
        path = places.file(each)
        if path is not None and path.exists():
            edit(path, change)


def uninstall(places: Places, record: Record, source: Source, *, keep_data: bool) -> None:
    """Its versions go once no session uses them. Raises GatewrightError."""
    from gatewright.agent.plugins.in_use import used  # noqa: PLC0415  only here

    store = Store(places.home)
    store.lock.drop(record.id)
    store.lock.answer(places.root, record.id, None)
    forget(places, record.id, source)
    Options(places.home).forget(record.id)
    if not keep_data:
        remove_tree(store.data(record.id))
    if record.linked:
        return
    running = used(store)
    for version in store.root(record).parent.glob("*"):
        if str(version) not in running:
            remove_tree(version)
