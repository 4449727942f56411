"""Times one decision: `python tests/bench/decide.py`. Prints medians; gates nothing by itself."""

from __future__ import annotations

import statistics
import time
from typing import Any

from gatewright.permissions.check import call_and_context
from gatewright.permissions.context import Call, Context
from gatewright.permissions.decide import decide

COMMANDS = (
    "git status",
    "ls -la src",
    "cat src/a.py | head -20",
    "npm test -- --run 2>&1 | tail -5",
    "rg -n 'def main' src",
    "git add -A && git commit -m 'fix the thing'",
    "cd src && pytest -q tests/test_a.py",
    "sed -n '1,50p' src/a.py",
)
FEW = {"user": {"allow": ["Bash(npm test:*)", "Bash(pytest:*)", "Bash(git commit:*)"]}}
MANY = {
    "user": {
        "allow": [f"Bash(tool{n} sub:*)" for n in range(200)],
        "ask": [f"Bash(other{n} *)" for n in range(100)],
        "deny": [
            *(f"Bash(bad{n}:*)" for n in range(50)),
            *(f"Read(/secret{n}/**)" for n in range(100)),
            *(f"Edit(/gen{n}/**/*.ts)" for n in range(50)),
        ],
    }
}


def prepared(command: str, rules: dict[str, Any]) -> tuple[Call, Context]:
    case = {"tool": "Bash", "input": {"command": command}, "context": {"rules": rules}}
    return call_and_context(case)


def median_us(call: Call, context: Context, rounds: int = 300) -> float:
    for _ in range(20):
        decide(call, context)
    times: list[float] = []
    for _ in range(rounds):
        started = time.perf_counter()
        decide(call, context)
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e6


def main() -> None:
    for name, rules in (("few rules", FEW), ("500 rules", MANY)):
        found = {command: median_us(*prepared(command, rules)) for command in COMMANDS}
        for command, micros in found.items():
            print(f"{name:10} {micros:8.0f} us  {command}")
        print(f"{name:10} {statistics.median(found.values()):8.0f} us  median of all")


if __name__ == "__main__":
    main()
