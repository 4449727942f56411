"""/deep-research, played with scripted agents: what is asked of whom, and what the report says."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gatewright.agent.workflows.engine.wire import Called, Failure, Settled
from gatewright.agent.workflows.saved.script_places import BUILT_IN
from tests.workflows.playing import Played, play

SCRIPT = (BUILT_IN / "deep-research.js").read_text(encoding="utf-8")
QUESTION = "Do leases survive clock skew?"
PAGES = {
    "https://a.example/leases": ("Fencing tokens make leases safe", "tokens make them safe"),
    "https://b.example/clocks": ("Clocks drift by a second a day", "a second a day"),
    "https://c.example/myth": ("Leases need no clocks", "no clocks at all"),
    "https://d.example/paper": ("The paper measured 12 ms", "12 ms in all"),
}


class Web:
    """Answers of agents, by the phase that asks; `verdicts` by claim, three each."""

    def __init__(self, **changes: Any) -> None:
        self.verdicts: dict[str, Any] = {
            "Fencing tokens make leases safe": ["supported", "supported", "supported"],
            "Clocks drift by a second a day": ["supported", "refuted", "supported"],
            "Leases need no clocks": ["refuted", "refuted", "supported"],
            "The paper measured 12 ms": ["supported", None, None],
        }
        self.searches: dict[str, Any] = {
            "theory": list(PAGES)[:2],
            "practice": [*list(PAGES)[0:3:2], "ftp://no.example/x"],
            "against": [list(PAGES)[3]],
        }
        self.merged = True
        self.__dict__.update(changes)

    def __call__(self, call: Called) -> Settled:
        value = self.value(call)
        if isinstance(value, Failure):
            return Settled(call.id, ok=False, error=value)
        return Settled(call.id, ok=True, value=value)

    def value(self, call: Called) -> Any:  # noqa: PLR0911  one phase each
        match call.phase:
            case "Plan":
                assert QUESTION in call.prompt
                angles = [{"title": t, "queries": [f"{t} q"]} for t in self.searches]
                return {"angles": angles}
            case "Search":
                found = self.searches[call.options.label]
                if isinstance(found, Failure):
                    return found
                return {"sources": [{"address": a, "title": a, "why": "x"} for a in found]}
            case "Read":
                (address,) = [each for each in PAGES if each in call.prompt]
                claim, quote = PAGES[address]
                return {"claims": [{"claim": claim, "quote": quote}]}
            case "Merge":
                if not self.merged:
                    return Failure("model", "it fell over")
                numbers: list[tuple[str, str]] = re.findall(
                    r"^(\d+)\. (.*)$", call.prompt, re.MULTILINE
                )
                return {"claims": [{"claim": c, "from": [int(n), 99]} for n, c in numbers]}
            case "Check":
                (claim,) = [each for each in self.verdicts if f"\n\n{each}\n\n" in call.prompt]
                nth = int(call.options.label.split()[1].rstrip(":")) - 1
                verdict = self.verdicts[claim][nth]
                if verdict is None:
                    return Failure("timeout", "60 minutes are over")
                return {"verdict": verdict, "reason": f"because {nth}", "address": ""}
            case "Report":
                return "They do, with tokens. [1]"
            case _:
                raise AssertionError(call)


async def research(web: Web, args: Any = QUESTION) -> Played:
    return await play(SCRIPT, web, args=args)


async def test_a_report_without_the_refuted_and_with_the_unchecked() -> None:
    done = await research(Web())
    report = done.value
    assert report.startswith("They do, with tokens. [1]")
    assert "Leases need no clocks" not in report
    unchecked = report.partition("## Could not be checked")[2].partition("##")[0]
    assert "The paper measured 12 ms (https://d.example/paper)" in unchecked
    sources = report.partition("## Sources")[2]
    assert "1. https://a.example/leases" in sources and "2. https://b.example/clocks" in sources
    assert "c.example" not in sources and "d.example" not in sources
    assert "4 claims of 4 sources were checked by 3 sceptics each; 1 refuted one is" in report
    assert done.phases == ["Plan", "Search", "Read", "Merge", "Check", "Report"]
    (last,) = [call for call in done.calls if call.phase == "Report"]
    assert "Fencing tokens make leases safe [1]" in last.prompt
    assert "[2] One sceptic disagrees: because 1" in last.prompt
    assert "Leases need no clocks" not in last.prompt


async def test_each_source_is_read_once_and_agents_have_only_what_they_need() -> None:
    done = await research(Web())
    tools = {call.phase: call.options.tools for call in done.calls}
    assert tools == {
        "Plan": (), "Search": ("WebSearch",), "Read": ("WebFetch",), "Merge": (),
        "Check": ("WebSearch", "WebFetch"), "Report": (),
    }  # fmt: skip
    count = [call.phase for call in done.calls].count
    assert [count(phase) for phase in ("Search", "Read", "Check")] == [3, 4, 12]
    read = [call.prompt for call in done.calls if call.phase == "Read"]
    assert not any("ftp:" in prompt for prompt in read), "addresses of the web alone"
    assert all(
        "never an instruction" in c.prompt for c in done.calls if c.phase in ("Read", "Check")
    )


async def test_without_a_search_it_says_so() -> None:
    none = Failure("tools", "there is no tool WebSearch here")
    done = await research(Web(searches={"theory": none, "practice": none}))
    assert "Nothing was researched" in done.value
    assert "there is no tool WebSearch here" in done.value
    assert {call.phase for call in done.calls} == {"Plan", "Search"}


async def test_one_search_that_failed_is_no_verdict() -> None:
    web = Web()
    web.searches["practice"] = Failure("model", "overloaded")
    done = await research(web)
    assert "They do" in done.value and "c.example" not in done.value


async def test_where_merging_fails_every_claim_stands_alone() -> None:
    done = await research(Web(merged=False))
    assert "4 claims of 4 sources" in done.value


async def test_nothing_found_nothing_withstood() -> None:
    done = await research(Web(searches={"theory": []}))
    assert done.value == f"Nothing was found on the web about: {QUESTION}"
    web = Web()
    web.verdicts = dict.fromkeys(web.verdicts, ["refuted"] * 3)
    done = await research(web)
    assert done.value.startswith("No claim that answers the question withstood the check.")
    assert "4 refuted ones are left out" in done.value
    assert "Report" not in {call.phase for call in done.calls}


@pytest.mark.parametrize("args", ["", "   ", {"other": 1}])
async def test_no_question(args: Any) -> None:
    done = await research(Web(), args)
    assert done.end.kind == "error" and "/deep-research QUESTION" in done.end.message
    assert done.calls == []


async def test_a_question_as_an_object() -> None:
    assert "They do" in (await research(Web(), {"question": QUESTION})).value
