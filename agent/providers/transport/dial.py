"""A connected socket to the first address of a host that answers; none is ever left behind.

asyncio has this race too, but a wait that is cancelled in its last moment loses the socket there,
and in some releases it fails where tasks are eager (cpython#124309), as the screen's are.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from itertools import chain, zip_longest
from typing import Any, TypeAlias

HEAD_START = 0.25  # seconds before the next address is tried beside the first

Place: TypeAlias = tuple[int, Any]  # the family, and the address as that has it


def anywhere(address: str) -> bool:
    return bool(address)


async def dial(host: str, port: int, admits: Callable[[str], bool] = anywhere) -> socket.socket:
    """Raises OSError; the caller bounds the time. What `admits` refuses is not dialled."""
    found = await _places(host, port)
    places = _in_turn([place for place in found if admits(place[1][0])])
    if found and not places:
        raise OSError(f"{host} leads to an address that is not public")
    racing: set[asyncio.Task[socket.socket]] = set()
    errors: list[BaseException] = []
    try:
        while places or racing:
            if places:
                racing.add(asyncio.create_task(_reached(places.pop(0))))
            done, _ = await asyncio.wait(
                racing,
                timeout=HEAD_START if places else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            for task in done:
                racing.remove(task)
                if (error := task.exception()) is None:
                    return task.result()
                errors.append(error)
    finally:
        for task in racing:
            task.cancel()
            task.add_done_callback(_hung_up)  # also of one that has arrived meanwhile
    refused = (error for error in errors if isinstance(error, ConnectionRefusedError))
    raise next(refused, errors[0] if errors else OSError(f"{host} has no address"))


async def _places(host: str, port: int) -> list[Place]:
    infos: list[tuple[Any, ...]] = []
    # As bytes where it can be: else Python loads its tables of letters for a name that has none.
    name = host.encode("ascii") if host and host.isascii() else host
    with suppress(OSError):  # an address needs no thread to be looked up in
        infos = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    if not infos:
        loop = asyncio.get_running_loop()
        infos = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys((info[0], info[4]) for info in infos))


def _in_turn(places: list[Place]) -> list[Place]:
    """The families one after the other, the system's first choice first."""
    families: dict[int, list[Place]] = {}
    for place in places:
        families.setdefault(place[0], []).append(place)
    rows = zip_longest(*families.values())
    return [place for place in chain.from_iterable(rows) if place is not None]


async def _reached(place: Place) -> socket.socket:
    found = socket.socket(place[0], socket.SOCK_STREAM)
    try:
        found.setblocking(False)
        await asyncio.get_running_loop().sock_connect(found, place[1])
    except BaseException:
        found.close()
        raise
    return found


def _hung_up(task: asyncio.Task[socket.socket]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()
