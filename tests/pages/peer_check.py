"""docs/peer-check.md: `python -m tests.pages.peer_check > docs/peer-check.md`."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from typing import Any

from tests.guards.sources import ROOT

TABLE = ROOT / "tests" / "tables" / "peer_check.toml"
UNKNOWN = "not documented"

HEAD = """# Edits and commands beside other agents

What Gatewright does with thirty edits and twenty commands, and what others document about the same.
Every row is run by a test. The last column holds what others publish (Claude Code's tools
reference, the prompts of Codex, Aider's page on unified diffs); "not documented" is no verdict,
only that we know of no sentence about it.
"""

CHOSEN = """## Differences we chose

- **A looser match is allowed, but only a single one.** Models lose trailing space, quotes and
  indentation. Refusing costs a round; guessing among several places costs work. The result says how
  it matched, and what was not meant to change keeps its bytes.
- **Content decides whether a file changed, not its time.** A checkout or a formatter that changed
  nothing is no reason to read again; a change within the same second is.
- **Encodings and line endings are the file's, not ours.** What cannot be written in the file's
  encoding is refused instead of converted.
- **Nothing outlives a command unless it was started in the background.** A forgotten daemon holds
  ports and files; one that should stay is named, listed and ended with the session.
- **There is never a terminal or input.** A command that asks ends, or is seen waiting, instead of
  hanging until its time is over.
- **Secrets of the environment are left out by name.** A command that needs one gets it by a
  setting, not because it happened to be there.
- **Exit 1 of a search or a comparison is an answer.** Models take an error as a reason to try
  something else.
- **Long output is in a file.** The middle that is left out can be searched instead of run again.
"""


def cases(kind: str) -> list[dict[str, Any]]:
    with TABLE.open("rb") as file:
        found: list[dict[str, Any]] = tomllib.load(file)[kind]
    return found


def page() -> str:
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    yield HEAD
    for kind, title in (("edit", "Edits"), ("command", "Commands")):
        yield f"## {title}\n"
        yield "| Case | Gatewright | Elsewhere |"
        yield "|---|---|---|"
        for case in cases(kind):
            yield f"| {case['case']} | {case['does']} | {case.get('elsewhere', UNKNOWN)} |"
        yield ""
    yield CHOSEN.rstrip("\n")


if __name__ == "__main__":
    sys.stdout.write(page())
