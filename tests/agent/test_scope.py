"""What a command brings with its message holds until the person's next one, and not after."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from gatewright.agent.client.port import SessionClient
from gatewright.agent.commands.outcome import Outcome, Scope, Submit
from gatewright.agent.commands.registry import Command, CommandContext, always
from gatewright.agent.frontends import plain
from gatewright.agent.frontends.slash_text import command
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import Decided, ModelChanged, Noticed, TurnEnded, UserMessage
from gatewright.agent.session.children import AgentSpec
from gatewright.agent.session.session import Session
from gatewright.tools.protocol import TextContent
from tests.fakes.fake_session import FakeSession
from tests.fakes.house import FakeRules, House, house
from tests.fakes.recorder import Recorder
from tests.permissions.composed import Desk, desk
from tests.tui.stage import stage

MAKE = """call: Bash {"command": "mkdir made"}"""
FREE = Scope(by="deploy", trusted=True, allow=("Bash(mkdir made)",))


def deploying(session: SessionClient, scope: Scope) -> None:
    """A throwaway system that brings one command."""

    async def run(context: CommandContext) -> Outcome:
        return Submit(f"Deploy {context.args}".rstrip(), scope)

    known = Command(name="deploy", summary="Deploy", run=run, source="project")
    session.commands.add(always(known))


@asynccontextmanager
async def real(folder: Path, scope: Scope, *script: str) -> AsyncGenerator[Desk]:
    """A composed session with the real gate, where nobody can be asked."""
    async with desk(folder, script, interactive=False) as opened:
        deploying(opened.session, scope)
        yield opened


def decided(opened: Desk) -> list[str]:
    return [event.behavior for event in opened.seen.of(Decided)]


async def turns(session: Session, *lines: str) -> None:
    for line in lines:
        if line.startswith("/"):
            await session.run_command(line)
        else:
            session.submit(line)
        await session.idle()


async def test_a_rule_ends_with_the_next_message(tmp_path: Path) -> None:
    script = [MAKE, "say: done", MAKE, "say: no", MAKE, "say: done"]
    async with real(tmp_path, FREE, *script) as opened:
        await turns(opened.session, "/deploy", "again", "/deploy")
        assert decided(opened) == ["allow", "deny", "allow"]
        rules = [event.rule for event in opened.seen.of(Decided)]
        assert "mkdir made" in rules[0]
        said = [event.text for event in opened.seen.of(Noticed) if "next message" in event.text]
        assert said[0] == "/deploy until your next message: allows Bash(mkdir made)"


async def test_whoever_is_not_trusted_loosens_nothing(tmp_path: Path) -> None:
    scope = Scope(by="deploy", allow=("Bash(mkdir made)",), model="dear", effort="max")
    async with real(tmp_path, scope, MAKE, "say: no") as opened:
        await turns(opened.session, "/deploy")
        assert decided(opened) == ["deny"]
        assert opened.session.model == "anthropic/claude-sonnet-5-5"
        assert not [e for e in opened.seen.of(Noticed) if "next message" in e.text]


async def test_whoever_is_not_trusted_may_forbid(tmp_path: Path) -> None:
    read = """call: Bash {"command": "ls"}"""
    scope = Scope(by="deploy", deny=("Bash(ls:*)",))
    async with real(tmp_path, scope, read, "say: no", read, "say: yes") as opened:
        await turns(opened.session, "/deploy", "again")
        assert decided(opened) == ["deny", "allow"]


async def test_only_what_it_names_may_be_called(tmp_path: Path) -> None:
    """Whoever wrote it; also what would run without a question."""
    scope = Scope(by="deploy", only=("Read", "Bash(git *)"))
    look = """call[g]: Glob {"pattern": "*"}"""
    bash = """call: Bash {"command": "ls"}"""
    async with real(tmp_path, scope, look, bash, "say: no", look, "say: yes") as opened:
        await turns(opened.session, "/deploy", "again")
        assert decided(opened) == ["deny", "allow", "allow"]
        told = opened.seen.of(Decided)[0].reason
        assert told == "Glob is not among what may be used here: Read, Bash(git *)."
        said = [event.text for event in opened.seen.of(Noticed) if "next message" in event.text]
        assert said == ["/deploy until your next message: lets be called only Read, Bash(git *)"]


async def test_an_agent_keeps_its_own_for_as_long_as_it_lives(tmp_path: Path) -> None:
    script = ["say: hello", """call: Glob {"pattern": "*"}""", "say: 1"]
    async with desk(tmp_path, script, interactive=False) as opened:
        await turns(opened.session, "hi")
        scope = Scope(by="reader", only=("Read",))
        spec = AgentSpec(name="a", kind="reader", prompt="look", scope=scope)
        run = opened.session.spawn(spec)
        await run.idle()
        assert decided(opened) == ["deny"]
        await run.close()


async def test_what_is_too_broad_does_not_count_and_is_said(tmp_path: Path) -> None:
    scope = Scope(by="deploy", trusted=True, allow=("Bash",))
    async with real(tmp_path, scope, MAKE, "say: no") as opened:
        await turns(opened.session, "/deploy")
        assert decided(opened) == ["deny"]
        assert [e for e in opened.seen.of(Noticed) if "too broad" in e.text]


async def test_print_mode_asks_within_the_scope(tmp_path: Path) -> None:
    async with real(tmp_path, FREE, MAKE, "say: done") as opened:
        said = await command(opened.session, "/deploy now")
        assert isinstance(said, Submit)
        out, err = Page(), Page()
        options = LaunchOptions(prompt=said.text)
        assert await plain.run(opened.session, options, out, err, scope=said.scope) == 0
        assert out.text == "done\n"
        assert decided(opened) == ["allow"]
        (typed,) = [e for e in opened.seen.of(UserMessage) if not e.hidden]
        assert typed.content[0] == TextContent("Deploy now")


class Page:
    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text


def asked(built: House) -> list[tuple[str, str]]:
    return [(request.model, request.effort) for request in built.provider.requests]


async def test_model_and_effort_are_those_of_the_scope_and_then_the_persons() -> None:
    scope = Scope(by="deploy", trusted=True, model="other", effort="high")
    script = "say: 1\n---\nsay: 2\n---\nsay: 3"
    async with house(script) as built, Recorder(built.session) as seen:
        deploying(built.session, scope)
        await turns(built.session, "before", "/deploy", "after")
        assert not seen.of(ModelChanged), "a session that goes on later has nothing of it"
        assert asked(built) == [("script", ""), ("other", "high"), ("script", "")]
        assert built.session.model == "script", "what the person chose stays theirs"


async def test_a_message_in_mid_turn_ends_the_scope_there() -> None:
    scope = Scope(by="deploy", trusted=True, model="other")
    script = "wait: gate\ncall: Change\n---\nsay: done"
    async with house(script) as built, Recorder(built.session) as seen:
        deploying(built.session, scope)
        await built.session.run_command("/deploy")
        await built.provider.reached("gate")
        built.session.submit("stop that")
        built.provider.release("gate")
        await seen.until(TurnEnded)
        assert [model for model, _ in asked(built)] == ["other", "script"]


async def test_a_notice_of_the_system_does_not_end_it() -> None:
    async with house("say: 1\n---\nsay: 2") as built:
        deploying(built.session, Scope(by="deploy", trusted=True, model="other"))
        await turns(built.session, "/deploy")
        built.session.tell("A task has ended.")
        await built.session.idle()
        assert [model for model, _ in asked(built)] == ["other", "other"]


async def test_what_comes_with_it_goes_to_the_model() -> None:
    scope = Scope(by="deploy", attachments=(TextContent("the manual"),))
    async with house("say: 1") as built, Recorder(built.session) as seen:
        deploying(built.session, scope)
        await turns(built.session, "/deploy")
        assert seen.of(UserMessage)[0].content[-1] == TextContent("the manual")


async def test_rules_are_replaced_and_never_added_up() -> None:
    rules = FakeRules()
    async with house("say: 1\n---\nsay: 2", rules=rules) as built:
        deploying(built.session, FREE)
        await turns(built.session, "/deploy")
        assert rules.scoped == (FREE.allow, (), ())
        await turns(built.session, "next")
        assert rules.scoped == ((), (), ())


async def test_the_screen_sends_it_with_its_scope() -> None:
    session = FakeSession()
    taken: list[Scope | None] = []
    session.scope_hook = taken.append
    deploying(session.facade(), FREE)
    async with stage(session) as s:
        await s.type("/dep")
        shown = await s.see("/deploy", "project")
        assert "Deploy" in shown
        await s.press("enter")
        await s.until(lambda: session.sent == ["Deploy"])
        assert taken == [FREE]


ASKED = Scope(by="research", trusted=True, agreed=("WebSearch",))
BARE = Scope(by="research", trusted=True, allow=("WebSearch",))


async def test_what_the_person_agreed_to_counts_however_wide_it_is(tmp_path: Path) -> None:
    search = 'call: WebSearch {"query": "leases"}'
    own = {"web": {"search": "searxng", "searchUrl": "http://127.0.0.1:9"}}
    for number, (scope, behavior) in enumerate(((ASKED, "allow"), (BARE, "deny"))):
        async with desk(
            tmp_path / str(number), [search, "say: ok"], interactive=False, own=own
        ) as opened:
            deploying(opened.session, scope)
            await turns(opened.session, "/deploy")
            assert decided(opened)[0] == behavior
            remarks = [each.text for each in opened.seen.of(Noticed) if "too broad" in each.text]
            assert bool(remarks) is (scope is BARE)


async def test_what_was_agreed_to_lifts_no_denial_and_is_nobody_elses(tmp_path: Path) -> None:
    search = 'call: WebSearch {"query": "leases"}'
    own = {"permissions": {"deny": ["WebSearch"]}}
    async with desk(tmp_path, [search, "say: ok"], interactive=False, own=own) as opened:
        deploying(opened.session, ASKED)
        await turns(opened.session, "/deploy")
        assert decided(opened) == ["deny"]
    untrusted = Scope(by="research", agreed=("WebSearch",))
    async with desk(tmp_path / "b", [search, "say: ok"], interactive=False) as opened:
        deploying(opened.session, untrusted)
        await turns(opened.session, "/deploy")
        assert decided(opened) == ["deny"], "who is not trusted brings no yes of anybody"
