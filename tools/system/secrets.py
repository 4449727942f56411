"""What in an environment is a secret: by its name, by its value, or because settings say so.

The only list there is: what commands are not given, when `env` must ask, and what is masked in
text follow from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from gatewright.tools.system.patterns import later

KEEP: Final = "GATEWRIGHT_KEEP_ENV"  # names, separated by commas, that commands may have
SHORTEST: Final = 8  # a shorter value would take ordinary words out of a text
MOST: Final = 400  # values masked

# Files, compared without case, that usually hold a secret wherever they lie; and others like them.
SECRET_FILES: Final = (
    ".env", ".env.*", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "*.pem", "*.p12", "*.pfx",
    "*.kdbx", ".netrc", ".git-credentials", "credentials.json", ".npmrc", ".pypirc", ".htpasswd",
    "secrets.y*ml",
)  # fmt: skip
NO_SECRETS: Final = (".env.example", ".env.sample", ".env.template", "*.pub")

# What keys look like, wherever they stand.
SHAPES: Final = (
    r"sk-[A-Za-z0-9_-]{16,}",  # Anthropic, OpenAI, OpenRouter
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"glpat-[A-Za-z0-9_-]{16,}",
    r"xox[abprs]-[A-Za-z0-9-]{10,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"gsk_[A-Za-z0-9]{20,}",
    r"csk-[A-Za-z0-9]{20,}",
    r"key-[a-z0-9]{32}(?![A-Za-z0-9])",
    r"xai-[A-Za-z0-9]{20,}",
    r"hf_[A-Za-z0-9]{20,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{30,}",
    r"[prs]k[-_](?:live|test|lf|proj|ant)[-_][A-Za-z0-9_-]{16,}",
    r"eyJ[A-Za-z0-9_-]{10,2000}+\.[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}",
)
SHAPE: Final = later(r"(?<![A-Za-z0-9])(?:" + "|".join(SHAPES) + r")")

_NAME = later(
    r"(?:^|_)(?:API_?KEYS?|KEYS?|APIKEY|SECRETS?|TOKENS?|PASS|PASSWD|PASSWORD|PASSPHRASE|PAT|AUTH"
    r"|CREDENTIALS?|AUTHORIZATION|COOKIE|SIGNATURE|CONNECTION_STRING|DSN|JWT|BEARER|PW)\d*(?:$|_)"
    r"|^PGPASSFILE$|^NETRC$"
    r"|(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|AUTHKEY|PRIVKEY|CREDENTIALS?"
    r"|(?<!ASK)(?<!COM)(?<!BY)PASS|(?<!^OLD)(?<!^)PWD|(?:DB|BIND|ROOT|USER|ADMIN)PW"
    r"|(?:BASIC|HTTP|PROXY)AUTH)\d*$",
    re.IGNORECASE,
)
# Whatever of theirs says where or who one is leads to a key; a place or a machine does not.
_VENDOR = later(
    r"^(?:AWS|AZURE|GOOGLE|GCP|GITHUB|GITLAB|OPENAI|ANTHROPIC|HF|STRIPE|SLACK|TWILIO|VAULT)_"
    r"(?!.*(?:REGION|PROFILE_NAME|WORKSPACE|ACTIONS$))",
    re.IGNORECASE,
)
_FINE = frozenset(
    {"NO_PROXY", "no_proxy", "GIT_CONFIG_COUNT", "KEYBOARD_KEY_DELAY", "SSH_AUTH_SOCK"}
)
_FINE_PREFIX = later(r"^GIT_CONFIG_(?:KEY|VALUE)_\d+$")
_ADDRESS = later(r"://(?P<user>[^/\s:@]*):(?P<word>[^/\s@]+)@")
_VALUE = later(
    r"://[^/\s:@]{20,}@"  # a token in front of a host
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|\b(?i:password|passwd|accountkey|sharedaccesskey)=[^;\s&]"
    r"|[?&](?i:api_?key|token|access_token|secret|sig)=[^;\s&]"
    r"|\b(?i:bearer|basic) +[A-Za-z0-9._~+/=-]{12,}"
)
_SCHEME = later(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY"})


def secret_name(name: str) -> bool:
    """Whether a name tells that its value is a secret, be it a variable, a header or a setting."""
    plain = name.replace("-", "_").replace(".", "_")
    if plain in _FINE or _FINE_PREFIX.match(plain):
        return False
    return _NAME.search(plain) is not None


def secret_file(name: str) -> bool:
    """Whether a file of this name, without its directory, usually holds a secret."""
    plain = name.casefold()
    usual = any(fnmatchcase(plain, each) for each in SECRET_FILES)
    return usual and not any(fnmatchcase(plain, each) for each in NO_SECRETS)


def secret_value(value: str) -> bool:
    """Whether a value is, or holds, a secret whatever it is called."""
    return any(found.search(value) for found in (_ADDRESS, _VALUE, SHAPE))


def without_login(address: str) -> str:
    """An address without who one is there: what stands before the host may be a password."""
    scheme = _SCHEME.match(address)
    return (scheme.group() if scheme else "") + address.rpartition("@")[2]


class Secrets(msgspec.Struct, frozen=True):
    """The list as it counts in one session.

    `named` are variables in which settings look for a key, `kept` the person's exceptions, `values`
    what is secret and in no variable.
    """

    named: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()

    def keeping(self, names: Iterable[str]) -> Secrets:
        return replace(self, kept=self.kept | frozenset(names))

    def knowing(self, values: Iterable[str]) -> Secrets:
        return replace(self, values=self.values | frozenset(values))

    def withheld(self, name: str, value: str) -> bool:
        """Whether a command must not see this variable."""
        return name not in self.kept and self._is_secret(name, value)

    def given(self, env: Mapping[str, str]) -> dict[str, str]:
        """`env` as commands may have it; a secret is one under any other name, too.

        A proxy keeps its address and loses who one is there: it answers that a name is wanted,
        where without it a command would wait for a host it cannot reach.
        """
        return dict(_given(self, tuple(env.items())))

    def shown(self, env: Mapping[str, str]) -> bool:
        """Whether what commands are given holds a secret after all: the person kept one."""
        return any(name in self.kept and self._is_secret(name, env[name]) for name in env)

    def masked(self, env: Mapping[str, str]) -> tuple[str, ...]:
        """Values to take out of text, the longest first: one may contain another."""
        found = set(self.values)
        for name, value in env.items():
            found.update(_words(value))
            if name in self.named or (secret_name(name) and not _harmless(value)):
                found.add(value)
        long = [value for value in found if len(value) >= SHORTEST]
        return tuple(sorted(long, key=lambda value: (-len(value), value))[:MOST])

    def _is_secret(self, name: str, value: str) -> bool:
        if name in self.named or secret_name(name):
            return True
        return _VENDOR.match(name) is not None or secret_value(value)

    def plain(self, name: str, value: str, known: frozenset[str]) -> str:
        """What is left of a value that others count on to be there."""
        if _FINE_PREFIX.match(name) and (value in known or secret_value(value)):
            return ""  # git counts these, and stops where one is missing
        if name.upper() not in _PROXIES or "@" not in value or name in self.kept | self.named:
            return value
        return without_login(value)


@lru_cache(maxsize=8)
def _given(secrets: Secrets, env: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Every command asks for the same, more than once."""
    known = frozenset(secrets.masked(dict(env)))
    return tuple(
        (name, value)
        for name, given in env
        if not secrets.withheld(name, value := secrets.plain(name, given, known))
        and (value not in known or name in secrets.kept)
    )


def _words(value: str) -> Iterable[str]:
    """The passwords in addresses, as written and as meant, and keys known by their shape."""
    for found in _ADDRESS.finditer(value):
        yield found["word"]
        yield unquote(found["word"])
    for found in SHAPE.finditer(value):
        yield found.group()


def _harmless(value: str) -> bool:
    """A path or a short word under a telling name (SSH_AUTH_SOCK, KEYBOARD) is no secret."""
    if value.startswith(("/", "~", ".", "http://", "https://")):
        return True
    return value.isalpha() and len(value) <= 2 * SHORTEST


def kept_by(env: Mapping[str, str]) -> frozenset[str]:
    """The exceptions that the person's own environment names."""
    names = (name.strip() for name in env.get(KEEP, "").split(","))
    return frozenset(name for name in names if name)
