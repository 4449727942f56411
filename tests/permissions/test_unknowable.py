"""What only the running shell knows is not let through where rules about commands are in force."""

from __future__ import annotations

from typing import Any

import pytest

from tests.permissions.tables import judge_shell

ASKING = (
    "$(echo touch) M", "`echo touch` M", "tou$@ch M", "tou$*ch M", "tou${z}ch M", "${x-touch} M",
    "${x:-touch} M", "${0+touch} M", 'set -- touch M; "$@"', "set -- touch M; $1 $2",
    'x=\'$(touch M)\'; : "${x@P}"', "PS4='$(touch M)'; set -x; :", "PS4='$(touch M)' bash -xc :",
    "export PROMPT_COMMAND='`touch M`'", "BASH_ENV=s bash -c :", "env BASH_ENV=s bash -c :",
    "test -v 'a[$(touch M)]'", "[ -v 'a[$(touch M)]' ]", "let 'a[$(touch M)]=1'",
    'let "a[\\$(touch M)]"', "unset 'a[$(touch M)]'", "printf -v 'a[$(touch M)]' x",
    "declare 'a[$(touch M)]=1'", "x='a[$(touch M)]'; echo $((x))", "getopts x 'a[`touch M`]' -x",
    "read 'a[$(touch M)]' <<< x", "x=echo; printf -v x touch; $x M", "IFS=,; x=touch,M; $x",
    "x=echo; mapfile -t x <<< touch; ${x[0]} M", "enable -f ./a.so a", "fc -s", "* M",
    "echo touch M | xargs env", "parallel ::: 'touch M'",
    "find . -name a -exec {} M ';'",
    "rev <<< 'M hcuot' | bash", "printf 'tou%s M' ch | bash", "echo -e 'tou\\x63h M' | sh -s",
    "env 'BASH_FUNC_z%%=() { touch M; }' bash -c z",
)  # fmt: skip
DENIED = (
    "history -s touch M", "compgen -C 'touch M' x", "compgen -W '$(touch M)'", "alias t='touch M'",
    "shopt -s expand_aliases\nalias t='touch M'\nt", "hash -p /usr/bin/touch zz; zz M",
    "mapfile -C 'touch M' -c1 <<< x", "bind -x '\"a\":touch M'", "setarch -R touch M",
    "setarch x86_64 touch M", "linux64 touch M", "capsh -- -c 'touch M'", "unshare -r touch M",
    "nsenter -t 1 -m touch M", "chroot / touch M", "runuser -u root touch M",
    "setpriv --reuid 1 touch M", "taskset 1 touch M", "ionice touch M", "chrt -o 0 touch M",
    "stdbuf -o0 touch M", "script -qc 'touch M' /dev/null", "watch -g touch M", "ls | entr touch M",
    "parallel touch ::: M", "flock . touch M", "/lib64/ld-linux-x86-64.so.2 /usr/bin/touch M",
    "env -S 'touch\\_M'", "env -S '-i touch M'", "bash +x -c 'touch M'",
    "bash +o errexit -c 'touch M'",
    "choom -n 0 -- touch M", "sg root 'touch M'", "sg root -c 'touch M'", "echo 'touch M' | bash",
    "bash <<E\nx=touch\n\\$x M\nE", 'function t { command touch "$@"; }\nt M',
)  # fmt: skip
KNOWN = (
    "x=1; echo $x", "printf '[%s]' \"$(date)\"", 'x="[$(date)]"; echo "$x"', "test -f a",
    "[ \"$(ls)\" = '[a]' ]", "for t in npm yarn; do $t test; done", "PS4='+ ' bash -xc ls",
    "ls | xargs cat", "echo ls | bash", "ls | bash -c cat",
    "ls | bash x.sh", "declare -a a", "enable -n echo", "fc -l", "export A=\"[$(date)]\"",
)  # fmt: skip
RULES = ({"deny": ["Bash(touch:*)"]}, {"ask": ["Bash(touch:*)"]})


def found(command: str, mode: str, rules: dict[str, Any], **context: Any) -> dict[str, Any]:
    given = {"mode": mode, "trusted": True, "rules": {"user": rules}, **context}
    return judge_shell({"id": 1, "command": command, "context": given})


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("command", ASKING)
def test_what_only_the_shell_knows_asks_in_every_mode(
    command: str, rules: dict[str, list[str]]
) -> None:
    for mode in ("bypassPermissions", "default", "autoInProject"):
        allowing = {**rules, "allow": ["Bash"]}
        assert found(command, mode, allowing)["behavior"] in ("ask", "deny"), mode
        sandboxed = found(command, mode, rules, sandbox=True, sandbox_allows=True)
        assert sandboxed["behavior"] in ("ask", "deny"), mode


@pytest.mark.parametrize("command", DENIED)
def test_what_a_builtin_or_wrapper_runs_is_under_the_rule(command: str) -> None:
    for mode in ("bypassPermissions", "default"):
        assert found(command, mode, {"deny": ["Bash(touch:*)"], "allow": ["Bash"]})["behavior"] == (
            "deny"
        )


@pytest.mark.parametrize("command", KNOWN)
def test_what_can_be_read_runs(command: str) -> None:
    assert found(command, "bypassPermissions", RULES[0])["behavior"] == "allow"


@pytest.mark.parametrize("command", ASKING[:6])
def test_without_rules_about_commands_the_mode_decides(command: str) -> None:
    assert found(command, "bypassPermissions", {"deny": ["Read(a)"]})["behavior"] == "allow"


def test_where_nobody_can_be_asked_it_is_refused_with_the_reason() -> None:
    answer = found("$(echo touch) M", "bypassPermissions", RULES[0], interactive=False)
    assert answer["behavior"] == "deny"
    assert "$(echo touch)" in answer["reason"]
