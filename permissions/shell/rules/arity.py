"""How many words of a command make a stable prefix for "always", as data."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping

from gatewright.permissions.rulebook.runners import is_interpreter, is_runner

# The longest entry that matches counts; programs that are not listed have one word.
ARITY: Mapping[str, int] = {
    **dict.fromkeys(
        ("git", "npm", "pnpm", "yarn", "docker", "podman", "cargo", "go", "kubectl", "pip", "pip3",
         "uv", "poetry", "pdm", "make", "just", "task", "terraform", "tofu", "helm", "brew", "apt",
         "apt-get", "dnf", "systemctl", "mvn", "gradle", "dotnet", "bundle", "rails", "rake",
         "rustup", "conda", "mamba", "mise", "asdf", "nx", "turbo", "hatch", "pipenv", "pipx", "swift",
         "flutter", "dart", "mix", "composer", "gem", "pre-commit", "tox", "nox", "ruff", "biome",
         "ng", "vue", "next", "vite", "prisma", "svn", "hg", "jj", "jupyter", "django-admin", "alembic",
         "cmake", "meson", "bazel", "buck", "ansible", "vagrant", "minikube", "kind", "deno", "lerna",
         "rush", "moon", "wrangler", "firebase", "vercel", "netlify", "flyctl", "fly", "heroku",
         "supabase", "stripe", "xcodebuild", "xcrun", "adb", "gsutil", "openssl", "tmux", "zig",
         "stack", "cabal", "opam", "dune", "sbt", "lein", "pulumi", "cdk", "sam", "serverless"), 2),
    **dict.fromkeys(
        ("npm run", "npm run-script", "pnpm run", "yarn run", "docker compose", "docker image",
         "docker container", "docker volume", "docker network", "docker buildx", "podman compose",
         "gh", "aws", "gcloud", "az", "git stash", "git remote", "git worktree", "git submodule",
         "git bisect", "git config", "uv pip", "uv tool", "kubectl config", "kubectl rollout",
         "cargo nextest", "go mod", "npm config", "bundle exec", "turbo run", "nx run", "php artisan",
         "python manage.py", "dotnet tool", "doctl", "pnpm exec", "yarn workspace", "pnpm dlx"), 3),
}  # fmt: skip

# Programs whose operands are the whole meaning: only the exact command is worth storing.
EXACT_ONLY: frozenset[str] = frozenset(
    {"rm", "rmdir", "unlink", "chmod", "chown", "chgrp", "dd", "kill", "pkill", "killall", "curl",
     "wget", "scp", "rsync", "nc", "mount", "umount", "ln", "tee", "sed", "perl",
     "cd", "test", "[", "jq", "date", "printf", "ps", "command", "alias", "enable", "hash", "set", "shopt", "export", "declare", "unset", "exit", "umask", "ulimit"}
)  # fmt: skip


def stable_prefix(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words a prefix rule would hold, or None when only the exact command will do."""
    if not words or is_interpreter(words[0]) or words[0] in EXACT_ONLY:
        return None
    arity = 1
    for length in (1, 2):
        arity = ARITY.get(" ".join(words[:length]), arity)
    prefix = words[:arity]
    if is_runner(" ".join(words[:2]), whole=True) or is_runner(" ".join(prefix)):
        return None
    if len(prefix) < arity or any(not is_stable(word) for word in prefix[1:]):
        return None if len(words) > 1 else prefix
    return prefix if not set(prefix[0]) & _UNSTABLE else None


def is_stable(word: str) -> bool:
    """A word that names something to do, not an option, a path or a value."""
    return bool(word) and word[0] not in "-/.~$" and not set(word) & _UNSTABLE


_UNSTABLE = frozenset("*?[]{}()'\"\\$`<>|&;=!# \t\n")
