"""Rendering: what each placeholder becomes, and that nothing put in is ever read again."""

from __future__ import annotations

import subprocess
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewright.skills.strict.verdict import checked
from gatewright.skills.template import Command, Given, commands_of, in_rule, render, unquotable
from tests.fakes.examples import many

VALUES = {"SKILL_DIR": "/skills/my one", "CLAUDE_SESSION_ID": "s1"}

# Template, arguments, what comes of it: in skills, where the first is 0.
TEXTS = (
    ("Do $ARGUMENTS now", "a  'b c'", "Do a  'b c' now"),
    ("$0 and $1", "a 'b c'", "a and b c"),
    ("$ARGUMENTS[1]", "a b", "b"),
    ("$ARGUMENTS[0]$ARGUMENTS[1]", "a b", "ab"),
    ("$2 costs $5.00", "a b c", "c costs $5.00"),
    ("costs $5.00", "", "costs $5.00"),
    (r"\$1 \$ARGUMENTS \${SKILL_DIR} \$issue $0", "a b", "$1 $ARGUMENTS ${SKILL_DIR} $issue a"),
    ("$issue/$issues/$who", "7 Ann", "7/$issues/Ann"),
    ("<$who>", "7", "<>"),
    ("${SKILL_DIR}/x ${CLAUDE_SESSION_ID} ${HOME}", "", "/skills/my one/x s1 ${HOME}"),
    ("no place", "a b", "no place\n\nARGUMENTS: a b"),
    ("no place", "  ", "no place"),
    ("costs $5", "a b", "costs $5\n\nARGUMENTS: a b"),
    ("$ARGUMENTSx $ARGUMENTS_DIR", "a", "$ARGUMENTSx $ARGUMENTS_DIR\n\nARGUMENTS: a"),
    ("it's $0", "o'clock", "it's o'clock"),
    ("$0 $1", "say 'half a", "say 'half"),
    ("$ARGUMENTS", "$0 ${SKILL_DIR} !`id` @x", "$0 ${SKILL_DIR} !`id` @x"),
    ("", "a", "\n\nARGUMENTS: a"),
)


@pytest.mark.parametrize(("template", "arguments", "text"), TEXTS)
def test_placeholders(template: str, arguments: str, text: str) -> None:
    given = Given(arguments=arguments, names=("issue", "who"), values=VALUES)
    assert render(template, given).text(()) == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("$1-$2", "a-b"),
        ("$0-$1", "a-b"),
        ("$1 $ARGUMENTS[0]", "b a"),
        (r"\$0 $1", "$0 a"),
        ("$1 of $10", "a of $10"),
    ],
)
def test_command_files_count_from_one(template: str, text: str) -> None:
    given = Given(arguments="a b", from_one=True)
    assert render(template, given).text(()) == text


# Template of one command, what runs; None: nothing may be put there.
COMMANDS = (
    ("git log $0", "git log 'a b'"),
    ("git log --grep=$0", "git log --grep='a b'"),
    ('git log --grep="$0 c"', 'git log --grep="a b c"'),
    ("git log '$0'", "git log 'a b'"),
    ("echo $1", "echo '$(id)'"),
    ('echo "$1"', "echo \"\"'$(id)'\"\""),
    ("echo $'x$1'", "echo $'x''$(id)'$''"),
    ("echo $2", "echo $2"),
    ("echo $ARGUMENTS", "echo ''\"'\"'a b'\"'\"' $(id)'"),
    ("echo $who", "echo "),
    (r"awk '{print \$1}' $1", "awk '{print $1}' '$(id)'"),
    (r"echo \$1", r"echo \$1"),
    ("${SKILL_DIR}/run.sh x", "'/skills/my one'/run.sh x"),
    ('bash "${SKILL_DIR}/run.sh"', 'bash "/skills/my one/run.sh"'),
    ('echo "$(git log $1)"', "echo \"$(git log '$(id)')\""),
    ("echo $(eval x) $1", "echo $(eval x) '$(id)'"),
    ("echo a # $1", "echo a # $1"),
    ("echo ${HOME} $1", "echo ${HOME} '$(id)'"),
    ("cat <<< $1", "cat <<< '$(id)'"),
    ("[ -n $1 ]", "[ -n '$(id)' ]"),
    ("grep '[[:space:]]' $1", "grep '[[:space:]]' '$(id)'"),
    ("cat <<EOF\n$1\nEOF", None),
    ("[[ $1 -eq 1 ]]", None),
    ("echo $(( $1 ))", None),
    ("(( $1 ))", None),
    ("echo ${x:-$1}", None),
    ("a[$1]=2", None),
    ("eval $1", None),
    ('if eval "echo $1"; then :; fi', None),
    ("x=1 declare $1", None),
    ('eval "$(echo) $1"', None),
    ("let $1", None),
)  # fmt: skip


