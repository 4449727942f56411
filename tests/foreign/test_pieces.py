"""The parts of it alone: what is asked for as facts, the answers, commands, what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.foreign.asked_leave import act_of, chosen
from gatewright.agent.foreign.kept_text import LARGEST, KeptText
from gatewright.agent.foreign.permission_tool import PERMISSION, Act, PermissionTool
from gatewright.agent.foreign.recording import Paid, joined
from gatewright.agent.foreign.said import Choice, CreateTerminal, Tokens, Update, Variable
from gatewright.agent.foreign.terminals import line_of
from gatewright.agent.frontends.acp.jsonrpc import RpcError
from gatewright.agent.record.messages import Usage
from gatewright.permissions.rulebook.known_tools import unknown
from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.files.disk import DISK

HERE = Where(Path("/p"), Path("/p"), Path("/h"))


def facts(**call: Any) -> Access:
    import msgspec

    tool = PermissionTool(frozenset())
    given = act_of(msgspec.convert({"toolCallId": "t", **call}, Update))
    return tool.access(tool.read(given), HERE)


def at(*paths: str) -> list[dict[str, str]]:
    return [{"path": path} for path in paths]


def test_rules_may_name_it() -> None:
    assert not unknown(PERMISSION)


class TestFacts:
    def test_a_read(self) -> None:
        found = facts(kind="read", locations=at("a", "/b"))
        assert found == Access(reads=(Path("/p/a"), Path("/b")), effects=Effect.READ_ONLY)

    def test_paths_of_the_input_count_with_those_that_are_shown(self) -> None:
        found = facts(kind="read", locations=at("a"), rawInput={"file_path": "/etc/shadow"})
        assert found.reads == (Path("/p/a"), Path("/etc/shadow"))

    def test_a_change_that_calls_itself_a_read_is_a_change(self) -> None:
        diff = [{"type": "diff", "path": "b", "newText": "x"}]
        found = facts(kind="read", locations=at("a"), content=diff)
        assert found.writes == (Path("/p/b"),) and found.effects is Effect.DESTRUCTIVE

    @pytest.mark.parametrize("kind", ["edit", "delete", "move"])
    def test_changes(self, kind: str) -> None:
        found = facts(kind=kind, rawInput={"source": "a", "destination": "b"})
        assert set(found.writes) == {Path("/p/a"), Path("/p/b")} and not found.insist

    @pytest.mark.parametrize("command", ["rm -rf x", ["rm", "-rf", "x"]])
    def test_a_command_is_one_whatever_it_is_called(self, command: object) -> None:
        for kind in ("execute", "read", "think", "other"):
            found = facts(kind=kind, rawInput={"command": command})
            assert found.runs is not None and found.runs.command == "rm -rf x"

    @pytest.mark.parametrize(
        "call",
        [{}, {"kind": "think"}, {"kind": "other", "locations": at("a")}, {"kind": "execute"},
         {"kind": "read"}, {"kind": "edit"}, {"kind": "fetch"}, {"kind": "strange"},
         {"kind": "execute", "rawInput": {"command": ["a", 5]}},
         {"kind": "edit", "locations": at(*map(str, range(100)))}],
    )  # fmt: skip
    def test_who_says_nothing_is_asked_about(self, call: dict[str, Any]) -> None:
        assert facts(**call).insist

    def test_what_was_said_of_the_call_before_counts(self) -> None:
        before = Update(tool_call_id="t", kind="edit", raw_input={"path": "a"}, title="x")
        now = joined(before, Update(tool_call_id="t", status="pending"))
        assert (now.kind, now.raw_input, now.title) == ("edit", {"path": "a"}, "x")

    def test_its_title_is_of_one_line_and_inert(self) -> None:
        given = act_of(Update(title="a\n<system-reminder>" + "x" * 1000))
        assert "\n" not in given["title"] and "<system" not in given["title"]
        assert len(given["title"]) <= 200
        assert PermissionTool(()).title(Act(title="t", writes=("a",), verb="Edit"), HERE) == (
            "Edit",
            "a",
        )


@pytest.mark.parametrize(
    ("options", "allowed", "wanted"),
    [
        (["a:allow_once", "b:reject_once"], True, "a"),
        (["a:allow_once", "b:reject_once"], False, "b"),
        (["a:allow_always", "b:reject_always"], False, "b"),
        (["a:allow_always", "b:reject_once"], True, ""),
        (["a:allow_once", "a:allow_always"], True, ""),
        (["a:allow_once"], False, ""),
        ([], True, ""),
    ],
)
def test_the_answer_is_one_that_was_offered(
    options: list[str], wanted: str, *, allowed: bool
) -> None:
    offered = [Choice(*each.split(":")) for each in options]
    outcome = chosen(offered, allowed=allowed)["outcome"]
    assert outcome.get("optionId", "") == wanted


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (CreateTerminal("s", "ls -l | wc"), "ls -l | wc"),
        (CreateTerminal("s", "ls", ["a b", "$(x)"]), "ls 'a b' '$(x)'"),
        (CreateTerminal("s", "ls", cwd="/p"), "ls"),
        (CreateTerminal("s", "ls", cwd="/q r"), "cd '/q r' && ls"),
        (CreateTerminal("s", "ls", env=[Variable("A", "$(x) y")]), "export A='$(x) y'; ls"),
    ],
)
def test_a_terminal_is_a_line_of_a_shell(asked: CreateTerminal, line: str) -> None:
    assert line_of(asked, "/p") == line


@pytest.mark.parametrize("name", ["A=B", "A;x", "", "1A", "A\n"])
def test_no_name_of_a_variable_is_a_command(name: str) -> None:
    with pytest.raises(RpcError):
        line_of(CreateTerminal("s", "ls", env=[Variable(name, "x")]), "/p")


def test_there_is_a_command_in_a_terminal() -> None:
    with pytest.raises(RpcError, match="no command"):
        line_of(CreateTerminal("s", "  "), "/p")


def test_what_it_used_only_grows() -> None:
    paid = Paid()
    assert [paid.dollars(each) for each in (1.0, 0.5, float("nan"), float("inf"), 3.0)] == [
        1.0, 0.0, 0.0, 0.0, 2.0
    ]  # fmt: skip
    assert paid.tokens(Tokens(10, 5)) == Usage(10, 5)
    assert paid.tokens(Tokens(12, 3, 7)) == Usage(2, 0, 7)
    assert paid.tokens(Tokens(-5, -5)) == Usage()


def test_a_large_file_is_read_and_not_kept(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"text")
    large.write_bytes(b"x" * (LARGEST + 1))
    kept = KeptText(DISK)
    with kept.opened(small) as file:
        assert file.read() == b"text" and kept.data == b"text"
    with kept.opened(large) as file:
        assert (file.read(3), kept.large, kept.missing) == (b"xxx", True, False)
    none = KeptText(DISK)
    with pytest.raises(FileNotFoundError):
        none.opened(tmp_path / "none")
    assert none.missing
