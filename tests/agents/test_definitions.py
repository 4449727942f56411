"""Which kinds of agents there are: files as they are written for others, places, trust, change."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.agents.definitions.book import KindBook
from gatewright.agent.agents.definitions.builtin import NAMES, builtin_kinds
from gatewright.agent.agents.definitions.found import Standing
from gatewright.agent.agents.definitions.given import of_flag
from gatewright.agent.agents.definitions.listing import PER_TOKEN, changes, listed
from gatewright.agent.agents.definitions.places import Ground
from gatewright.agent.agents.definitions.reading import read_file
from gatewright.agent.agents.definitions.tool_lists import read_denied, read_tools
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.launch.exits import UsageError
from tests.agents.definition_files import CLAUDE_SHAPES, Here, definition

AGENTS = "project/.claude/agents"


@pytest.fixture
def here(tmp_path: Path) -> Here:
    (tmp_path / "project").mkdir()
    (tmp_path / "home").mkdir()
    return Here(tmp_path)


def names(book: KindBook) -> list[str]:
    return [kind.name for kind in book.offered() if kind.name not in NAMES]


class TestFiles:
    @pytest.mark.parametrize(
        ("text", "values"), [each[1:] for each in CLAUDE_SHAPES], ids=[c[0] for c in CLAUDE_SHAPES]
    )
    def test_written_for_claude_code(
        self, here: Here, text: str, values: Mapping[str, Any]
    ) -> None:
        path = here.write(f"{AGENTS}/a.md", text)
        book = here.book()
        (kind,) = [kind for kind in book.offered() if kind.name not in NAMES]
        assert {key: msgspec.structs.asdict(kind)[key] for key in values} == values
        assert (kind.origin, kind.path) == ("project", path)
        assert "\n" not in kind.description
        assert book.problems() == ()

    def test_all_of_them_at_once(self, here: Here) -> None:
        for number, (_, text, _) in enumerate(CLAUDE_SHAPES):
            here.write(f"{AGENTS}/deep/{number}/a.md", text)
        found = here.book().now()
        expected = {str(values["name"]) for _, _, values in CLAUDE_SHAPES if "name" in values}
        assert expected <= {kind.name for kind in found.by_name.values()}
        assert len(found.problems) == 1  # lead is there twice

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("---\nname: a\ndescription: d\n", "the line --- that ends"),
            ("---\nname: a\ntools: {a: b}\n---\nx", "tools is no list of names"),
            ("---\nname: a\ntools: 5\n---\nx", "tools is no list of names"),
            ("---\nname: a\ndisallowedTools:\n  - {a: b}\n---\nx", "disallowedTools holds what"),
            ("---\nname: a\npermissionMode: wild\n---\nx", '"wild" is no mode'),
            ("---\nname: a\nhooks: yes\n---\nx", "hooks is no table"),
            ("---\nname: a\nmaxTurns: 0\n---\nx", "maxTurns is no number above 0"),
            ("---\nname: a\nmaxTurns: 1.5\n---\nx", "maxTurns is no number above 0"),
            ("---\nname: a\nmaxBudgetUsd: -1\n---\nx", "maxBudgetUsd is no number above 0"),
            ("---\nname: a\nisolation: container\n---\nx", "isolation is none of worktree"),
            ("---\nname: a\nrequiredMcpServers: 7\n---\nx", "requiredMcpServers is no list"),
            ("---\nname: a:b\n---\nx", "'a:b' is no name"),
            ("---\nname: ../../x\n---\nx", "is no name"),
            ("---\nname: \u0415xplore\n---\nx", "is no name"),
        ],
    )
    def test_what_cannot_be_used_is_told_and_hides_no_other(
        self, here: Here, text: str, told: str
    ) -> None:
        path = here.write(f"{AGENTS}/bad.md", text)
        here.write(f"{AGENTS}/good.md", definition("good"))
        book = here.book()
        assert names(book) == ["good"]
        (problem,) = book.problems()
        assert problem.startswith(f"{path}:")
        assert told in problem

    @pytest.mark.parametrize(
        "more", ["color: mauve", "effort: huge", "background: maybe", "memory: disk", "skills: 5",
                 "mcpServers: 5", "model: [a]", "initialPrompt: 7"]
    )  # fmt: skip
    def test_what_limits_nothing_is_left_out_and_told(self, here: Here, more: str) -> None:
        here.write(f"{AGENTS}/a.md", definition("a", more))
        book = here.book()
        assert names(book) == ["a"]
        (problem,) = book.problems()
        assert f":4: {more.partition(':')[0]} " in problem
        assert "left out" in problem

    @pytest.mark.parametrize(
        "text", ["# Read me\n", "", "---\ntitle: a page\n---\nx", "---\ndescription: d\n---\nx"]
    )
    def test_a_document_is_no_definition(self, here: Here, text: str) -> None:
        here.write(f"{AGENTS}/README.md", text)
        book = here.book()
        assert (names(book), book.problems()) == ([], ())

    def test_a_name_twice_in_one_place_is_told(self, here: Here) -> None:
        first = here.write(f"{AGENTS}/a.md", definition("same", text="first"))
        second = here.write(f"{AGENTS}/b/a.md", definition("same", text="second"))
        book = here.book()
        kind = book.find("same")
        assert kind is not None
        assert kind.path == first
        assert book.problems() == (
            f"{second}: same is defined in {first} already: give it another name.",
        )

    def test_unknown_keys_are_for_who_looks_closely(self, here: Here) -> None:
        here.write(f"{AGENTS}/a.md", definition("a", "colour: red\ntags: [x]"))
        now = here.book().now()
        assert now.problems == ()
        assert [note.partition(".md:")[2] for note in now.notes] == [
            "4: there is no field 'colour', did you mean color.",
            "5: there is no field 'tags': ignored.",
        ]

    def test_one_that_would_have_limited_something_is_told(self, here: Here) -> None:
        path = here.write(f"{AGENTS}/a.md", definition("a", "permisionMode: plan"))
        book = here.book()
        assert names(book) == ["a"]
        told = f"{path}:4: there is no field 'permisionMode', did you mean permissionMode."
        assert book.problems() == (told,)
        assert book.now().notes == (), "one mistake is told once"

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            ("tools: Raed, Grep", "tools: No tool is called Raed. Did you mean Read?"),
            ("tools: Read, Bsh(git *)", "tools: No tool is called Bsh. Did you mean Bash?"),
            (
                "disallowedTools: Wirte",
                "disallowedTools: Wirte forbids nothing. No tool is called Wirte. "
                "Did you mean Write?",
            ),
            (
                "tools: Agent(explor, general-purpose)",
                "tools: there is no type of agent explor. Did you mean Explore?",
            ),
        ],
    )
    def test_a_word_that_nothing_is_called_is_told_with_the_nearest(
        self, here: Here, more: str, told: str
    ) -> None:
        path = here.write(f"{AGENTS}/a.md", definition("a", more))
        book = here.book()
        assert (names(book), book.problems()) == (["a"], (f"{path}: {told}",))

    def test_five_such_words_of_one_are_enough(self, here: Here) -> None:
        here.write(
            f"{AGENTS}/a.md", definition("a", f"tools: {', '.join(f'X{n}' for n in range(9))}")
        )
        assert len(here.book().problems()) == 5

    @given(st.text(max_size=120))
    def test_no_text_ends_it(self, tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
        path = tmp_path_factory.getbasetemp() / "any.md"
        path.write_text(
            f"---\nname: a\ntools: {text}\n---\n", encoding="utf-8", errors="replace", newline=""
        )
        found = read_file(path, Standing("project"))
        assert found is None or found.kind is None or found.kind.name


class TestTools:
    @pytest.mark.parametrize(
        ("value", "tools", "starts"),
        [
            ("Read, Grep", ("Read", "Grep"), None),
            ("Read,Grep,", ("Read", "Grep"), None),
            ("Read", ("Read",), None),
            ("", (), None),
            ([], (), None),
            (["Read", "Grep, Glob"], ("Read", "Grep", "Glob"), None),
            ("*", None, None),
            (["*", "Read"], None, None),
            ("All tools", None, None),
            ("mcp__s, mcp__s__*", ("mcp__s", "mcp__s__*"), None),
            ("Bash(git log:*, git diff:*), Read", ("Bash(git log:*, git diff:*)", "Read"), None),
            ("Agent", ("Agent",), None),
            ("Task", ("Agent",), None),
            ("Agent(a, b)", ("Agent",), ("a", "b")),
            ("Agent(a), Agent(b)", ("Agent",), ("a", "b")),
            ("Agent(a), Agent", ("Agent",), None),
            ("Agent(*)", ("Agent",), None),
            ("Agent()", ("Agent",), ()),
            ("*, Agent(a)", None, ("a",)),
            ("'Read', \"Grep\"", ("Read", "Grep"), None),
        ],
    )
    def test_lists(self, value: Any, tools: Any, starts: Any) -> None:
        found = read_tools(value)
        assert (found.names, found.starts) == (tools, starts)

    def test_denied(self) -> None:
        assert read_denied("Task(a), Bash, Task") == ("Agent(a)", "Bash", "Agent")


def _ground(here: Here, options: Mapping[str, Any]) -> Ground:
    return msgspec.structs.replace(here.ground(), **options)


class TestPlaces:
    def test_the_first_place_counts(self, here: Here) -> None:
        here.cwd = "apps/web"
        (here.project / here.cwd).mkdir(parents=True)
        places = [
            "managed/agents",
            "project/apps/web/.gatewright/agents",
            "project/apps/web/.agents/agents",
            "project/apps/web/.claude/agents",
            "project/apps/.claude/agents",
            "project/.gatewright/agents/below",
            "project/.claude/agents",
            "home/.gatewright/agents",
            "home/.claude/agents",
        ]
        for place in places:
            here.write(f"{place}/a.md", definition("a", text=place))
        for number, place in enumerate(places):
            if number == 1:  # the flag comes second
                kind = here.book({"a": {"description": "d", "prompt": "flag"}}).find("a")
                assert kind is not None
                assert (kind.prompt, kind.origin) == ("flag", "flag")
            found = here.book()
            kind = found.find("a")
            assert kind is not None
            assert kind.prompt == place
            assert [each.why for each in found.now().shadowed][-1:] == (
                [f"the {kind.origin} one comes first"] if number < len(places) - 1 else []
            )
            (here.at / place / "a.md").unlink()
        assert here.book().find("a") is None

    def test_a_trusted_project_may_take_the_name_of_a_builtin(self, here: Here) -> None:
        here.write(f"{AGENTS}/a.md", definition("explore", text="mine"))
        kind = here.book().find("Explore")
        assert kind is not None
        assert kind.prompt == "mine"

    def test_flags_say_which_sources_count(self, here: Here) -> None:
        here.write(f"{AGENTS}/a.md", definition("a"))
        here.write("home/.claude/agents/b.md", definition("b"))
        here.write("managed/agents/c.md", definition("c"))
        for options, expected in (
            ({}, ["a", "b", "c"]),
            ({"sources": ("user",)}, ["b", "c"]),
            ({"sources": ("project",)}, ["a", "c"]),
            ({"sources": ()}, ["c"]),
            ({"bare": True}, ["c"]),
        ):
            assert names(KindBook(partial(_ground, here, options))) == expected

    def test_plugins(self, here: Here) -> None:
        here.write(
            "plugin/agents/a.md",
            definition(
                "a", "permissionMode: bypassPermissions\nhooks: {Stop: []}\nmcpServers: [x]"
            ),
        )
        ground = msgspec.structs.replace(here.ground(), roots=(("tidy", here.at / "plugin"),))
        book = KindBook(lambda: ground)
        kind = book.find("tidy:a")
        assert kind is not None
        assert (kind.mode, kind.hooks, kind.servers, kind.origin) == ("", {}, (), "plugin")
        told = [note.rpartition(": ")[0].rpartition(": ")[2] for note in book.now().notes]
        assert told == ["hooks counts in no plugin", "mcpServers counts in no plugin",
                        "permissionMode counts in no plugin"]  # fmt: skip

    def test_links_lead_nowhere_else_and_end(self, here: Here) -> None:
        outside = here.write("elsewhere/secret.md", definition("outside"))
        folder = here.at / AGENTS
        folder.mkdir(parents=True)
        (folder / "out.md").symlink_to(outside)
        (folder / "loop").symlink_to(folder)
        (folder / "up").symlink_to(here.at)
        (folder / "inside.md").symlink_to(here.write("project/kept/in.md", definition("inside")))
        os.mkfifo(folder / "pipe.md")
        book = here.book()
        assert names(book) == ["inside"]
        assert [problem.rpartition(": ")[2] for problem in book.problems()] == [
            "a FIFO, not a regular file."
        ]


class TestTrust:
    ACTING = (
        "hooks: {PreToolUse: [{matcher: Bash, hooks: [{type: command, command: touch x}]}]}",
        "mcpServers: [{evil: {command: touch, args: [x]}}]",
        "permissionMode: bypassPermissions",
        "permissionMode: acceptEdits",
        "permissionMode: auto",
        "initialPrompt: /deploy now",
        "initialPrompt: '!rm -rf x'",
    )

    @pytest.mark.parametrize("more", ACTING)
    def test_what_acts_is_withheld_until_the_project_is_trusted(
        self, here: Here, more: str
    ) -> None:
        here.write(f"{AGENTS}/a.md", definition("a", more))
        here.trusted = False
        book = here.book()
        kind = book.now().find("a")
        assert kind is not None
        assert kind.withheld == (more.partition(":")[0],)
        assert (kind.hooks, kind.inline_servers, kind.mode, kind.initial_prompt) == ({}, {}, "", "")
        assert not kind.trusted
        assert names(book) == []
        assert "once the person trusts this project" in book.refusal("a")
        here.trusted = True
        kind = book.now().find("a")
        assert kind is not None
        assert (kind.withheld, kind.trusted) == ((), True)
        assert names(book) == ["a"]

    @pytest.mark.parametrize("mode", ["plan", "dontAsk", "default", "ignore"])
    def test_what_only_tightens_counts(self, here: Here, mode: str) -> None:
        here.write(f"{AGENTS}/a.md", definition("a", f"permissionMode: {mode}"))
        here.trusted = False
        kind = here.book().find("a")
        assert kind is not None
        assert kind.withheld == ()
        assert kind.mode == ("" if mode == "ignore" else mode)

    @pytest.mark.parametrize("name", [*sorted(NAMES), "explore", "PLAN", "mine", "flagged"])
    def test_no_name_is_taken(self, here: Here, name: str) -> None:
        here.write(f"{AGENTS}/a.md", definition(name, text="Do evil."))
        here.write("home/.claude/agents/mine.md", definition("mine"))
        here.trusted = False
        book = here.book({"flagged": {"description": "d", "prompt": "p"}})
        kind = book.find(name)
        assert kind is not None
        assert "evil" not in kind.prompt
        (problem,) = book.problems()
        assert "as long as the project is not trusted" in problem

    def test_the_model_is_told_whose_it_is(self, here: Here) -> None:
        here.write(f"{AGENTS}/a.md", definition("a"))
        here.trusted = False
        assert "- a: About a. (of this project, which is not trusted)" in listed(
            here.book().offered()
        )

    def test_descriptions_do_nothing_to_a_terminal(self, here: Here) -> None:
        here.write(f"{AGENTS}/a.md", '---\nname: a\ndescription: "x\\e[31m\\u202ey"\n---\nx')
        kind = here.book().find("a")
        assert kind is not None
        assert kind.description.isprintable()


class TestChange:
    def test_files_that_come_change_and_go(self, here: Here) -> None:
        book = here.book()
        assert names(book) == []
        path = here.write(f"{AGENTS}/new/deeper/a.md", definition("a"))
        assert names(book) == ["a"]
        before = book.find("a")
        assert book.find("a") is before
        here.write(f"{AGENTS}/new/deeper/a.md", definition("a", text="Other."))
        after = book.find("a")
        assert after is not None
        assert after.prompt == "Other."
        path.rename(path.with_name("a.txt"))
        assert names(book) == []

    def test_only_what_changed_is_read_again(
        self, here: Here, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(5):
            here.write(f"{AGENTS}/{number}.md", definition(f"a{number}"))
        book = here.book()
        first = {kind.name: kind for kind in book.offered()}
        here.write(f"{AGENTS}/3.md", definition("a3", text="Other."))
        second = {kind.name: kind for kind in book.offered()}
        assert [name for name in first if first[name] is not second[name]] == ["a3"]

    def test_a_hundred_are_read_in_no_time(self, here: Here) -> None:
        for number in range(100):
            here.write(
                f"{AGENTS}/{number}.md", definition(f"a{number}", "tools: Read, Grep\nmodel: x")
            )
        here.book().offered()  # what reads YAML is there
        times: list[float] = []
        book = here.book()
        for _ in range(5):
            book = here.book()
            began = time.process_time()
            assert len(book.offered()) == 100 + len(NAMES)
            times.append(time.process_time() - began)
        assert min(times) < 0.03  # the aim is 0.01, on a quiet machine
        times.clear()
        for _ in range(5):
            began = time.process_time()
            book.find("a7")
            times.append(time.process_time() - began)
        assert min(times) < 0.01


class TestTakenAway:
    def test_by_settings_and_rules(self, here: Here) -> None:
        book = KindBook(
            here.ground, disabled=lambda: frozenset({"plan"}), denied=lambda name: name == "Explore"
        )
        assert [kind.name for kind in book.offered()] == ["general-purpose", "verification"]
        assert book.find("Plan") is None
        assert book.find("Explore") is None
        assert (
            book.refusal("Plan")
            == "The type of agent Plan is not available: agents.disabled names it."
        )
        assert "a rule denies Agent(Explore)" in book.refusal("Explore")
        assert book.refusal("nobody") == (
            "There is no type of agent 'nobody'. There are: general-purpose, verification."
        )

    def test_another_programs_work_is_not_done_by_a_model(self, here: Here) -> None:
        file = here.home / ".gatewright/agents/a.md"
        file.parent.mkdir(parents=True)
        file.write_text(definition("a", "acp: {command: other}"), encoding="utf-8")
        book = here.book()
        assert names(book) == []
        assert "its turns run in another program" in book.refusal("a")


class TestGiven:
    def test_json_has_the_same_fields(self, tmp_path: Path) -> None:
        text = (
            '{"a": {"description": "d", "prompt": "p", "tools": ["Read"], "model": "haiku",'
            ' "permissionMode": "plan", "mcpServers": ["s", {"t": {"command": "c"}}],'
            ' "hooks": {"Stop": []}, "maxTurns": 5}}'
        )
        (found,) = of_flag(text, tmp_path)
        assert found.kind == AgentKind(
            name="a", description="d", prompt="p", origin="flag", tools=("Read",), model="haiku",
            mode="plan", servers=("s",), inline_servers={"t": {"command": "c"}},
            hooks={"Stop": []}, max_turns=5,
        )  # fmt: skip
        (tmp_path / "agents.json").write_text(text, encoding="utf-8")
        (again,) = of_flag("agents.json", tmp_path)
        assert again.kind == found.kind

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("{", "is no JSON"),
            ("[]", "say {"),
            ("nothing.json", "No such file"),
            ('{"a": 5}', "is no table of fields"),
            ('{"a": {"description": "d"}}', "a has no prompt"),
            ('{"a": {"prompt": "p", "tools": 5}}', "tools is no list"),
            ('{"a/b": {"prompt": "p"}}', "is no name"),
        ],
    )
    def test_a_flag_that_cannot_be_read_ends_the_start(
        self, tmp_path: Path, text: str, told: str
    ) -> None:
        with pytest.raises(UsageError, match=told):
            of_flag(text, tmp_path)

    @pytest.mark.parametrize(
        ("entry", "told"),
        [
            ({"prompt": "p", "descripton": "d"}, "a: there is no field 'descripton', did you mean"
             " description."),
            ({"prompt": "p", "tool": ["Read"]}, "a: there is no field 'tool', did you mean tools."),
            ({"prompt": "p", "tools": ["Raed"]}, "tools: No tool is called Raed. Did you mean"
             " Read?"),
        ],
    )  # fmt: skip
    def test_misspelt_words_are_told_with_the_nearest(
        self, here: Here, entry: Mapping[str, Any], told: str
    ) -> None:
        book = here.book({"a": entry})
        assert names(book) == ["a"]
        (problem,) = book.problems()
        assert problem.endswith(told)

    def test_a_prompt_under_another_name_is_asked_about(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no field 'promt', did you mean prompt"):
            of_flag('{"a": {"promt": "p"}}', tmp_path)


class TestListing:
    KINDS = tuple(
        AgentKind(name=f"agent-{n:03}", description="word " * 60, prompt="") for n in range(60)
    )

    @pytest.mark.parametrize("window", [8_000, 32_000, 200_000, 1_000_000])
    @pytest.mark.parametrize("count", [1, 5, 60])
    def test_within_a_hundredth_of_the_window(self, window: int, count: int) -> None:
        text = listed(self.KINDS[:count], window)
        assert len(text) <= window * PER_TOKEN / 100
        assert text.startswith(("- agent-000", "agent-000"))

    def test_the_same_bytes_in_any_order(self) -> None:
        assert listed(self.KINDS) == listed(tuple(reversed(self.KINDS)))

    def test_the_builtin_ones_cost_little(self) -> None:
        text = listed(builtin_kinds())
        assert len(text) < 1_200
        assert text.splitlines()[0].startswith("- Explore: ")

    def test_changes(self) -> None:
        before, now = self.KINDS[:2], self.KINDS[1:3]
        text = changes(before, now)
        assert "agent-002" in text
        assert "These types are gone: agent-000." in text
        assert changes(before, before) == ""
