"""Throws mutated shell lines at the gate: `python tests/bench/fuzz_gate.py [count] [seed]`.

Checks that no line breaks it or is slow, that adding a deny rule or a command never permits
anything.
"""

# ruff: noqa: E501

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gatewright.permissions.check import call_and_context
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Decision

TABLES = Path(__file__).resolve().parents[1] / "tables"
SECONDS_PER_10_KB = 0.05
TOKENS = (
    "$(", ")", "`", "${", "}", "<(", ">(", "<<E\n", "\nE\n", "<<'E'\n", "<<<", ">", ">>", "<", "<>",
    "&&", "||", ";", "|", "&", "|&", "\n", "\r", "\t", " ", "\\", "\\\n", "'", '"', "$'", '$"', "$X",
    "$HOME", "~", "*", "?", "[a]", "{a,b}", "{", "}", "(", "((", "))", "[[", "]]", "!", "#", "=", "A=1 ",
    "if ", "then ", "fi", "for x in a; do ", "done", "while ", "case a in a) ", ";; esac", "f() ",
    "function f ", "coproc ", "time ", "env ", "sudo ", "xargs ", "bash -c '", "eval ", "touch x",
    "rm -rf ", "curl x", "-o x", "--output=x", "-exec ", "\x00", "\u00a0", "\u202e", "é", "2>&1",
    ">/dev/null", "..", "/etc/passwd", ".env", ".git/config", "--", "-", "$((", "$[", "@(", "!(", "+(",
)  # fmt: skip
BASE: dict[str, Any] = {"root": "/w/proj"}
ALLOWING = {"user": {"allow": ["Bash(git:*)", "Bash(npm *)", "Bash(echo:*)", "Bash(touch a)"]}}
DENYING = {"user": {**ALLOWING["user"], "deny": ["Bash(curl:*)", "Read(.env)", "Edit(/sec/**)"]}}


def corpus() -> list[str]:
    lines: list[str] = []
    for name in ("shell_adversarial.jsonl", "shell_benign.jsonl"):
        text = (TABLES / name).read_text(encoding="utf-8")
        lines.extend(json.loads(line)["command"] for line in text.splitlines())
    return lines


def mutants(lines: list[str], chance: random.Random) -> Iterator[str]:
    while True:
        text = chance.choice(lines)
        for _ in range(chance.randint(0, 4)):
            at = chance.randint(0, len(text))
            match chance.randrange(6):
                case 0:
                    text = text[:at] + chance.choice(TOKENS) + text[at:]
                case 1:
                    text = text[:at] + text[at + chance.randint(1, 4) :]
                case 2:
                    text = text[:at] + chr(chance.randrange(128)) + text[at + 1 :]
                case 3:
                    other = chance.choice(lines)
                    text = text[:at] + other[chance.randint(0, len(other)) :]
                case 4:
                    text = (
                        text + chance.choice((";", " && ", " | ", "\n", " ")) + chance.choice(lines)
                    )
                case _:
                    text = text[:at] + text[at:] * 2
        yield text


def decision(command: str, rules: object = None, mode: str = "default") -> Decision:
    context: dict[str, object] = {**BASE, "mode": mode, "rules": rules or {}}
    return decide(
        *call_and_context({"tool": "Bash", "input": {"command": command}, "context": context})
    )


def problems(command: str) -> Iterator[str]:
    """What is wrong with the gate's answers about one line; nothing, if all is well."""
    started = time.perf_counter()
    plain = decision(command)
    spent = time.perf_counter() - started
    allowance = SECONDS_PER_10_KB * max(1.0, len(command) / 10_000)
    if spent > allowance:
        again = time.perf_counter()
        decision(command + " ")  # another text, so that no cache answers
        slow = time.perf_counter() - again > allowance
        if slow:
            yield f"took {spent * 1000:.0f} ms"
    if "could not judge" in plain.reason.text:
        yield plain.reason.text
    for mode in ("default", "bypassPermissions"):
        ruled = decision(command, ALLOWING, mode)
        denied = decision(command, DENYING, mode)
        if isinstance(denied, Allow) and not isinstance(ruled, Allow):
            yield f"a deny rule made it an allow in {mode}"
        for found in (ruled, denied):
            if "could not judge" in found.reason.text:
                yield found.reason.text
    ended = bool(command.split("#")[0].strip()) and not command.rstrip().endswith("\\")
    if ended and not isinstance(plain, Allow) and isinstance(decision(command + "; ls"), Allow):
        yield "adding '; ls' made it an allow"


def main(count: int, seed: int) -> int:
    chance = random.Random(seed)
    found = 0
    started = time.perf_counter()
    for number, command in enumerate(mutants(corpus(), chance)):
        if number >= count:
            break
        for problem in problems(command):
            found += 1
            print(f"{problem}: {command!r}")
    print(f"{count} lines, {found} problems, {time.perf_counter() - started:.0f} s, seed {seed}")
    return 1 if found else 0


if __name__ == "__main__":
    arguments = [int(text) for text in sys.argv[1:]] + [200_000, 1][len(sys.argv) - 1 :]
    sys.exit(main(*arguments[:2]))
