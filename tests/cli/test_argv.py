"""A command line is read as people write it, and what it cannot mean is explained."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from gatewright.agent.launch.argv import Conflict, parse, split
from gatewright.agent.launch.flags import BY_NAME, FLAGS, Flag
from gatewright.agent.launch.options import LaunchOptions
from gatewright.permissions.rulebook.known_tools import is_known
from gatewright.tools.registry import PRESETS

ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
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
    (["-pc"], LaunchOptions(print_mode=True, continue_session=True)),
    (["-mdemo", "hi"], LaunchOptions(model="demo", prompt="hi")),
    (["-p", "- fix"], LaunchOptions(print_mode=True, prompt="- fix")),
    (["-p", "--- a\n+++ b"], LaunchOptions(print_mode=True, prompt="--- a\n+++ b")),
    (["--name", "a title", "-n", "a title"], LaunchOptions(name="a title")),
    (["-p", "--help"], LaunchOptions(print_mode=True, help=True)),
    (["-h"], LaunchOptions(help=True)),
    (["--version", "-p"], LaunchOptions(print_mode=True, version=True)),
    (["--debug"], LaunchOptions(debug="")),
    (["--debug", "fix"], LaunchOptions(debug="", prompt="fix")),
    (["-d", "providers,!tui", "fix"], LaunchOptions(debug="providers,!tui", prompt="fix")),
    (["--debug=sandbox", "fix"], LaunchOptions(debug="sandbox", prompt="fix")),
    (["--max-turns", "3", "--max-budget-usd", "0.5"],
     LaunchOptions(max_turns=3, max_budget_usd=0.5)),
    (["--outputFormat", "json"], LaunchOptions(output_format="json")),
    (["-y"], LaunchOptions(mode="bypassPermissions")),
    (["--auto"], LaunchOptions(mode="autoInProject")),
    (["--auto-continue"], LaunchOptions(mode="autoInProject", auto_continue=True)),
    (["--auto", "--auto-continue"], LaunchOptions(mode="autoInProject", auto_continue=True)),
    (["--enable-auto-mode"], LaunchOptions(mode="auto")),
    (["--mode", "plan", "--permission-mode", "plan"], LaunchOptions(mode="plan")),
    (["--no-session-persistence"], LaunchOptions(no_session=True)),
    (["-c", "--fork-session", "--session-id", ID],
     LaunchOptions(continue_session=True, fork_session=True, session_id=ID)),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "options"), PLAIN, ids=lambda value: str(value)[:40])
def test_a_line_is_read(arguments: list[str], options: LaunchOptions) -> None:
    assert parse(arguments) == options


SEVERAL: list[tuple[list[str], LaunchOptions]] = [
    (["--allowedTools", "Bash", "Edit", "fix it"],
     LaunchOptions(allowed_tools=("Bash", "Edit"), prompt="fix it")),
    (["--allowedTools", "Bash", "edit", "Bash(git log:*)", "mcp__x__y", "-p", "fix"],
     LaunchOptions(allowed_tools=("Bash", "edit", "Bash(git log:*)", "mcp__x__y"),
                   print_mode=True, prompt="fix")),
    (["--allowedTools", "Bash", "fix"], LaunchOptions(allowed_tools=("Bash",), prompt="fix")),
    (["--allowedTools", "Bash", "Explain This"],
     LaunchOptions(allowed_tools=("Bash",), prompt="Explain This")),
    (["--allowedTools", "Bash", "Edit Write", "go"],
     LaunchOptions(allowed_tools=("Bash", "Edit", "Write"), prompt="go")),
    (["--disallowedTools", "Bash", "Edti"], LaunchOptions(disallowed_tools=("Bash", "Edti"))),
    (["--tools", "Read", "grep", "--", "Edit"],
     LaunchOptions(tools=("Read", "grep"), prompt="Edit")),
    (["--tools", "", "fix"], LaunchOptions(tools=(), prompt="fix")),
    (["--tools", "core", "WebFetch", "fix"],
     LaunchOptions(tools=("core", "WebFetch"), prompt="fix")),
    (["--tools", "WebFetch", "core", "fix"],
     LaunchOptions(tools=("WebFetch", "core"), prompt="fix")),
    (["--tools", "WebFetch", "core,Bash", "fix"],
     LaunchOptions(tools=("WebFetch", "core", "Bash"), prompt="fix")),
    (["--tools", "WebFetch", "grep core"],
     LaunchOptions(tools=("WebFetch",), prompt="grep core")),
    (["--allowedTools", "WebFetch", "core"],
     LaunchOptions(allowed_tools=("WebFetch",), prompt="core")),
    (["--tools", "WebFetch,core", "fix"],
     LaunchOptions(tools=("WebFetch", "core"), prompt="fix")),
    (["--add-dir", "x", "/usr", "../nope", "fix"],
     LaunchOptions(add_dirs=("x", "/usr", "../nope"), prompt="fix")),
    (["--add-dir", "x", "/review"], LaunchOptions(add_dirs=("x",), prompt="/review")),
    (["--mcp-config", "a.json", '{"b": 1}', "fix"],
     LaunchOptions(mcp_config=("a.json", '{"b": 1}'), prompt="fix")),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "options"), SEVERAL, ids=lambda value: str(value)[:40])
def test_a_flag_takes_several_values_and_leaves_the_prompt(
    arguments: list[str], options: LaunchOptions
) -> None:
    assert parse(arguments, is_known) == options


def test_the_presets_of_tools_are_values_of_the_flag() -> None:
    assert BY_NAME["--tools"].presets == tuple(PRESETS)


def word_for(flag: Flag) -> st.SearchStrategy[list[str]]:
    names = st.sampled_from(flag.spellings)
    values = {
        "integer": st.integers(1, 99).map(str),
        "number": st.integers(1, 99).map(str),
    }.get(flag.kind, st.sampled_from(flag.choices or ("a", "a b", "x,y", "")))
    if flag.kind == "switch":
        return names.map(lambda name: [name])
    return st.tuples(names, values).map(list)


lines = st.lists(
    st.sampled_from(FLAGS).flatmap(word_for) | st.text(max_size=4).map(lambda t: [t]), max_size=4
).map(lambda parts: [word for part in parts for word in part])


@given(arguments=lines)
def test_every_line_is_read_or_refused_with_a_sentence(arguments: list[str]) -> None:
    try:
        parse(arguments, is_known)
    except Conflict as conflict:
        assert str(conflict).endswith((".", "?", '"', *(f.metavar for f in FLAGS if f.metavar)))


CONTRADICTIONS = [
    (["-y", "--mode", "plan"], "-y and --mode contradict"),
    (["--auto", "--enable-auto-mode"], "contradict"),
    (["--model", "a", "--model", "b"], "contradict"),
    (["-c", "-r", "x"], "--continue and --resume"),
    (["-c", "--session-id", ID], "add --fork-session"),
    (["--fork-session"], "add --continue or --resume"),
    (["--plain", "-p"], "--plain"),
    (["--input-format", "stream-json"], "needs --output-format stream-json"),
    (["--include-partial-messages"], "needs --output-format stream-json"),
    (["--output-format", "stream-json", "--replay-user-messages"], "needs --input-format"),
    (["--output-format", "stream-json", "--include-session-events"], "needs --input-format"),
    (["--system-prompt", "a", "--system-prompt-file", "b"], "contradict"),
    (["--replay", "f", "--model", "opus"], "--model demo only"),
    (["--max-turns", "0"], "at least 1"),
    (["--setting-sources", "managed"], "user, project and local"),
    (["--session-id", "abc"], "takes a UUID"),
    (["--print=yes"], "--print takes no value"),
    (["-p", "--model"], "--model needs a value: --model NAME"),
    (["--modle", "x"], "There is no flag --modle. Did you mean --mode"),
    (["--output-formt=json"], "Did you mean --output-format"),
    (["--zzzzzz"], "There is no flag --zzzzzz."),
    (["-px"], "There is no flag -px."),
    (["-p", "-fix it"], "A prompt that begins with a dash goes behind two"),
    (["--effort", "huge"], "Choose one of none, minimal, low, medium, high, xhigh, max"),
    (["--max-turns", "many"], "whole number"),
    (["--max-budget-usd", "-1"], "number"),
    (["fix", "the", "bug"], 'Quote it: agent "fix the bug"'),
]


@pytest.mark.parametrize(("arguments", "text"), CONTRADICTIONS, ids=lambda value: str(value)[:40])
def test_what_it_cannot_mean_is_explained(arguments: list[str], text: str) -> None:
    with pytest.raises(Conflict) as raised:
        parse(arguments)
    assert text in str(raised.value)


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
    of_no_flag = {"prompt", "typed", "carried_model", "cleared", "served"}
    fields = {field.name for field in structs.fields(LaunchOptions)} - of_no_flag
    assert fields == {flag.field for flag in FLAGS}
