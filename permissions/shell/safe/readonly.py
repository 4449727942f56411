"""Whether one simple command is on the safe list, arguments and all.

Everything unknown makes it an ordinary command; nothing here ever restricts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.safe.safe_git import git_is_safe
from gatewright.permissions.shell.safe.safe_rows import by_row
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
from gatewright.permissions.shell.safe.safe_surroundings import Surroundings
from gatewright.permissions.shell.safe.safe_table import SAFE, VERSIONS


def is_safe(part: Part, world: Surroundings) -> bool:
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
        alone = len(part.argv) == 2 and part.argv[1].literal
        return program in VERSIONS and alone and part.argv[1].text == "--version"
    return by_row(part, row, world)


Check = Callable[[Part, Surroundings], bool]


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
