"""What the demo does next: a pure function of the wish and of what its calls gave so far."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gatewright.agent.providers.demo.demo_tour import next_of_tour
from gatewright.agent.providers.demo.demo_words import Wish
from gatewright.agent.providers.demo.demo_work import Done, Reply, Step, counted, plain_lines, shown
from gatewright.tools.protocol import JsonObject

_SHOWN = 12
_GLOB = re.compile(r"[*?\[{]")
_TASKS = (
    ("List the files here", "Listing the files"),
    ("Count them", "Counting"),
    ("Say what was found", "Summing up"),
)
_PLAN = """## {goal}

1. Look at the files it concerns, and at their tests.
2. Make the smallest change that does it.
3. Run the tests and read the diff once more."""


def next_step(wish: Wish, done: Sequence[Done], tools: frozenset[str]) -> Reply:
    said = wish.said
    match wish.does:
        case "find":
            return _find(said["what"], done)
        case "read":
            return _read(said["path"], done)
        case "run":
            return _run(said["command"], done)
        case "replace":
            return _replace(said, done)
        case "create":
            return _create(said["path"], said["content"], done)
        case "plan":
            return _plan(said["goal"], done, tools)
        case "todo":
            return _todo(done)
        case _:
            return next_of_tour(done)


def _find(what: str, done: Sequence[Done]) -> Reply:
    names = bool(_GLOB.search(what))
    if not done:
        if names:
            pattern = what if "/" in what else f"**/{what}"
            return Reply(
                "I will look for files of that name.", (Step("Glob", {"pattern": pattern}),)
            )
        search = {"pattern": re.escape(what), "output_mode": "content", "head_limit": 50}
        return Reply(f"I will search the files for `{what}`.", (Step("Grep", search),))
    result = done[0]
    lines = plain_lines(result.text)
    if not result.ok or not lines or lines[0].lower().startswith("no "):
        return Reply(f"Nothing found for `{what}`. {lines[0] if lines else ''}".strip())
    found = counted(len(lines), "file" if names else "line")
    return Reply(f"Found {found} for `{what}`:\n\n{shown(lines, _SHOWN)}")


def _read(path: str, done: Sequence[Done]) -> Reply:
    if not done:
        return Reply(f"I will read {path}.", (Step("Read", {"file_path": path}),))
    if not done[0].ok:
        return Reply(f"That did not work: {done[0].text.strip()}")
    lines = plain_lines(done[0].text)
    size = counted(len(lines), "line")
    return Reply(f"{path} has {size}; it begins\n\n{shown(lines, _SHOWN)}")


def _run(command: str, done: Sequence[Done]) -> Reply:
    if not done:
        call = Step("Bash", {"command": command, "description": "Runs what you asked for"})
        return Reply("I will run it.", (call,))
    lines = plain_lines(done[0].text)
    how = "It ran" if done[0].ok else "It did not end well"
    if not lines:
        return Reply(f"{how} and printed nothing.")
    return Reply(f"{how}:\n\n{shown(lines[-_SHOWN:], _SHOWN)}")


def _replace(said: Mapping[str, str], done: Sequence[Done]) -> Reply:
    path, old, new = said["path"], said["old"], said["new"]
    if not done:
        step = Step("Read", {"file_path": path})
        return Reply(f"I will read {path} before I change it.", (step,))
    if not done[-1].ok:
        return Reply(f"That did not work: {done[-1].text.strip()}")
    if len(done) > 1:
        return Reply(f"Done: `{old}` is now `{new}` in {path}.")
    times = "\n".join(plain_lines(done[0].text)).count(old)
    if not times:
        return Reply(f"`{old}` does not stand in {path}, so I changed nothing.")
    change: JsonObject = {"file_path": path, "old_string": old, "new_string": new}
    if times > 1:
        change["replace_all"] = True
    count = "once" if times == 1 else f"{times} times"
    return Reply(f"It stands there {count}; I will replace it.", (Step("Edit", change),))


def _create(path: str, content: str, done: Sequence[Done]) -> Reply:
    if not done:
        text = content.strip() or "Written by the demo."
        step = Step("Write", {"file_path": path, "content": f"{text}\n"})
        return Reply(f"I will write {path}.", (step,))
    return Reply(f"{path} is written." if done[0].ok else f"Not written: {done[0].text.strip()}")


def _plan(goal: str, done: Sequence[Done], tools: frozenset[str]) -> Reply:
    plan = _PLAN.format(goal=goal or "A small change")
    if not done and "ExitPlanMode" in tools:
        return Reply("Here is how I would go about it.", (Step("ExitPlanMode", {"plan": plan}),))
    if done and done[0].ok:
        return Reply("The plan is settled. From here a model would carry it out.")
    return Reply(f"{plan}\n\nIn plan mode (Shift+Tab) you would be asked to approve this.")


def _todo(done: Sequence[Done]) -> Reply:
    if not done:
        return Reply("I will keep a list while I work.", (_list(0),))
    match len(done):
        case 1:
            step = Step("Bash", {"command": "ls -1A", "description": "Lists the files here"})
            return Reply("", (step,))
        case 2:
            return Reply("", (_list(2),))
        case 3:
            return Reply("", (_list(3),))
        case _:
            names = plain_lines(done[1].text) if done[1].ok else []
            return Reply(f"All three tasks are done: there are {len(names)} entries here.")


def _list(finished: int) -> Step:
    states = [*["completed"] * finished, "in_progress", "pending", "pending"]
    todos = [
        {"content": content, "activeForm": active, "status": state}
        for (content, active), state in zip(_TASKS, states, strict=False)
    ]
    return Step("TodoWrite", {"todos": todos})
