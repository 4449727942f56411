"""Programs that run whatever they are given: never suggested, never granted by the untrusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable

# Interpreters and wrappers: any rule that begins with one of them is as broad as all of Bash.
INTERPRETERS: tuple[str, ...] = (
    "python*", "pypy*", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "osascript",
    "npx", "uvx", "bunx", "ssh", "sh", "bash", "zsh", "fish", "dash", "ksh", "ash", "csh", "tcsh",
    "rbash", "pwsh", "powershell", "cmd", "sudo", "su", "doas", "pkexec", "eval", "exec", "source",
    ".", "xargs", "env", "find", "command", "builtin", "nohup", "nice", "ionice", "time", "timeout",
    "stdbuf", "setsid", "watch", "parallel", "busybox", "script", "flock", "chroot", "unshare",
    "awk", "gawk", "mawk", "nawk", "tclsh", "expect", "gdb", "rlwrap", "strace", "ltrace",
    "tsx", "ts-node", "Rscript", "julia", "groovy", "jshell", "irb", "trap", "coproc",
    "R", "ipython*", "jupyter*", "java", "dotnet", "swift", "octave", "scala", "ghci", "guile",
    "vim", "vi", "nvim", "ex", "ed", "emacs*", "screen", "tmux", "lldb", "nix*", "bwrap", "direnv",
    "nodemon", "hyperfine", "watchexec", "cross-env", "concurrently", "xterm",
)  # fmt: skip
# Two words: the pair is a runner, other sub-commands of the program are not.
RUNNER_PAIRS: tuple[tuple[str, str], ...] = (
    ("pipx", "run"), ("npm", "exec"), ("npm", "x"), ("pnpm", "dlx"), ("pnpm", "exec"),
    ("yarn", "dlx"), ("yarn", "exec"), ("docker", "run"), ("docker", "exec"), ("podman", "run"),
    ("podman", "exec"), ("kubectl", "exec"), ("kubectl", "run"), ("uv", "run"), ("poetry", "run"),
    ("pipenv", "run"), ("hatch", "run"), ("conda", "run"), ("mamba", "run"), ("micromamba", "run"),
    ("go", "run"), ("bundle", "exec"), ("rustup", "run"), ("mise", "exec"), ("asdf", "exec"),
)  # fmt: skip
# A prefix of exactly these words is a runner; a longer one names what runs.
BARE_RUNNERS: frozenset[str] = frozenset(
    {"npm run", "npm run-script", "pnpm run", "yarn run", "bun run", "make", "just", "npm", "pnpm",
     "yarn", "docker", "podman", "kubectl", "uv", "poetry",
     "go", "conda", "bundle"}
)  # fmt: skip


def listed(names: Iterable[str]) -> Callable[[str], bool]:
    """Whether a name is one of these; a star at the end stands for any rest, and nowhere else.

    One pattern of all of them takes 2 ms to be made, in the way of the first command.
    """
    each = tuple(names)
    whole = frozenset(name for name in each if not name.endswith("*"))
    begun = tuple(name[:-1] for name in each if name.endswith("*"))
    return lambda name: name in whole or name.startswith(begun)


_interpreter = listed(map(str.casefold, INTERPRETERS))


def is_interpreter(program: str) -> bool:
    return _interpreter(program.rpartition("/")[2].casefold())


def is_runner(text: str, *, whole: bool = False) -> bool:
    """Whether a prefix runs anything it is given; `whole`: it is a complete command instead."""
    words = text.split()
    if not words:
        return True
    if is_interpreter(words[0]):
        return True
    name = words[0].rpartition("/")[2]
    if len(words) > 1 and (name, words[1]) in RUNNER_PAIRS:
        return True
    return not whole and " ".join([name, *words[1:]]) in BARE_RUNNERS
