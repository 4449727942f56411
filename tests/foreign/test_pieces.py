"""The parts of it alone: what is asked for as facts, the answers, commands, what is kept."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.foreign.asked_leave import act_of, chosen
from gatewright.agent.foreign.kept_text import LARGEST, KeptText
from gatewright.agent.foreign.permission_tool import ITSELF, PERMISSION, Act, PermissionTool
from gatewright.agent.foreign.recording import HELD, Paid, Recording, joined
from gatewright.agent.foreign.said import LOST, Choice, CreateTerminal, Tokens, Update, Variable
from gatewright.agent.foreign.terminals import line_of
from gatewright.agent.frontends.acp.jsonrpc import RpcError
from gatewright.agent.record.messages import Usage
from gatewright.permissions.rulebook.known_tools import unknown
from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Command, Text
from gatewright.tools.files.disk import DISK

HERE = Where(Path("/p"), Path("/p"), Path("/h"))


def facts(**call: Any) -> Access:
    import msgspec

    tool = PermissionTool(frozenset())
    given = act_of(msgspec.convert({"toolCallId": "t", **call}, Update), "/p")
    return tool.access(tool.read(given), HERE)


def at(*paths: str) -> list[dict[str, str]]:
    return [{"path": path} for path in paths]


def test_rules_may_name_it() -> None:
    assert not unknown(PERMISSION)


@pytest.mark.parametrize("command", ["", "rm -rf build"])
def test_its_question_says_who_does_it_and_what_a_yes_does_not_open(command: str) -> None:
    told = PermissionTool(()).view(Act(title="Tidy up", command=command), None)
    words = (Text("Its own words: Tidy up", "dim"), Text(ITSELF, "dim"))
    assert tuple(told) == ((Command(command), *words) if command else words)


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
        ("raw", "line"),
        [
            ({"command": "rm", "args": ["-rf", "a b"]}, "rm -rf 'a b'"),
            ({"command": ["rm"], "args": "-rf x"}, "rm -rf x"),
            ({"command": "ls", "script": "rm -rf ~"}, "ls\nrm -rf ~"),
            ({"command": "ls", "input": {"cmd": ["rm", "x"]}}, "ls\nrm x"),
            ([{"command": "rm x"}], "rm x"),
            ({"command": "ls", "cwd": "/p"}, "ls"),
            ({"command": "ls", "cwd": "/q r"}, "cd -- '/q r' || exit 1; ls"),
        ],
    )
    def test_a_command_is_all_that_is_said_of_it(self, raw: object, line: str) -> None:
        found = facts(kind="execute", rawInput=raw)
        assert found.runs is not None and found.runs.command == line and not found.insist

    @pytest.mark.parametrize(
        "raw",
        [{"path": ["/etc/x"]}, {"paths": ["/etc/x"]}, {"in": {"file": "/etc/x"}}, {"cwd": "/etc/x"},
         [[{"filePath": "/etc/x"}]]],
    )  # fmt: skip
    def test_paths_count_wherever_they_stand(self, raw: object) -> None:
        assert facts(kind="read", locations=at("a"), rawInput=raw).reads[1:] == (Path("/etc/x"),)

    def test_who_names_new_text_does_not_read(self) -> None:
        found = facts(kind="read", locations=at("a"), rawInput={"new_string": "x"})
        assert found.writes == (Path("/p/a"),) and not found.reads

    def test_all_addresses_count(self) -> None:
        found = facts(kind="fetch", rawInput={"url": "http://a", "urls": ["http://b"]})
        assert found.urls == ("http://a", "http://b")

    def test_what_is_too_long_is_not_judged(self) -> None:
        with pytest.raises(RpcError, match="too long"):
            facts(kind="execute", rawInput={"command": "x" * 200_000})

    @pytest.mark.parametrize(
        "call",
        [{"rawInput": {"command": ["rm", 5]}}, {"rawInput": {"command": {"a": 1}}},
         {"rawInput": {"path": "a\0b"}}, {"rawInput": {"path": 5}}, {"rawInput": "rm -rf x"},
         {"rawInput": {"command": "ls", "env": {"LD_PRELOAD": "x"}}},
         {"rawInput": {"command": "ls", "args": [5]}}, {"rawInput": {"command": "ls\0"}},
         {"locations": at("a", "b\0")}, {"content": [{"type": "diff", "path": "a\0"}]},
         {"rawInput": [[[[[[[[{"path": "/x"}]]]]]]]]}, {"rawInput": [{"a": 1}] * 1000}],
    )  # fmt: skip
    def test_what_is_not_understood_is_asked_about(self, call: dict[str, Any]) -> None:
        assert facts(**{"kind": "read", "locations": at("a"), **call}).insist

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
        (CreateTerminal("s", "ls", cwd="/q r"), "cd -- '/q r' || exit 1; ls"),
        (CreateTerminal("s", "ls", env=[Variable("A", "$(x) y")]), "export A='$(x) y'; ls"),
    ],
)
def test_a_terminal_is_a_line_of_a_shell(asked: CreateTerminal, line: str) -> None:
    assert line_of(asked, "/p") == line


@pytest.mark.parametrize("name", ["A=B", "A;x", "", "1A", "A\n"])
def test_no_name_of_a_variable_is_a_command(name: str) -> None:
    with pytest.raises(RpcError):
        line_of(CreateTerminal("s", "ls", env=[Variable(name, "x")]), "/p")


@pytest.mark.parametrize("cwd", ["-", "sub", "~"])
def test_the_directory_of_a_terminal_is_a_whole_path(cwd: str) -> None:
    with pytest.raises(RpcError, match="whole path"):
        line_of(CreateTerminal("s", "ls", cwd=cwd), "/p")


def test_a_terminal_whose_directory_is_not_there_runs_nothing(tmp_path: Path) -> None:
    asked = CreateTerminal("s", "echo ran; echo x > made", cwd="/nowhere", env=[Variable("A", "b")])
    ran = subprocess.run(["bash", "-c", line_of(asked, "/p")], cwd=tmp_path, capture_output=True)
    assert ran.returncode and not ran.stdout and not (tmp_path / "made").exists()


def test_a_command_is_not_too_long_to_be_judged() -> None:
    with pytest.raises(RpcError, match="too long"):
        line_of(CreateTerminal("s", "ls", env=[Variable("A", "x" * 200_000)]), "/p")


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


def test_what_it_used_is_not_told_for_ever() -> None:
    paid = Paid()
    told = [more for cents in range(1, 20_000) if (more := paid.dollars(cents / 100))]
    assert len(told) < 1_000 and sum(told) > 197


def test_of_its_open_calls_no_more_is_kept_than_there_is_room_for() -> None:
    record = Recording(lambda event: None, "x", Paid())
    for number in range(20):
        update = Update("tool_call", tool_call_id=str(number), raw_input={"path": "a"}, kind="read")
        record.saw(update, HELD // 10)
    inputs = [row.update.raw_input for row in record.rows.values()]
    assert inputs == [{"path": "a"}] * 10 + [LOST] * 10
    assert (
        act_of(record.rows["15"].update)["unsaid"] and not act_of(record.rows["5"].update)["unsaid"]
    )
    for number in range(20):
        record.saw(Update("tool_call_update", tool_call_id=str(number), status="completed"), 10)
    assert {row.update.raw_input for row in record.rows.values()} == {LOST}
    record.saw(Update("tool_call", tool_call_id="new", raw_input={}), HELD)
    assert record.rows["new"].update.raw_input == {}, "there is room again"


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
