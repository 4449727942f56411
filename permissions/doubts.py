"""What speaks against opening a directory to a session: protected places, and far too wide ones."""

from __future__ import annotations

from typing import NamedTuple

from gatewright.permissions.paths import Place, inside, tier_of

SECRETS = (".ssh", ".aws", ".gnupg", ".config", ".kube", ".docker")
SYSTEM = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/root", "/run", "/sbin", "/sys", "/usr",
    "/var",
)  # fmt: skip


class Doubt(NamedTuple):
    """`never`: no insisting helps."""

    text: str
    never: bool = False


NONE = Doubt("")


def doubt(real: str, place: Place) -> Doubt:
    """About an absolute directory with links followed."""
    if real == "/":
        return Doubt("/ is the whole machine; open the directory you need.", never=True)
    if tier_of(real, place.home, (real, place.root)) == "A":
        return Doubt("The agent's own configuration is never opened to it.", never=True)
    if tier_of(real, place.home, (place.root,)) == "B":
        return Doubt("What lies there can run code later: repositories' and editors' own files.")
    for name in SECRETS:
        if inside(real, f"{place.home}/{name}"):
            return Doubt(f"~/{name} holds keys and settings of other programs.")
    if inside(place.home, real):
        return Doubt("It holds your whole home, with keys and settings of every program.")
    if inside(place.root, real):
        return Doubt("It holds this project and all that lies beside it.")
    if any(inside(real, name) for name in SYSTEM) and not inside(real, place.home):
        return Doubt("It belongs to the system, not to one project.")
    return NONE
