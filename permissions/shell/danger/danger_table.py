"""What makes a command dangerous or worse, as data.

Patterns are matched against the words behind the program, options left where they are.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping

from gatewright.permissions.rulebook.runners import listed
from gatewright.tools.system.secrets import NO_SECRETS, SECRET_FILES

# Programs that are dangerous whatever they are given.
PRIVILEGE: frozenset[str] = frozenset(
    {"sudo", "su", "doas", "pkexec", "runuser", "gosu", "su-exec"}
)
DANGEROUS: Mapping[str, str] = {
    **dict.fromkeys(PRIVILEGE, "runs with other privileges"),
    "shred": "destroys file contents",
    "truncate": "cuts file contents",
    "killall": "ends processes by name",
    "eval": "runs text as a command",
    "at": "plans a command for later",
    "batch": "plans a command for later",
    "visudo": "changes who may do what",
    "chattr": "changes protection flags",
}
# Programs that are catastrophic whatever they are given.
CATASTROPHIC: Mapping[str, str] = {
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff"), "stops the machine"),
    **dict.fromkeys(
        ("wipefs", "blkdiscard", "mkswap", "sgdisk", "mke2fs", "mkntfs", "mkdosfs"),
        "destroys a disk",
    ),
}

# program -> sub-commands that are dangerous, "why". A sub-command of two words is "a b".
SUBCOMMANDS: Mapping[str, Mapping[str, str]] = {
    **{name: {"publish": "publishes"} for name in (
        "pnpm", "bun", "poetry", "uv", "flit", "hatch", "pdm", "lerna", "changeset", "vsce", "gradle")},
    **{name: {"deploy": "deploys"} for name in ("mvn", "firebase", "netlify", "fly", "flyctl", "eb")},
    **{name: {"deploy": "deploys", "remove": "deploys"} for name in ("serverless", "sls")},
    "npm": dict.fromkeys(("publish", "unpublish", "deprecate", "dist-tag add", "owner add"), "publishes"),
    "yarn": {"publish": "publishes", "npm publish": "publishes"},
    "cargo": {"publish": "publishes", "yank": "publishes"},
    "gem": {"push": "publishes", "yank": "publishes"},
    "twine": {"upload": "publishes"},
    "dotnet": {"nuget push": "publishes"},
    "docker": {
        "push": "publishes", "system prune": "removes data", "volume prune": "removes data",
        "volume rm": "removes data", "image push": "publishes", "image prune": "removes data",
        "container prune": "removes data", "builder prune": "removes data",
    },
    "podman": {"push": "publishes", "system prune": "removes data", "volume prune": "removes data",
               "volume rm": "removes data"},
    "helm": dict.fromkeys(("install", "upgrade", "uninstall", "rollback", "push"), "deploys"),
    "kubectl": dict.fromkeys(
        ("apply", "delete", "replace", "scale", "drain", "rollout restart", "rollout undo", "patch",
         "create", "edit"), "changes a cluster"),
    "terraform": dict.fromkeys(("apply", "destroy", "import", "state rm"), "changes infrastructure"),
    "tofu": dict.fromkeys(("apply", "destroy"), "changes infrastructure"),
    "pulumi": dict.fromkeys(("up", "destroy", "update"), "changes infrastructure"),
    "cdk": dict.fromkeys(("deploy", "destroy"), "deploys"),
    "vercel": dict.fromkeys(("deploy", "--prod", "promote", "rollback", "remove"), "deploys"),
    "wrangler": dict.fromkeys(("deploy", "publish", "delete"), "deploys"),
    "heroku": dict.fromkeys(("apps:destroy", "container:push", "container:release"), "deploys"),
    "gcloud": dict.fromkeys(("app deploy", "run deploy", "functions deploy"), "deploys"),
    "make": {"deploy": "deploys", "publish": "publishes"},
    "gh": dict.fromkeys(("release create", "release upload", "release delete", "repo delete",
                         "repo create", "secret set", "secret delete"), "publishes"),
    "rails": {"db:drop": "removes data"},
    "launchctl": dict.fromkeys(
        ("load", "bootstrap", "submit", "enable", "unload", "bootout", "kickstart", "remove"),
        "changes what starts by itself"),
}  # fmt: skip
# Scripts called deploy or publish, run through a package manager.
SCRIPT_RUNNERS: frozenset[str] = frozenset({"npm", "pnpm", "yarn", "bun"})

SYSTEMCTL_READS: frozenset[str] = frozenset(
    {"status", "list-units", "list-unit-files", "list-timers", "list-sockets", "list-dependencies",
     "show", "cat", "is-active", "is-enabled", "is-failed", "help", "get-default", "list-jobs"}
)  # fmt: skip
SYSTEMCTL_STOPS: frozenset[str] = frozenset(
    {"poweroff", "reboot", "halt", "kexec", "suspend", "hibernate", "emergency", "rescue"}
)

DOWNLOADERS: frozenset[str] = frozenset(
    {"curl", "wget", "fetch", "aria2c", "axel", "http", "https", "httpie", "lwp-download", "lynx",
     "links", "w3m", "xh", "curlie", "wget2", "GET"}
)  # fmt: skip
NETWORK: frozenset[str] = DOWNLOADERS | frozenset(
    {"nc", "ncat", "netcat", "socat", "telnet", "ftp", "tftp", "sftp", "scp", "ssh", "rsync", "dig",
     "nslookup", "host", "ping", "openssl", "mail", "mailx", "sendmail", "mutt", "gh", "aws",
     "gsutil", "rclone", "s3cmd", "traceroute", "whois", "drill"}
)  # fmt: skip
# Programs that run what arrives on their standard input.
INTERPRETERS: tuple[str, ...] = (
    "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "rbash", "mksh", "csh", "tcsh", "python*",
    "pypy*", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua*", "osascript", "pwsh",
    "powershell", "tclsh", "Rscript", "julia", "source", ".", "eval", "psql", "mysql", "sqlite3", "at",
    "crontab", "parallel", "irb", "awk", "gawk",
)  # fmt: skip
runs_input = listed(INTERPRETERS)

# Paths, compared without case, whose content is a secret; `~` is the home directory.
CREDENTIALS: tuple[str, ...] = (
    "~/.ssh/**", "~/.aws/**", "~/.gnupg/**", "~/.netrc", "~/.git-credentials", "~/.kube/**",
    "~/.docker/config.json", "~/.config/gh/**", "~/.config/gcloud/**", "~/.azure/**", "~/.npmrc",
    "~/.pypirc", "~/.cargo/credentials*", "~/.gatewright/**", "~/.password-store/**", "/etc/shadow",
    "/etc/gshadow", "/etc/ssh/*key*", "/proc/*/environ", *(f"**/{name}" for name in SECRET_FILES),
)  # fmt: skip
NOT_CREDENTIALS: tuple[str, ...] = tuple(f"**/{name}" for name in NO_SECRETS)

BLOCK_DEVICES: tuple[str, ...] = (
    "/dev/sd", "/dev/hd", "/dev/vd", "/dev/xvd", "/dev/nvme", "/dev/mmcblk", "/dev/disk", "/dev/loop",
    "/dev/dm-", "/dev/mapper/", "/dev/md", "/dev/ram", "/dev/sr", "/dev/rdisk", "/dev/zram", "/dev/nbd",
    "/dev/mem", "/dev/kmem", "/dev/port", "/proc/sysrq-trigger", "/dev/mtd",
)  # fmt: skip
