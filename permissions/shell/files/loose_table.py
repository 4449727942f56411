"""Programs by what their words may be besides files; who is in no table may mean a file by any."""

from __future__ import annotations

# No word of these is a file they open.
TEXT: frozenset[str] = frozenset(
    {"echo", "printf", "true", "false", ":", "test", "[", "[[", "export", "declare", "local",
     "readonly", "typeset", "unset", "set", "shopt", "alias", "unalias", "read", "return", "exit",
     "break", "continue", "shift", "let", "expr", "seq", "cd", "pushd", "popd", "chdir", "pwd",
     "dirs", "kill", "killall", "pkill", "pgrep", "ps", "sleep", "wait", "jobs", "fg", "bg",
     "disown", "which", "type", "hash", "whereis", "basename", "dirname", "id", "whoami", "groups",
     "uname", "hostname", "nproc", "uptime", "printenv", "ulimit", "umask", "tr", "yes", "clear",
     "tput", "reset", "free", "df", "cal", "apropos", "whatis", "ping", "host", "getopts", "eval",
     "trap", "agent", "gatewright"}
)  # fmt: skip
# Words without a slash or a dot are tasks, packages or sub-commands to these.
TASKS: frozenset[str] = frozenset(
    {"npm", "pnpm", "yarn", "bun", "make", "gmake", "ninja", "just", "task", "cargo", "go", "mvn",
     "gradle", "gradlew", "mvnw", "ant", "bazel", "rake", "bundle", "gem", "composer", "docker",
     "podman", "docker-compose", "kubectl", "helm", "terraform", "tofu", "uv", "poetry", "pdm",
     "pipenv", "hatch", "pip", "pip3", "pipx", "conda", "mamba", "nox", "tox", "invoke", "inv",
     "dotnet", "swift", "flutter", "dart", "mix", "stack", "cabal", "sbt", "lein", "nx", "turbo",
     "lerna", "npx", "bunx", "uvx", "rustup", "cmake", "meson", "vagrant", "ansible", "aws",
     "gcloud", "az", "heroku", "fly", "vercel", "netlify", "wrangler", "supabase", "psql", "mysql",
     "redis-cli", "gh", "glab", "tmux", "screen", "systemctl", "journalctl", "apt", "apt-get",
     "brew", "dnf", "yum", "apk", "pacman", "logger", "notify-send", "say", "dig", "nslookup",
     "figlet", "cowsay"}
)  # fmt: skip
# They read what they are given and change none of it.
READERS: frozenset[str] = frozenset(
    {"pytest", "py.test", "unittest", "mypy", "pyright", "flake8", "pylint", "bandit", "vulture",
     "shellcheck", "hadolint", "yamllint", "markdownlint", "jest", "vitest", "mocha", "ava", "tsc",
     "rspec", "phpunit", "phpstan", "cloc", "tokei", "scc", "xxhsum", "exa", "eza",
     "lsd", "ctags", "nm", "objdump", "readelf", "ldd", "size", "jsonlint", "py_compile"}
)  # fmt: skip
# Their words are often what they look for.
LOOKING: frozenset[str] = frozenset({"git", "find", "gfind"})
# The first word is a program text, which running does not change; what follows is for it to say.
INTERPRETERS: frozenset[str] = frozenset(
    {"python", "python2", "python3", "pypy", "pypy3", "node", "nodejs", "deno", "ruby", "php",
     "lua", "luajit", "Rscript", "julia", "groovy", "tclsh", "osascript", "pwsh", "tsx", "ts-node",
     "sh", "bash", "zsh", "dash", "ksh", "ash", "fish"}
)  # fmt: skip
# Options of theirs whose value is a program text and no file.
CODE: frozenset[str] = frozenset(
    {"-c", "-e", "-E", "-r", "-p", "--eval", "--print", "--command", "-pe", "-ne"}
)
# In the table of operands, and yet other words of theirs may be files, or are written as well.
MORE: frozenset[str] = frozenset(
    {
        "vim",
        "vi",
        "ex",
        "ed",
        "emacs",
        "nano",
        "view",
        "vimdiff",
        "unzip",
        "split",
        "csplit",
        "yq",
        "gzip",
        "gunzip",
        "bzip2",
        "bunzip2",
        "xz",
        "unxz",
        "zstd",
        "unzstd",
    }
)
# They take the next word for themselves: what follows counts as a program of its own.
RUNNERS: frozenset[str] = frozenset(
    {"npx", "bunx", "uvx", "uv", "poetry", "pipenv", "pdm", "hatch", "rye", "pipx", "pnpm", "yarn",
     "bundle", "npm"}
)  # fmt: skip
# They put files where they run, and no word says which.
EXTRACTS: frozenset[str] = frozenset(
    {"unzip", "cpio", "pax", "7z", "7za", "7zz", "7zr", "unrar", "unar", "cabextract", "uudecode",
     "unsquashfs", "unshar", "bsdcpio"}
)  # fmt: skip
