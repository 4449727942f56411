"""Another session is opened as a start would open it, and nothing is looser there."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from gatewright.agent import build
from gatewright.agent.commands.outcome import Switch
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.listed import EXTENSIONS
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.session.start.switching import options_for
from gatewright.tools.moments import Moment, SessionStarts, Verdict


def test_a_stored_session_gets_the_flags_of_this_run_and_nothing_else() -> None:
    flags = LaunchOptions(
        prompt="Hi.", continue_session=True, session_id="x", model="m", settings="s", mode="plan"
    )
    opened = options_for(flags, Switch(path="/p", mode="default", model="n", effort="high"))
    assert opened == LaunchOptions(resume="/p", model="m", settings="s", mode="plan")


def test_a_copy_and_a_new_one_go_on_with_what_was_chosen() -> None:
    flags = LaunchOptions(resume="old", fork_session=True, model="m", mode="plan", effort="low")
    copy = Switch(path="/p", copy=True, mode="acceptEdits", model="n", effort="high")
    assert options_for(flags, copy) == LaunchOptions(
        resume="/p",
        fork_session=True,
        model="n",
        carried_model=True,
        mode="acceptEdits",
        effort="high",
    )
    fresh = options_for(flags, Switch(mode="default", model="n"))
    assert fresh == LaunchOptions(
        model="n", carried_model=True, mode="default", effort="low", cleared=True
    )
    again = options_for(flags, Switch(mode="default", model="m"))
    assert not again.carried_model, "it is the flag's still"


@pytest.mark.parametrize(
    ("flag", "to", "mode"),
    [
        ("bypassPermissions", Switch(path="/p", mode="bypassPermissions"), "bypassPermissions"),
        ("bypassPermissions", Switch(mode="bypassPermissions"), "bypassPermissions"),
        ("bypassPermissions", Switch(path="/p", mode="plan"), ""),  # the person left it
        ("bypassPermissions", Switch(mode="plan"), "plan"),
        ("", Switch(path="/p", mode="bypassPermissions"), ""),  # chosen for one session
        ("", Switch(path="/p", copy=True, mode="bypassPermissions"), ""),
        ("plan", Switch(mode="bypassPermissions"), "plan"),
    ],
)
def test_a_loose_mode_comes_along_only_by_its_flag(flag: str, to: Switch, mode: str) -> None:
    assert options_for(LaunchOptions(mode=flag), to).mode == mode


class Heard:
    sources: ClassVar[list[str]] = []

    async def at(self, moment: Moment) -> Verdict:
        if isinstance(moment, SessionStarts):
            self.sources.append(moment.source)
        return Verdict()


async def plug(host: Host) -> Contribution:
    return Contribution(moments=Heard())


LISTENER = Extension(name="a listener", plug=plug)


async def test_whoever_listens_hears_that_a_session_was_begun_by_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "EXTENSIONS", (*EXTENSIONS, f"{__name__}:LISTENER"))
    monkeypatch.setattr(Heard, "sources", [])
    flags = LaunchOptions(cwd=str(tmp_path), model="demo", trust=True, no_session=True)
    for options in (flags, options_for(flags, Switch(mode="default", model="demo"))):
        env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        session = await build.open_session(options, env, interactive=True)
        session.submit("hello")
        await session.idle()
        await session.close()
    assert Heard.sources == ["startup", "clear"]
