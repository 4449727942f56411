"""Options and settings whose value is itself a command, as data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gatewright.permissions.shell.parse.words import Arg
from gatewright.tools.system.patterns import later

# program -> options, each with its dashes; a value may be glued to short ones, follow `=`, or be
# the next word.
COMMAND_OPTIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("tar", "bsdtar", "gtar"),
        ("--to-command", "--use-compress-program", "-I", "--rsh-command", "--checkpoint-action"),
    ),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    **dict.fromkeys(("ssh", "scp", "sftp"), ("-o", "-S")),
    "man": ("-P", "--pager", "-H", "--html"),
    "rg": ("--pre", "--hostname-bin"),
    "sort": ("--compress-program",),
    "split": ("--filter",),
    "zip": ("-TT",),
    "ag": ("--pager",),
    "ack": ("--pager",),
    **dict.fromkeys(("nc", "ncat", "netcat"), ("-e", "-c", "--exec", "--sh-exec")),
    "gdb": ("-ex", "--eval-command"),
    **dict.fromkeys(("vim", "vi", "nvim", "ex"), ("-c", "--cmd")),
    **dict.fromkeys(("npm", "pnpm"), ("--script-shell",)),
    "git": (
        "--upload-pack",
        "--receive-pack",
        "--exec",
        "-x",
        "--extcmd",
        "--open-files-in-pager",
        "--tree-filter",
        "--index-filter",
        "--msg-filter",
        "--env-filter",
        "--commit-filter",
    ),
    "rclone": ("--password-command",),
    "borg": ("--rsh",),
    **dict.fromkeys(("compgen", "complete"), ("-C", "-W")),
    **dict.fromkeys(("mapfile", "readarray"), ("-C",)),
    "hash": ("-p",),
}
_PREFIXES = later(
    r"exec=|(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ]\s*|shell\s+|:?!", re.IGNORECASE
)
_NEEDS_PREFIX = frozenset({"-o", "--checkpoint-action", "-c", "--cmd", "-ex", "--eval-command"})

# `git -c key=value`: keys whose value git runs.
GIT_RUNS = later(
    r"(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy)|pager\.[^=]*|alias\.[^=]*"
    r"|diff\.external|diff\.[^=]*\.(?:command|textconv)|filter\.[^=]*\.(?:clean|smudge|process)"
    r"|merge\.[^=]*\.driver|credential\.[^=]*|gpg\.(?:[^=]*\.)?program|sequence\.editor"
    r"|(?:diff|merge)tool\.[^=]*\.(?:cmd|path)|remote\.[^=]*\.(?:uploadpack|receivepack|proxy)"
    r"|uploadpack\.[^=]*|man\.[^=]*\.cmd|browser\.[^=]*\.cmd|interactive\.difffilter"
    r"|core\.hookspath|include\.path|init\.templatedir)=(.*)",
    re.IGNORECASE | re.DOTALL,
)


def commands_in(program: str, argv: tuple[Arg, ...]) -> Iterator[str]:
    """The command texts among a program's arguments."""
    texts = [arg.text for arg in argv]
    if program == "alias":
        yield from (text.partition("=")[2] for text in texts if "=" in text)
    elif program == "bind" and "-x" in texts:
        yield from (text.partition(":")[2].strip(" '\"") for text in texts)
    elif program == "history" and "-s" in texts:
        yield " ".join(texts[texts.index("-s") + 1 :])
    options = COMMAND_OPTIONS.get(program, ())
    if not options:
        return
    for index, arg in enumerate(argv):
        for option in options if arg.text.startswith("-") else ():
            value = _value(arg.text, option, argv[index + 1].text if index + 1 < len(argv) else "")
            if value is None:
                continue
            found = _PREFIXES.match(value)
            if found is not None:
                yield value[found.end() :]
            elif option not in _NEEDS_PREFIX:
                yield value


def _value(text: str, option: str, following: str) -> str | None:
    if text == option:
        return following
    if text.startswith(option + "="):
        return text[len(option) + 1 :]
    name, equals, value = text.partition("=")
    if len(name) > 3 and name.startswith("--") and option.startswith(name):  # abbreviated
        return value if equals else following
    short = len(option) == 2 and not text.startswith("--")
    return text[2:] if short and text.startswith(option) else None
