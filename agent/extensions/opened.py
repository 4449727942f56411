"""Opens the extensions that a session wants, in order: one that fails is told, and left out.

One that becomes wanted later, by a setting or a file that is there now, plugs in then: what it
brings counts from that moment, and the model is told of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from importlib import import_module

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.printable import escaped
from gatewright.tools.access import Where
from gatewright.tools.protocol import Content

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


class Opened:
    """The extensions of a session: those it wants, and those it wants only later."""

    def __init__(self, host: Host, paths: Sequence[str]) -> None:
        self._host = host
        self._paths = paths
        self._loop = asyncio.get_running_loop()
        self._waiting: list[Extension] = []
        self._plugging: set[asyncio.Task[None]] = set()
        self._join: Callable[[Contribution], None] | None = None

    async def all(self) -> Sequence[Contribution]:
        """Raises what one of them raised that a session cannot do without, and any UsageError."""
        for path in self._paths:
            each = extension(path)
            if each.wanted(self._host.around):
                self._host.take(await _plugged(each, self._host))
            else:
                self._waiting.append(each)
        return tuple(self._host.brought)

    def follow(self, join: Callable[[Contribution], None]) -> None:
        """From now on what others bring joins the session, once it is wanted."""
        self._join = join
        self._host.live.listen(self._changed)
        self._look()

    async def beside(self, typed: str, text: str, where: Where) -> Sequence[tuple[Content, ...]]:
        """Before an input of the person: whoever is wanted by now is there for it."""
        del typed, text, where
        self._look()
        if self._plugging:
            await asyncio.wait(self._plugging)
        return ()

    async def close(self) -> None:
        self._waiting.clear()
        for task in self._plugging:
            task.cancel()
        if self._plugging:
            await asyncio.wait(self._plugging)

    def _changed(self, around: Surroundings) -> None:
        """May be called from a thread."""
        if any(each.wanted(around) for each in self._waiting):
            self._loop.call_soon_threadsafe(self._look)

    def _look(self) -> None:
        wanted = [each for each in self._waiting if each.wanted(self._host.around)]
        for each in wanted:
            self._waiting.remove(each)
            task = self._loop.create_task(self._late(each), name=f"extension {each.name}")
            self._plugging.add(task)
            task.add_done_callback(self._plugging.discard)

    async def _late(self, each: Extension) -> None:
        contribution = await _plugged(each, self._host)
        assert self._join is not None
        self._host.take(contribution)
        self._join(contribution)
        for problem in contribution.problems:
            self._host.warn(escaped(problem))


async def _plugged(each: Extension, host: Host) -> Contribution:
    if each.needed:
        return await each.plug(host)
    try:
        async with asyncio.timeout(LIMIT):
            return await each.plug(host)
    except UsageError:
        raise  # what the command line says cannot be understood
    except TimeoutError:
        why = f"it took more than {LIMIT:.0f} s to begin"
    except GatewrightError as error:
        why = str(error)
    except DEFECTS as error:
        log.error("extension %s", each.name, exc_info=error)
        why = f"{type(error).__name__}: {error}"
    return Contribution(problems=(f"{each.name} is left out of this session: {why}",))
