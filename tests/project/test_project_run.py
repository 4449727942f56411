"""The state machine of a run: whatever fails, is refused or dies, nothing counts as done unseen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewright.agent.autonomy.project.course import (
    REPAIRS,
    At,
    Failed,
    Outcome,
    Passed,
    Refused,
    after,
)
from gatewright.agent.autonomy.project.features import Feature, FeatureList
from gatewright.agent.autonomy.project.project_file import ProjectFile
from gatewright.agent.autonomy.project.project_run import (
    Ended,
    ProjectPorts,
    ProjectRun,
    RunOver,
    Wanted,
)
from tests.fakes.examples import many
from tests.project.ground import demo

OUTCOMES = st.one_of(
    st.just(Passed()),
    st.just(Failed("it fails")),
    st.just(Refused("not allowed")),
)


class Killed(BaseException):
    """The process is gone in this very moment."""


class World:
    """What outlives a process: the file, and what was committed. `deal` says what comes next."""

    def __init__(self, root: Path, listed: FeatureList) -> None:
        self.file = ProjectFile(root)
        self.file.write(listed)
        self.commits: list[tuple[str, str]] = []
        self.seen: list[str] = []  # of the feature at hand: what passed since it was worked on
        self.log: list[str] = []
        self.cleared = 0
        self.deal: Callable[[str], Outcome] = lambda _: Passed()
        self.may = ""
        self.yes = True

    def ports(self) -> ProjectPorts:
        return ProjectPorts(
            file=self.file,
            begin=self._begin,
            work=self._work,
            check=self._check,
            verify=self._verify,
            commit=self._commit,
            clear=self._clear,
            confirm=self._confirm,
            may=lambda: self.may,
            tell=lambda text, tone: self.log.append(f"{tone}: {text}"),
        )

    async def run(self, *, auto: bool = True, confirm: bool = False, most: int = 0) -> Ended:
        wanted = Wanted(auto=auto, confirm=confirm, most=most)
        return await ProjectRun(self.ports(), wanted).go()

    async def _begin(self, listed: FeatureList) -> None:
        """As git does it: what is over on the disk and in no commit is committed first."""
        kept = dict(self.commits)
        for each in listed.features:
            if each.over and kept.get(each.id) != each.state:
                self.commits.append((each.id, each.state))

    async def _work(self, prompt: str) -> Outcome:
        self.seen = []
        self.log.append(prompt)
        return self.deal("work")

    async def _check(self, command: str) -> Outcome:
        assert command.startswith("test -e")
        return self._saw("check")

    async def _verify(self, feature: Feature) -> Outcome:
        del feature
        return self._saw("verify")

    def _saw(self, what: str) -> Outcome:
        outcome = self.deal(what)
        if isinstance(outcome, Passed):
            self.seen.append(what)
        return outcome

    async def _commit(self, feature: Feature) -> str:
        self.deal("commit")
        if feature.state == "done":
            assert self.seen == ["check", "verify"], "both passed, behind the last work"
        self.commits.append((feature.id, feature.state))
        return "abc"

    def _clear(self) -> None:
        self.cleared += 1

    async def _confirm(self, feature: Feature) -> bool:
        del feature
        return self.yes

    def states(self) -> list[str]:
        return [each.state for each in self.file.read().features]


@given(st.lists(OUTCOMES, max_size=20), st.booleans())
@settings(max_examples=many(120), deadline=None)
def test_a_course_is_done_only_behind_both(outcomes: list[Outcome], checks: bool) -> None:
    at, passed, works = At(), list[str](), 0
    for outcome in outcomes:
        if at.over:
            break
        if at.phase == "work":
            passed, works = [], works + 1
        elif isinstance(outcome, Passed):
            passed.append(at.phase)
        at = after(at, outcome, checks=checks)
        assert at.repairs <= REPAIRS
    assert works <= REPAIRS + 1
    if at.phase == "done":
        assert passed == (["check", "verify"] if checks else ["verify"])
    if at.phase == "blocked":
        assert at.reason


@given(st.data())
@settings(max_examples=many(40), deadline=None)
async def test_killed_anywhere_the_next_runs_end_the_list(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    world = World(tmp_path_factory.mktemp("world"), demo("pending", "pending", "pending"))

    def deal(what: str) -> Outcome:
        if data.draw(st.integers(0, 9)) == 0:
            raise Killed(what)
        if what == "commit":
            return Passed()
        return data.draw(OUTCOMES)

    world.deal = deal
    for _ in range(8):
        try:
            await world.run()
        except Killed:
            continue
    world.deal = lambda _: Passed()
    while world.file.read().next is not None:
        await world.run()
    await world.run()
    assert {id for id, _ in world.commits} == {"f1", "f2", "f3"}
    assert len(world.commits) == 3, "one a feature"
    assert [state for _, state in sorted(world.commits)] == world.states()


async def test_all_are_done_one_after_the_other(tmp_path: Path) -> None:
    world = World(tmp_path, demo())
    ended = await world.run()
    assert (ended.how, world.states(), world.cleared) == ("finished", ["done", "done"], 1)
    assert "2 done. Nothing of the list is left." in ended.text
    assert world.commits == [("f1", "done"), ("f2", "done")]


async def test_next_does_one_and_no_more(tmp_path: Path) -> None:
    world = World(tmp_path, demo())
    assert (await world.run(auto=False)).how == "finished"
    assert (world.states(), world.cleared) == (["done", "pending"], 0)


async def test_a_failure_is_repaired_twice_and_then_blocked_with_the_reason(tmp_path: Path) -> None:
    world = World(tmp_path, demo("pending"))
    world.deal = lambda what: Failed("line 3 is wrong") if what == "check" else Passed()
    await world.run()
    assert world.states() == ["blocked"]
    assert world.file.read().features[0].note == "Blocked: line 3 is wrong"
    prompts = [each for each in world.log if each.startswith("Notice of this program")]
    assert len(prompts) == 1 + REPAIRS
    assert all("line 3 is wrong" in each for each in prompts[1:])


async def test_a_refused_check_is_not_tried_again(tmp_path: Path) -> None:
    world = World(tmp_path, demo("pending"))
    world.deal = lambda what: Refused("not allowed") if what == "check" else Passed()
    await world.run()
    assert world.states() == ["blocked"]
    assert sum(each.startswith("Notice") for each in world.log) == 1


async def test_two_blocked_in_a_row_pause(tmp_path: Path) -> None:
    world = World(tmp_path, demo("pending", "pending", "pending"))
    world.deal = lambda what: Refused("no") if what == "verify" else Passed()
    ended = await world.run()
    assert ended.how == "paused"
    assert world.states() == ["blocked", "blocked", "pending"]
    assert "f1, f2" in ended.text


async def test_the_model_may_say_that_it_is_impossible(tmp_path: Path) -> None:
    world = World(tmp_path, demo("pending"))

    def deal(what: str) -> Outcome:
        assert what in ("work", "commit")
        if what == "work":
            text = world.file.path.read_text(encoding="utf-8")
            text = text.replace('"doing"', '"blocked", "note": "no such service"')
            world.file.path.write_text(text, encoding="utf-8")
        return Passed()

    world.deal = deal
    await world.run()
    assert world.states() == ["blocked"]
    assert world.file.read().features[0].note == "no such service"


async def test_what_was_begun_comes_first(tmp_path: Path) -> None:
    world = World(tmp_path, demo("pending", "doing"))
    await world.run(auto=False)
    assert world.states() == ["pending", "done"]


async def test_limits_end_it_between_features(tmp_path: Path) -> None:
    world = World(tmp_path, demo("pending", "pending", "pending"))
    assert (await world.run(most=1)).how == "finished"
    world.may = "$1 of a day are spent."
    ended = await world.run()
    assert (ended.how, world.states()) == ("limit", ["done", "pending", "pending"])
    assert "f2 is next" in ended.text
    world.may, world.yes = "", False
    assert (await world.run(confirm=True)).how == "stopped"
    assert world.states() == ["done", "pending", "pending"]


async def test_what_ends_a_run_leaves_the_feature_as_begun(tmp_path: Path) -> None:
    world = World(tmp_path, demo())

    def over(what: str) -> Outcome:
        raise RunOver("stopped", what)

    world.deal = over
    assert await world.run() == Ended("stopped", "work")
    assert world.states() == ["doing", "pending"]


async def test_a_list_that_is_gone_or_broken_is_told(tmp_path: Path) -> None:
    world = World(tmp_path, demo())
    world.file.path.write_text("{", encoding="utf-8")
    ended = await world.run()
    assert ended.how == "error"
    assert "features.json" in ended.text and "Correct it by hand" in ended.text
    world.file.path.unlink()
    assert "/project init GOAL" in (await world.run()).text
