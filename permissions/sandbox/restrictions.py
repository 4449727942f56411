"""What permission rules mean for the sandbox: denied reads, denied edits, denied hosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from gatewright.permissions.rulebook.rules import DomainForm, Rule, RuleSet, specifier


class Restrictions(msgspec.Struct, frozen=True):
    """Globs and domains as the sandbox writes them."""

    deny_read: tuple[str, ...] = ()
    deny_write: tuple[str, ...] = ()
    denied_domains: tuple[str, ...] = ()


def restrictions(
    rules: RuleSet, root: str, start: str, *, kept: tuple[str, ...] = ()
) -> Restrictions:
    """`root` is the project's, `start` where the session began; asks restrict nothing here.

    `kept` are places of which something runs outside the sandbox.
    """
    return Restrictions(
        tuple(_globs(rules.deny_reads, root, start)),
        (*_globs(rules.deny_edits, root, start), *kept),
        tuple(_domains(rules.deny)),
    )


def _globs(rules: Iterable[Rule], root: str, start: str) -> Iterator[str]:
    for rule in rules:
        pattern = specifier(rule)
        if not pattern:
            continue
        if pattern.startswith(("//", "~")):
            yield pattern
        elif pattern.startswith("/"):
            yield root + pattern
        elif "/" not in pattern.rstrip("/"):
            yield f"**/{pattern}"
        elif pattern.startswith("**/"):
            yield pattern
        else:
            yield f"{start}/{pattern.removeprefix('./')}"


def _domains(rules: Iterable[Rule]) -> Iterator[str]:
    for rule in rules:
        if rule.tool == "WebFetch" and isinstance(rule.form, DomainForm):
            host = rule.form.host
            yield "*" if not host else f"*.{host}" if rule.form.subdomains else host
