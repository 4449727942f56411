"""Both parsers read a command line the same, and contradictions are explained."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from gatewright.agent.argv import Conflict, parse, split
from gatewright.agent.cli import explain
from gatewright.agent.flags import BY_NAME, FLAGS, Flag
from gatewright.agent.options import LaunchOptions

PLAIN: list[tuple[list[str], LaunchOptions]] = [
    ([], LaunchOptions()),
    (["fix it"], LaunchOptions(prompt="fix it")),
    (["-p"], LaunchOptions(print_mode=True)),
    (["-p", "hi"], LaunchOptions(print_mode=True, prompt="hi")),
    (["hi", "-p"], LaunchOptions(print_mode=True, prompt="hi")),
    (["-p", "--", "--model"], LaunchOptions(print_mode=True, prompt="--model")),
    (["--", "-x"], LaunchOptions(prompt="-x")),
    (["--model", "demo", "-c"], LaunchOptions(model="demo", continue_session=True)),
    (["--model=demo"], LaunchOptions(model="demo")),
    (["--model="], LaunchOptions()),
    (["-m", "demo", "--model", "demo"], LaunchOptions(model="demo")),
    (["--system-prompt", ""], LaunchOptions(system_prompt="")),
    (["--systemPrompt", "-x"], LaunchOptions(system_prompt="-x")),
    (["--resume"], LaunchOptions(resume="")),
    (["-r", "abc"], LaunchOptions(resume="abc")),
    (["--resume=abc", "go"], LaunchOptions(resume="abc", prompt="go")),
    (["-r", "-p", "go"], LaunchOptions(resume="", print_mode=True, prompt="go")),
    (["--allowedTools", "Bash(git log:*), Edit"],
     LaunchOptions(allowed_tools=("Bash(git log:*)", "Edit"))),
    (["--allowed-tools", "A", "--allowedTools", "B C"],
     LaunchOptions(allowed_tools=("A", "B", "C"))),
    (["--tools", ""], LaunchOptions(tools=())),
    (["--tools", "Read,Grep"], LaunchOptions(tools=("Read", "Grep"))),
    (["--setting-sources", ""], LaunchOptions(setting_sources=())),
    (["--add-dir", "a b", "--addDir", "c"], LaunchOptions(add_dirs=("a b", "c"))),
    (["--max-turns", "3", "--max-budget-usd", "0.5"],
     LaunchOptions(max_turns=3, max_budget_usd=0.5)),
    (["--outputFormat", "json"], LaunchOptions(output_format="json")),
    (["-y"], LaunchOptions(mode="bypassPermissions")),
    (["--auto"], LaunchOptions(mode="autoInProject")),
    (["--auto-continue"], LaunchOptions(mode="autoInProject")),
    (["--enable-auto-mode"], LaunchOptions(mode="auto")),
    (["--mode", "plan", "--permission-mode", "plan"], LaunchOptions(mode="plan")),
    (["--no-session-persistence"], LaunchOptions(no_session=True)),
    (["-c", "--fork-session", "--session-id", "x"],
     LaunchOptions(continue_session=True, fork_session=True, session_id="x")),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "options"), PLAIN, ids=lambda value: str(value)[:40])
def test_both_parsers_read_a_plain_line(arguments: list[str], options: LaunchOptions) -> None:
    assert parse(arguments) == options
    assert explain(arguments) == options


def word_for(flag: Flag) -> st.SearchStrategy[list[str]]:
    names = st.sampled_from(flag.spellings)
    values = {
        "integer": st.integers(1, 99).map(str),
        "number": st.integers(1, 99).map(str),
    }.get(flag.kind, st.sampled_from(flag.choices or ("a", "a b", "x,y", "")))
    if flag.kind == "switch":
        return names.map(lambda name: [name])
    return st.tuples(names, values).map(list)


lines = st.lists(st.sampled_from(FLAGS).flatmap(word_for), max_size=4).map(
    lambda parts: [word for part in parts for word in part]
)


def outcome(parser: object, arguments: list[str]) -> object:
    assert callable(parser)
    try:
        return parser(arguments)
    except Conflict:
        return Conflict


@given(arguments=lines)
def test_whatever_the_fast_parser_answers_typer_answers_too(arguments: list[str]) -> None:
    fast = outcome(parse, arguments)
    if fast is not None:
        assert outcome(explain, arguments) == fast


CONTRADICTIONS = [
    (["-y", "--mode", "plan"], "-y and --mode contradict"),
    (["--auto", "--enable-auto-mode"], "contradict"),
    (["--model", "a", "--model", "b"], "contradict"),
    (["-c", "-r", "x"], "--continue and --resume"),
    (["-c", "--session-id", "x"], "add --fork-session"),
    (["--fork-session"], "add --continue or --resume"),
    (["--plain", "-p"], "--plain"),
    (["--input-format", "stream-json"], "needs --output-format stream-json"),
    (["--include-partial-messages"], "needs --output-format stream-json"),
    (["--output-format", "stream-json", "--replay-user-messages"], "needs --input-format"),
    (["--system-prompt", "a", "--system-prompt-file", "b"], "contradict"),
    (["--replay", "f", "--model", "opus"], "--model demo only"),
    (["--max-turns", "0"], "at least 1"),
    (["--setting-sources", "managed"], "user, project and local"),
]


@pytest.mark.parametrize(("arguments", "text"), CONTRADICTIONS, ids=lambda value: str(value)[:40])
def test_contradictions_are_an_error_in_both(arguments: list[str], text: str) -> None:
    for parser in (parse, explain):
        with pytest.raises(Conflict) as raised:
            parser(arguments)
        assert text in str(raised.value).replace("--print", "-p") or parser is explain


MISTAKES = [
    (["--modle", "x"], "There is no flag --modle. Did you mean --mode"),
    (["--output-formt=json"], "Did you mean --output-format"),
    (["--zzzzzz"], "There is no flag --zzzzzz.\n"),
    (["--model"], "--model"),
]


@pytest.mark.parametrize(("arguments", "text"), MISTAKES, ids=lambda value: str(value)[:40])
def test_mistakes_are_left_to_typer_and_explained(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert parse(arguments) is None
    assert explain(arguments) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--effort", "huge"], "Choose one of none, minimal, low, medium, high, xhigh, max"),
        (["--max-turns", "many"], "whole number"),
        (["--max-budget-usd", "-1"], "number"),
        (["fix", "the", "bug"], 'Quote it: agent "fix the bug"'),
    ],
)
def test_bad_values_say_what_is_good(arguments: list[str], text: str) -> None:
    assert parse(arguments) is None
    with pytest.raises(Conflict, match=text):
        explain(arguments)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("a", ("a",)),
        ("a,b  c,, d", ("a", "b", "c", "d")),
        ("Bash(a, b c) X", ("Bash(a, b c)", "X")),
        ("Bash(f(x, y)) Z", ("Bash(f(x, y))", "Z")),
        ("a) b", ("a)", "b")),
        ("Bash(open, never closed", ("Bash(open, never closed",)),
    ],
)
def test_lists_are_parted_outside_parentheses(text: str, parts: tuple[str, ...]) -> None:
    assert split(text) == parts


def test_every_flag_has_both_spellings_and_a_field() -> None:
    fields = {field.name for field in structs.fields(LaunchOptions)}
    for flag in FLAGS:
        assert flag.field in fields, flag
        assert flag.help.endswith((".", ":")), flag
    assert BY_NAME["--allowed-tools"] is BY_NAME["--allowedTools"]
    assert BY_NAME["--outputFormat"] is BY_NAME["--output-format"]


def test_no_two_flags_share_a_name() -> None:
    names = [name for flag in FLAGS for name in flag.spellings]
    assert len(names) == len(set(names))


def test_every_option_can_be_given() -> None:
    fields = {field.name for field in structs.fields(LaunchOptions)} - {"prompt"}
    assert fields == {flag.field for flag in FLAGS}
