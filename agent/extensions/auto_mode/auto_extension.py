"""Plugs auto mode in: nothing of it is imported before the first call that it has to judge.

Until then the journal remembers; here is only what the person said, which nothing pushes out, and
which remotes there were before anything ran.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gatewright.agent.context.announcements import Announcement
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.models.judges import UNMEASURED, judge_for
from gatewright.agent.record.events import (
    AgentFinished,
    Answered,
    Cleared,
    Compacted,
    Envelope,
    ModeChanged,
    Rewound,
    UserMessage,
)
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.access import MAIN
from gatewright.tools.system import private
from gatewright.tools.system.gitfiles import remotes_of

if TYPE_CHECKING:
    from gatewright.agent.extensions.auto_mode.auto_session import AutoSession
    from gatewright.tools.classify import Opinion, Pending
    from gatewright.tools.moments import Moment, Verdict

MODE = "auto"
PLAN = "plan"
REMOTES = "remotes_when_the_session_began"
LATE = "remotes_when_auto_mode_came"
ENTERED = (
    "Auto mode is on: nobody is asked, a model judges your calls in the person's place. Act, and "
    "decide routine matters yourself; expect to be corrected. Do nothing destructive and nothing "
    "outward that the person did not ask for, and keep secrets in. When a call is refused, respect "
    "that: do not look for a way round, do other work or say what is needed."
)
STANDS = "Auto mode is on: act, and respect what is refused."
EXPLAINED = (
    "Auto mode: {model} judges what would be asked. It reads what you say, what was done and what "
    "instruction files forbid, nothing that a model, a page or a tool writes; each check is a "
    "small request, listed in /cost. It can be wrong: deny and ask rules, what always asks, and "
    "the sandbox hold all the same. Shift+Tab or /mode default leaves it."
)
LEFT = "Auto mode is off: what needs a yes is asked about again."


class AutoMode:
    """The person's words, until somebody has to judge; then all is the session's."""

    def __init__(self, host: Host) -> None:
        self._host = host
        late = host.joined.is_set()  # it became wanted in the middle of a session
        self._remotes = {LATE if late else REMOTES: remotes_of(host.begins.root)}
        self._words: list[Envelope] = []
        for envelope in host.journal.hub().kept():
            self._remember(envelope)
        self._session: AutoSession | None = None
        self._was = self._announced = self._listens = False

    async def classify(self, pending: Pending) -> Opinion:
        return await self._begun().classify(pending)

    def _begun(self) -> AutoSession:
        if self._session is None:
            from gatewright.agent.extensions.auto_mode.auto_session import AutoSession  # noqa: PLC0415  lazy: 12 ms

            self._session = AutoSession(self._host, self._words, self._remotes, judges_in)
            self._words = []
            self.listen()  # an agent alone may be in the mode
        return self._session

    def saw(self, envelope: Envelope) -> None:
        event = envelope.event
        if isinstance(event, ModeChanged):
            self._mode(event.mode)
        if isinstance(event, AgentFinished) and judges_in(self._host):
            self._begun()  # whoever ended may have to be looked through, judged before or not
        if self._session is not None:
            self._session.saw(envelope)
        elif isinstance(event, Rewound) and envelope.agent == MAIN:
            self._words.clear()
            for each in self._host.journal.hub().kept():
                self._remember(each)
        else:
            self._remember(envelope)

    def listen(self) -> None:
        """Reports of agents go by here, from the first time that their calls may be judged."""
        if not self._listens:
            self._listens = True
            self._host.listeners.add(self)

    async def at(self, moment: Moment) -> Verdict:
        if self._session is not None:
            return await self._session.at(moment)
        from gatewright.tools.moments import Verdict  # noqa: PLC0415  lazy: once somebody listens

        return Verdict()

    def _mode(self, mode: str) -> None:
        """Of the session. Auto mode chosen again: what was refused before counts no more."""
        if judges_in(self._host):
            self.listen()
        if mode != MODE:
            return
        if self._session is not None:
            self._session.entered()
        for text in self.told():
            self._host.warn(text)

    def told(self) -> tuple[str, ...]:
        """What the person should know who enters it: how it works once, a doubt every time."""
        around, found = self._host.around, judge_for(self._host.around)
        told = () if found.measured else (UNMEASURED.format(model=found.model),)
        mark = around.places.state / "told.auto-mode"
        if not around.interactive or mark.exists():
            return told
        with suppress(OSError):  # then it is said once more
            private.write(mark, b"")
        return (EXPLAINED.format(model=found.model), *told)

    def _remember(self, envelope: Envelope) -> None:
        if envelope.agent != MAIN:
            return
        match envelope.event:
            case Cleared():
                self._words.clear()
            case UserMessage(hidden=False) | Answered() | Compacted():
                self._words.append(envelope)
            case _:
                pass

    def announced(self) -> Announcement:
        if self._host.policy.current() != MODE:
            return Announcement("Auto mode", LEFT if self._announced else "")
        text = STANDS if self._announced and self._was else ENTERED
        self._announced = self._was = True
        return Announcement("Auto mode", text)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def judges_in(host: Host) -> bool:
    """Whether calls of the session are judged in the mode it is in."""
    mode, permissions = host.policy.current(), host.around.settings.permissions
    return mode == MODE or (mode == PLAN and permissions.use_auto_mode_during_plan)


def wanted(around: Surroundings) -> bool:
    return not judge_for(around).lack


async def plug_auto(host: Host) -> Contribution:
    auto = AutoMode(host)
    begins = host.policy.current() == MODE
    if judges_in(host):
        auto.listen()
    return Contribution(
        classify=auto.classify,
        folds=(auto.saw,),
        announcements=(auto.announced,),
        problems=auto.told() if begins else (),
        close=(auto.close,),
    )


AUTO = Extension(name="auto mode", plug=plug_auto, wanted=wanted)
