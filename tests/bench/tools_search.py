"""Grep and Glob against plain ripgrep on 45,000 files: `python tests/bench/tools_search.py`.

Plain is the same job by hand: the same flags, output read to the end. The tool runs alone, and
behind a gate whose rules forbid some of what is found. The least of several rounds counts, since
other load only adds. Exit code 1 above 1.3 times.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from gatewright.permissions.gated import GatePorts, gated
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.protocol import Executor, ToolCall
from gatewright.tools.registry import TOOLS, BuiltinTools
from gatewright.tools.search import rg
from tests.fakes.executor import executed
from tests.fakes.toolbox import Toolbox

RG = rg.locate(Path("/nonexistent"))  # the one the product starts
ROUNDS = 9
LIMIT = 1.3
WORDS = ("alpha", "beta", "gamma", "delta", "x")
CASES = {
    "Glob **/*.py": (
        {"pattern": "**/*.py"},
        ["--files", "--hidden", "--sortr=modified", "-g", "**/*.py", "-g", "!.git"],
    ),
    "Glob **/sub1*/*.md": (
        {"pattern": "**/sub1*/*.md"},
        ["--files", "--hidden", "--sortr=modified", "-g", "**/sub1*/*.md", "-g", "!.git"],
    ),
    "Grep files, rare": ({"pattern": "needle"}, ["-l", "--hidden", "-g", "!.git", "needle"]),
    "Grep content, rare": (
        {"pattern": "needle", "output_mode": "content"},
        ["-n", "--hidden", "-g", "!.git", "needle"],
    ),
    "Grep content, common": (
        {"pattern": "alpha", "output_mode": "content"},
        ["-n", "--hidden", "-g", "!.git", "alpha"],
    ),
    "Grep count": (
        {"pattern": "gamma", "output_mode": "count", "glob": "*.ts"},
        ["-c", "--hidden", "-g", "*.ts", "-g", "!.git", "gamma"],
    ),
}


def grow(root: Path) -> None:
    pick = random.Random(1)
    endings = ("py", "ts", "md", "json", "c", "txt")
    for a in range(30):
        for b in range(30):
            folder = root / f"d{a:02}" / f"sub{b:02}"
            folder.mkdir(parents=True)
            for c in range(50):
                lines = [" ".join(pick.choices(WORDS, k=8)) for _ in range(pick.randint(5, 60))]
                if pick.random() < 0.01:
                    lines[0] = "needle"
                path = folder / f"file_{c:02}.{pick.choice(endings)}"
                path.write_text("\n".join(lines), encoding="utf-8")


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


async def through(executor: Executor, box: Toolbox, tool: str, call: dict[str, str]) -> None:
    result = await executed(executor, ToolCall("1", tool, dict(call)), box.ctx)
    assert result.ok, result.content


def behind_a_gate(root: Path) -> Executor:
    rules = {"user": RuleTexts(deny=("Read(**/sub07/**)", "Read(d03/sub1*/file_0*.ts)"))}
    home = root.parent / "home"
    policy = Policy(PolicyConfig(root=root, cwd=root, home=home, rules=rules))
    return gated([BuiltinTools(TOOLS)], policy, GatePorts())


def main() -> int:
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        root = Path(folder, "project")
        root.mkdir()
        grow(root)
        box = Toolbox(root)
        gate = behind_a_gate(root)
        for name, (call, arguments) in CASES.items():
            tool = name.partition(" ")[0]

            def plain(arguments: list[str] = arguments) -> None:
                command = [RG, "--no-config", *arguments]
                subprocess.run(command, cwd=root, capture_output=True, check=True)

            def ours(
                executor: Executor, tool: str = tool, call: dict[str, str] = call
            ) -> Callable[[], None]:
                return lambda: runner.run(through(executor, box, tool, call))

            works = (plain, ours(box.executor), ours(gate))
            rounds = [[timed(work) for work in works] for _ in range(ROUNDS + 1)][1:]
            by_hand, alone, gated_too = (min(side) for side in zip(*rounds, strict=True))
            worst = max(worst, alone / by_hand, gated_too / by_hand)
            print(
                f"{name:22} rg {by_hand * 1000:6.1f} ms"
                f"   tool {alone * 1000:6.1f} ms {alone / by_hand:.2f}x"
                f"   gated {gated_too * 1000:6.1f} ms {gated_too / by_hand:.2f}x"
            )
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
