"""Programs that run another command, as data: how to find it among their words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How to find the wrapped command: skip options, then `operands` words of its own.

    `assigns`: VAR=value words before the command; `joined`: the rest is one shell text;
    `text`: options whose value is shell text; `never`: options with which nothing runs.
    """

    short: str = ""
    long: tuple[str, ...] = ()
    operands: int = 0
    assigns: bool = False
    joined: bool = False
    text: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


WRAPPERS: Mapping[str, Wrapper] = {
    "env": Wrapper("uCS", ("unset", "chdir", "split-string"), assigns=True),
    "command": Wrapper(never=("-v", "-V")),
    "builtin": Wrapper(),
    "exec": Wrapper("a"),
    "nohup": Wrapper(),
    "nice": Wrapper("n", ("adjustment",)),
    "ionice": Wrapper("cnpPu", ("class", "classdata")),
    "chrt": Wrapper("TPD", operands=1),
    "choom": Wrapper("np", ("adjust", "pid")),
    "sg": Wrapper(operands=1, joined=True),
    **dict.fromkeys(("linux32", "linux64", "i386", "x86_64", "uname26"), Wrapper()),
    "entr": Wrapper(joined=True),
    "start-stop-daemon": Wrapper("pudNg"),
    "taskset": Wrapper(operands=1),
    "time": Wrapper("fo", ("format", "output")),
    "timeout": Wrapper("ks", ("kill-after", "signal"), operands=1),
    "stdbuf": Wrapper("ioe", ("input", "output", "error")),
    "setsid": Wrapper(),
    "sudo": Wrapper(
        "ugpCThrtRDU",
        ("user", "group", "prompt", "close-from", "host", "role", "type", "chroot", "chdir"),
        assigns=True,
    ),
    "doas": Wrapper("uC"),
    "pkexec": Wrapper(long=("user",)),
    "su": Wrapper("cgGsw", ("command", "shell", "group"), operands=99, text=("-c", "--command")),
    "runuser": Wrapper("cgGsuw", ("command", "user"), text=("-c", "--command")),
    "watch": Wrapper("nq", ("interval", "equexit"), joined=True),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "unshare": Wrapper(
        "SGRwl",
        (
            "setuid",
            "setgid",
            "root",
            "wd",
            "map-user",
            "map-group",
            "map-users",
            "map-groups",
            "propagation",
            "setgroups",
            "monotonic",
            "boottime",
        ),
    ),
    "nsenter": Wrapper("tSGNW", ("target", "setuid", "setgid", "wdns", "net-socket")),
    "chroot": Wrapper(long=("userspec", "groups"), operands=1),
    "flock": Wrapper("wEc", ("wait", "timeout", "command"), operands=1, text=("-c", "--command")),
    "script": Wrapper(
        "cTIOBEmo", ("command", "log-out", "log-in"), operands=99, text=("-c", "--command")
    ),
    "parallel": Wrapper("jaNnLPIS", ("jobs", "arg-file", "max-args"), joined=True),
    "xargs": Wrapper(
        "adEIiLlnPs",
        ("arg-file", "delimiter", "max-args", "max-procs", "max-chars", "replace", "max-lines"),
    ),
    "systemd-run": Wrapper("pEudHM", ("property", "setenv", "unit", "uid", "gid", "slice")),
    "fakeroot": Wrapper("lfiosb"),
    "proot": Wrapper("rbw"),
    "strace": Wrapper("eopsuaEIOPSX"),
    "ltrace": Wrapper("eopsuaAnlFx"),
    "valgrind": Wrapper(),
    "prlimit": Wrapper("p"),
    "firejail": Wrapper(),
    "bwrap": Wrapper(),
    "dbus-run-session": Wrapper(),
    "xvfb-run": Wrapper("nesfpw"),
    "unbuffer": Wrapper(),
    "setpriv": Wrapper(
        long=(
            "ruid",
            "euid",
            "rgid",
            "egid",
            "reuid",
            "regid",
            "groups",
            "inh-caps",
            "ambient-caps",
            "bounding-set",
            "securebits",
            "pdeathsig",
            "selinux-label",
            "apparmor-profile",
        ),
    ),
    "caffeinate": Wrapper("tw"),
    "arch": Wrapper(),
    "rlwrap": Wrapper(),
    "sshpass": Wrapper("pfdP"),
    "torsocks": Wrapper(),
    "proxychains": Wrapper("f"),
    "proxychains4": Wrapper("f"),
    "cgexec": Wrapper("g"),
    "numactl": Wrapper("CNmip"),
    "coproc": Wrapper(),
    "noglob": Wrapper(),
    "nocorrect": Wrapper(),
    "-": Wrapper(),
}
