"""Opens the extensions that a session wants, in order: one that fails is told, and left out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from importlib import import_module

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host

DEFECTS = (  # of somebody's code, which is not the session's end
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
LIMIT = 10.0  # seconds for one of them; the screen is there long before

log = logging.getLogger(__name__)


def extension(path: str) -> Extension:
    """`module:NAME` as it stands in the list."""
    module, _, name = path.partition(":")
    found: Extension = vars(import_module(module))[name]
    return found


async def open_all(host: Host, paths: Sequence[str]) -> tuple[Contribution, ...]:
    """Raises what one of them raised that a session cannot do without."""
    brought: list[Contribution] = []
    for path in paths:
        each = extension(path)
        if not each.wanted(host.around):
            continue
        contribution = await _plugged(each, host)
        host.roots.extend(contribution.roots)
        host.listeners.add(contribution.moments)
        brought.append(contribution)
    return tuple(brought)


async def _plugged(each: Extension, host: Host) -> Contribution:
    if each.needed:
        return await each.plug(host)
    try:
        async with asyncio.timeout(LIMIT):
            return await each.plug(host)
    except TimeoutError:
        why = f"it took more than {LIMIT:.0f} s to begin"
    except GatewrightError as error:
        why = str(error)
    except DEFECTS as error:
        log.error("extension %s", each.name, exc_info=error)
        why = f"{type(error).__name__}: {error}"
    return Contribution(problems=(f"{each.name} is left out of this session: {why}",))
