"""Whether one simple command is on the safe list, arguments and all.

Everything unknown makes it an ordinary command; nothing here ever restricts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.safe.safe_git import git_is_safe
from gatewright.permissions.shell.safe.safe_rows import (
    World,
    by_row,
)
from gatewright.permissions.shell.safe.safe_special import (
    cd_is_safe,
    command_is_safe,
    date_is_safe,
    echo_is_safe,
    environment_is_safe,
    find_is_safe,
    jq_is_safe,
    printenv_is_safe,
    printf_is_safe,
    ps_is_safe,
    rg_is_safe,
    sed_is_safe,
    test_is_safe,
)
from gatewright.permissions.shell.safe.safe_table import SAFE, VERSIONS


def is_safe(part: Part, world: World) -> bool:
    """Reads only, inside only, and starts no other program. Redirections are not looked at."""
    if not part.argv:
        return False
    name = part.argv[0]
    if not name.literal:
        return False
    program = name.text
    if world.planted(program):
        return False  # a well-known name, but not the program that would run
    if not all(world.lists_inside(arg, part.bases) for arg in part.argv[1:] if arg.patterns):
        return False
    special = _SPECIAL.get(program)
    if special is not None:
        return special(part, world)
    row = SAFE.get(program)
    if row is None:
        versions = VERSIONS.get(program, ())
        return len(part.argv) == 2 and part.argv[1].literal and part.argv[1].text in versions
    return by_row(part, row, world)


Check = Callable[[Part, World], bool]


_SPECIAL: Mapping[str, Check] = {
    "find": find_is_safe,
    "rg": rg_is_safe,
    "sed": sed_is_safe,
    "jq": jq_is_safe,
    "date": date_is_safe,
    "printf": printf_is_safe,
    "env": environment_is_safe,
    "printenv": printenv_is_safe,
    "test": test_is_safe,
    "[": test_is_safe,
    "command": command_is_safe,
    "ps": ps_is_safe,
    "cd": cd_is_safe,
    "echo": echo_is_safe,
    "git": git_is_safe,
}


SPECIAL_EXAMPLES: tuple[tuple[str, bool], ...] = (
    ("sed -n '1,5p' a", True), ("sed -n 5p a", True), ("sed -n '1,5w x' a", False),
    ("sed -i s/a/b/ a", False), ("sed s/a/b/ a", False), ("sed -n -f x a", False),
    ("jq .a x", True), ("jq -r '.a[]' x", True), ("jq -f x", False), ("jq env x", False),
    ("jq --rawfile a b . x", False), ("date", True), ("date -u +%s", True), ("date -s x", False),
    ("date 010100", False), ("date -f x", False), ("date --set=x", False), ("env", True),
    ("env ls", False), ("printf '%s' a", True), ("printf -v a b", False),
    ("printf '%-5s|%05.1f %%\\n' a 1", True), ("printf '%*d' 3 1", True),
    ("printf '%n' PATH", False),
    ("printf 'xxx%-n' PATH", False), ("printf '%5n' x", False), ("printf '%ln' x", False),
    ("printf '%hhn' x", False), ("printf '%*n' 1 x", False), ("printf '%.3n' x", False),
    ("printf '%(%s)T' 1", False), ("printf '%%%n' x", False), ("printf '\\45n' x", False),
    ("printf %* PATH", False), ("printf '100%' a", False), ("jq -n '$ ENV'", False),
    ("jq -n '$\n  ENV'", False), ("jq -n '$#x\nENV'", False), ("jq -n '$ __prog_args'", False),
    ("jq -n '\"a\"|modulemeta'", False), ("jq '.a | test(\"x$\")' a", True),
    ("jq -n --arg a 1 '$a'", True), ("test -f a", True),
    ("[ -f a ]", True), ("test -v a", False), ("command -v ls", True), ("command ls", False),
    ("rg --hidden -g '*.py' x", False), ("rg -g .env x", False), ("rg -g '*.py' x", True),
    ("ps aux", True), ("ps -ef", True), ("ps auxe", False),
    ("ps -o environ -p 1", False), ("ps --format=pid,environ", False),
    ("cd src", True), ("cd", False), ("cd /etc", False), ("cd -", False),
    ("node --version", True), ("node x --version", False),
)  # fmt: skip