@pytest.mark.parametrize(("template", "runs"), COMMANDS)
def test_arguments_in_a_command(template: str, runs: str | None) -> None:
    given = Given(arguments="'a b' $(id)", names=("x1", "x2", "who"), values=VALUES)
    (command,) = render(f"```!\n{template}\n```", given).commands
    assert bool(command.wrong) == (runs is None), command
    assert runs is None or command.text == runs


def test_a_command_is_one_only_where_a_template_says_so() -> None:
    template = "!`one` x!`no` `!`no``\n  !`two`\n```!\nthree $0\n```\n```\n!`four`\n```\n```!\nopen"
    given = Given(arguments="!`planted`")
    rendered = render(template, given)
    assert [each.text for each in rendered.commands] == ["one", "two", "three '!`planted`'", "four"]
    assert list(commands_of(template)) == ["one", "two", "three $0", "four"]
    said = rendered.text(("!`1`", "$0", "@x", "4"))
    assert said == "!`1` x!`no` `!`no``\n  $0\n@x\n```\n4\n```\n```!\nopen"


def test_files_are_named_by_the_template_alone() -> None:
    template = 'See @a.md, @"b c.md" and @${SKILL_DIR}/d.md. x@no.md @$0 @$ARGUMENTS (@e.md)'
    rendered = render(template, Given(arguments="@evil.md", values=VALUES))
    assert rendered.mentions == ("a.md", "b c.md", "/skills/my one/d.md", "e.md")


def test_rules_have_their_directories_and_nothing_else() -> None:
    assert in_rule("Bash(${SKILL_DIR}/x:*)", VALUES) == "Bash(/skills/my one/x:*)"
    assert in_rule("Bash(echo ${CLAUDE_SESSION_ID}:*)", VALUES).count("${CLAUDE_SESSION_ID}") == 1


def test_what_cannot_be_quoted_is_found_beforehand() -> None:
    template = "fine\n\n!`echo $0`\n\n```!\ncat <<EOF\n$ARGUMENTS\nEOF\n```\n"
    assert [line for line, _ in unquotable(template)] == [5]


TEXT = st.text(
    alphabet=st.sampled_from("ab \t\n'\"`$(){}[]\\!@#;&|<>*?~-=/.0123é"), max_size=24
)  # what means something to a shell, to a template, or to nobody


@given(arguments=TEXT, result=TEXT)
def test_what_is_put_in_is_never_read_again(arguments: str, result: str) -> None:
    template = "a $ARGUMENTS b\n!`echo x`\n"
    rendered = render(template, Given(arguments=arguments, values=VALUES))
    assert rendered.commands == (Command("echo x"),)
    assert rendered.mentions == ()
    assert rendered.text((result,)) == f"a {arguments} b\n{result}\n"


# Each prints the words it gets, one of which has the argument with marks around it.
HOLDS = (
    "'<'$ARGUMENTS'>'", '"<$ARGUMENTS>"', "'<$ARGUMENTS>'", "\"<\"$ARGUMENTS'>'", "$'<$ARGUMENTS>'",
    "\"<$(printf %s $ARGUMENTS'>')\"",
)  # fmt: skip


@pytest.mark.parametrize("hold", HOLDS)
@settings(max_examples=many(60))
@given(texts=st.lists(TEXT.filter(str.strip), min_size=1, max_size=40))
def test_an_argument_stays_one_word(hold: str, texts: list[str]) -> None:
    template = f"!`printf '%s\\0' a {hold} z`"
    found = [each for text in texts for each in render(template, Given(arguments=text)).commands]
    assert len(found) == len(texts) and not any(command.wrong for command in found)
    lines = "\n".join(command.text for command in found)
    ran = subprocess.run(["bash", "-c", lines], capture_output=True, check=True, cwd="/")
    expected = [word for text in texts for word in ("a", f"<{text}>", "z")]
    assert ran.stdout.decode().split("\0")[:-1] == expected


@pytest.mark.parametrize(
    "text", ["```!\n" * 100_000, "x!`" * 130_000, "```! a\nb\n" * 50_000, "[" * 400_000]
)
def test_what_is_never_closed_costs_no_time(tmp_path: Path, text: str) -> None:
    """A file of 400 kB that nobody trusts is looked through before the question of trust."""
    began = process_time()
    assert len(list(commands_of(text))) < 2
    assert len(render(text, Given(arguments="a")).commands) < 2
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "SKILL.md").write_text(f"---\nname: x\ndescription: d\n---\n{text}", encoding="utf-8")
    checked(folder)
    assert process_time() - began < 10


def test_a_fence_that_is_not_closed_hides_no_command_before_or_in_it() -> None:
    text = "```!\none\n```\n```! two\nx !`three`\n!`four`"
    assert list(commands_of(text)) == ["one", "three", "four"]
