"""Compare runs of `agent -p` with a skill and without it: what was right, and what it cost.

Each run is a session of its own in a fresh copy of a folder. Needs Python alone; it asks nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple, cast

NOT_COPIED = shutil.ignore_patterns(".git", "node_modules", ".venv", "__pycache__")
MOST_RUNS = 20


class Task(NamedTuple):
    """`uses` says whether the skill belongs to it; None: nobody cares."""

    name: str
    prompt: str
    check: str
    expect: tuple[str, ...]
    uses: bool | None


class Run(NamedTuple):
    right: bool
    used: bool
    requests: int
    tokens: int
    seconds: float
    dollars: float
    why: str  # of one that is not right


class Comparing(NamedTuple):
    agent: str
    skill: Path
    folder: Path
    more: tuple[str, ...]  # further flags of the agent
    limit: float
    keep: Path | None

    @property
    def name(self) -> str:
        return self.skill.name

    def command(self, task: Task, *, has: bool) -> list[str]:
        override = "on" if has else "off"
        settings = json.dumps({"skillOverrides": {self.name: override}})
        flags = ["--output-format", "stream-json", "--settings", settings, "--trust"]
        return ["/usr/bin/env", self.agent, "-p", task.prompt, *flags, *self.more]


def main() -> int:
    options = arguments()
    tasks, folder = read_tasks(options.tasks)
    skill = options.skill.resolve()
    if not (skill / "SKILL.md").is_file():
        return fail(f"{skill} has no SKILL.md: name the folder of the skill with --skill.")
    made = Comparing(
        options.agent, skill, folder, tuple(options.flags), options.limit, options.keep
    )
    if options.dry_run:
        for task in tasks:
            for has in (True, False):
                print(f"in a copy of {folder}: {made.command(task, has=has)}")
        return 0
    found = [
        (task, [run(made, task, has=has) for _ in range(options.runs)], has)
        for task in tasks
        for has in (True, False)
    ]
    print("\n".join(table(found)))
    if options.json:
        lines = [
            {"task": task.name, "with_skill": has, "runs": [each._asdict() for each in runs]}
            for task, runs, has in found
        ]
        options.json.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tasks", type=Path, help="a file of tasks; see templates/tasks.json")
    parser.add_argument("--skill", type=Path, required=True, help="the folder of the skill")
    parser.add_argument("--runs", type=count, default=1, help="of each task, both ways")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one run")
    parser.add_argument("--agent", default="agent", help="the program, if not the one in PATH")
    parser.add_argument("--keep", type=Path, help="keep folders and answers below this one")
    parser.add_argument("--json", type=Path, help="write all figures there, too")
    parser.add_argument("--dry-run", action="store_true", help="only say what would run")
    parser.epilog = "What stands behind -- goes to agent -p: -- --permission-mode acceptEdits"
    given = sys.argv[1:]
    at = given.index("--") if "--" in given else len(given)
    options = parser.parse_args(given[:at])
    options.flags = given[at + 1 :]
    return options


def count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= MOST_RUNS:
        raise argparse.ArgumentTypeError(f"from 1 to {MOST_RUNS}")
    return number


def read_tasks(path: Path) -> tuple[list[Task], Path]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        entries = said["tasks"]
        tasks = [
            Task(
                name=str(each.get("name", f"task {number}")),
                prompt=each["prompt"],
                check=each.get("check", ""),
                expect=tuple(each.get("expect", ())),
                uses=each.get("uses"),
            )
            for number, each in enumerate(entries, 1)
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SystemExit(f"{path} is no file of tasks: {error}") from None
    return tasks, (path.parent / str(said.get("folder", "."))).resolve()


def run(made: Comparing, task: Task, *, has: bool) -> Run:
    with tempfile.TemporaryDirectory(prefix="compare-") as temporary:
        place = Path(temporary) / "folder"
        shutil.copytree(made.folder, place, ignore=NOT_COPIED)
        own = place / ".agents" / "skills" / made.name
        shutil.rmtree(own, ignore_errors=True)
        if has:
            shutil.copytree(made.skill, own, ignore=NOT_COPIED)
        began = time.monotonic()
        lines, why = answered(made, task, place, has=has)
        seconds = time.monotonic() - began
        outcome = judged(task, lines, place, why)
        if made.keep is not None:
            kept = made.keep / f"{plain(task.name)}-{'with' if has else 'without'}-{time.time_ns()}"
            shutil.copytree(place, kept)
            text = "\n".join(json.dumps(line) for line in lines)
            (kept / "answer.jsonl").write_text(text, encoding="utf-8")
    nothing: dict[str, Any] = {}
    result = next((line for line in lines if line.get("type") == "result"), nothing)
    usage: dict[str, Any] = result.get("usage") or nothing
    return Run(
        right=not outcome,
        used=uses(lines, made.name),
        requests=int(result.get("num_turns") or 0),
        tokens=sum(value for key, value in usage.items() if key.endswith("_tokens")),
        seconds=round(seconds, 1),
        dollars=float(result.get("total_cost_usd") or 0),
        why=outcome,
    )


def answered(
    made: Comparing, task: Task, place: Path, *, has: bool
) -> tuple[list[dict[str, Any]], str]:
    """The lines that it printed, and what went wrong with the run itself."""
    env = {key: value for key, value in os.environ.items() if key != "GATEWRIGHT"}
    command = made.command(task, has=has)
    try:
        done = subprocess.run(
            command, cwd=place, env=env, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=made.limit, check=False, text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return [], f"not done after {made.limit:g} seconds"
    lines: list[dict[str, Any]] = []
    for text in done.stdout.splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict):
            lines.append(cast("dict[str, Any]", line))
    said = (done.stderr.strip().splitlines() or [""])[-1]
    return lines, f"exit code {done.returncode}: {said}" if done.returncode else ""


def judged(task: Task, lines: list[dict[str, Any]], place: Path, why: str) -> str:
    """Why the result is not right; empty where it is."""
    if why:
        return why
    answer = "".join(
        str(line.get("result") or "") for line in lines if line.get("type") == "result"
    )
    for pattern in task.expect:
        if not re.search(pattern, answer, re.IGNORECASE | re.MULTILINE):
            return f"the answer does not match {pattern!r}"
    if task.check:
        done = subprocess.run(
            ["/bin/sh", "-c", task.check], cwd=place, capture_output=True, timeout=300, check=False
        )
        if done.returncode:
            return f"the check ended with {done.returncode}"
    return ""


def uses(lines: list[dict[str, Any]], name: str) -> bool:
    """Whether the model invoked the skill."""
    for line in lines:
        message: Any = line.get("message") or {}
        content: Any = message.get("content") if line.get("type") == "assistant" else []
        blocks = cast("list[dict[str, Any]]", content if isinstance(content, list) else [])
        for block in blocks:
            said: dict[str, Any] = block.get("input") or {}
            asked = str(said.get("skill", ""))
            if block.get("name") == "Skill" and asked.rpartition(":")[2] == name:
                return True
    return False


def table(found: list[tuple[Task, list[Run], bool]]) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("Task", "", "right", "used", "requests", "tokens", "seconds", "dollars")
    ]
    notes: list[str] = []
    for task, runs, has in found:
        rows.append((task.name if has else "", "with" if has else "without", *figures(runs)))
        way = "with" if has else "without"
        notes += [f"{task.name}, {way}: {each.why}" for each in runs if each.why]
        if has and task.uses is not None:
            wrong = sum(each.used != task.uses for each in runs)
            told = "not taken up" if task.uses else "taken up, though it is not its business"
            notes += [f"{task.name}: {told} in {wrong} of {len(runs)}"] if wrong else []
    for has in (True, False):
        every = [each for _, runs, had in found if had is has for each in runs]
        rows.append(("All" if has else "", "with" if has else "without", *figures(every)))
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return [*lines, "", *dict.fromkeys(notes)] if notes else lines


def figures(runs: list[Run]) -> tuple[str, ...]:
    """How many were right and used it; of the rest the medians."""
    middle = statistics.median
    return (
        f"{sum(each.right for each in runs)}/{len(runs)}",
        f"{sum(each.used for each in runs)}/{len(runs)}",
        f"{middle(each.requests for each in runs):g}",
        f"{middle(each.tokens for each in runs):g}",
        f"{middle(each.seconds for each in runs):.1f}",
        f"{middle(each.dollars for each in runs):.4f}",
    )


def plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "task"


def fail(text: str) -> int:
    print(text, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
