"""The demo's walk through a project: look, read what looks important, and say what was found.

Every sentence of the summary comes from what the tools returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gatewright.agent.providers.demo.demo_work import Done, Reply, Step, plain_lines

_MANIFESTS = ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "pom.xml", "Makefile")
_ENTRY = r"^(def main\(|async def main\(|func main\(|fn main\(|int main\(|if __name__ ==)"
_READ_LINES = 80
_FIRST = 4  # calls of the first look
_NAME = re.compile(r"^\s*\"?name\"?\s*[=:]\s*\"([^\"]+)\"", re.MULTILINE)
_ABOUT = re.compile(r"^\s*\"?description\"?\s*[=:]\s*\"([^\"]+)\"", re.MULTILINE)
_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_NEEDS = re.compile(r"\"([A-Za-z0-9_.@/-]+)\s*(?:[<>=~!\[;]|\"\s*[:,\]\n])")
_TESTS = re.compile(
    r"(?m)^\s*(?:\$ )?((?:python -m )?pytest\b[^`\n]*|(?:npm|cargo|go|make) test[^`\n]*)"
)
_HIT = re.compile(r"^(.+?)[:-](\d+)[:-]")


def next_of_tour(done: Sequence[Done]) -> Reply:
    if not done:
        return Reply(
            "This is the demo: no model, no network, but real tools. I will look around.",
            (
                Step("Bash", {"command": "ls -1Ap", "description": "Lists this directory"}),
                Step("Bash", {"command": "git log --oneline -5", "description": "Recent commits"}),
                Step("Glob", {"pattern": f"{{README*,{','.join(_MANIFESTS)}}}"}),
                Step("Glob", {"pattern": "*/*"}),
            ),
        )
    names = _names(done)
    if len(done) == _FIRST:
        steps = tuple(_reading(names))
        return Reply("Now what the project says about itself, and where it starts.", steps)
    entry = _entries(done)
    if entry and not any(step.input.get("file_path") == entry[0] for step in done):
        step = Step("Read", {"file_path": entry[0], "limit": 40})
        return Reply(f"Something starts in {entry[0]}; I will read its beginning.", (step,))
    return Reply("\n".join(_summary(done, names, entry)))


def _names(done: Sequence[Done]) -> list[str]:
    """What lies here: as `ls` says, or as Glob found where commands are not allowed."""
    if done[0].ok:
        return plain_lines(done[0].text)
    paths = [line for step in done[2:_FIRST] if step.ok for line in plain_lines(step.text)]
    files = {path for path in paths if "/" not in path and "." in path.rstrip(".")}
    return sorted(files | {f"{path.partition('/')[0]}/" for path in paths if "/" in path})


def _reading(names: Sequence[str]) -> Iterator[Step]:
    readme = next((name for name in names if name.lower().startswith("readme")), None)
    for name in filter(None, (readme, *(m for m in _MANIFESTS if m in names))):
        yield Step("Read", {"file_path": name, "limit": _READ_LINES})
    search = {"pattern": _ENTRY, "output_mode": "content", "-n": True, "head_limit": 20}
    yield Step("Grep", search)


def _read(done: Sequence[Done], name: str) -> str:
    for step in done:
        path = str(step.input.get("file_path", ""))
        if step.ok and step.name == "Read" and path.lower().startswith(name.lower()):
            return "\n".join(plain_lines(step.text))
    return ""


def _entries(done: Sequence[Done]) -> list[str]:
    """Files something starts in; not the tests, and the shallowest first."""
    found: dict[str, None] = {}
    for step in done:
        if step.ok and step.name == "Grep":
            for line in plain_lines(step.text):
                if match := _HIT.match(line):
                    found[match[1]] = None
    own = [path for path in found if "test" not in path.lower() and path[0] != "."]
    return sorted(own, key=lambda path: (path.count("/"), "main" not in path, path))


def _summary(done: Sequence[Done], names: Sequence[str], entry: Sequence[str]) -> Iterator[str]:
    readme = _read(done, "readme")
    manifest = next((name for name in _MANIFESTS if _read(done, name)), "")
    facts = _read(done, manifest) if manifest else ""
    title = _NAME.search(facts) or _MODULE.search(facts)
    yield f"## {title[1] if title else _heading(readme) or 'This project'}"
    yield ""
    if about := (_ABOUT.search(facts) or [""] * 2)[1] or _paragraph(readme):
        yield about
        yield ""
    folders = [name for name in names if name.endswith("/") and not name.startswith(".")]
    files = [name for name in names if not name.endswith("/") and not name.startswith(".")]
    if folders:
        yield f"- Folders: {', '.join(folders)}"
    if files:
        yield f"- Files at the top: {', '.join(files)}"
    if manifest and (needs := _needs(facts)):
        yield f"- {manifest} names {', '.join(needs[:8])}{' and more' if len(needs) > 8 else ''}"
    if entry:
        yield f"- It starts in {', '.join(entry[:4])}"
    if tests := _TESTS.search(readme):
        yield f"- Its tests run with `{tests[1].strip()}`"
    if done[1].ok and (commits := plain_lines(done[1].text)):
        yield f"- Latest commit: {commits[0]}"
    yield ""
    yield (
        "That was the demo. Ask it to `read`, `find`, `run`, `replace` or `create` something, or "
        "set ANTHROPIC_API_KEY or OPENAI_API_KEY to work with a real model."
    )


def _heading(readme: str) -> str:
    return next((line.lstrip("# ") for line in readme.splitlines() if line.startswith("#")), "")


def _paragraph(readme: str) -> str:
    """The first sentences that are neither heading, badge nor code."""
    lines: list[str] = []
    for line in readme.splitlines():
        words = line.strip()
        if not words or words[0] in "#![<`|-*>":
            if lines:
                break
            continue
        lines.append(words)
    return " ".join(lines)


def _needs(facts: str) -> list[str]:
    """Names in the list or table of dependencies; nothing clever."""
    start = facts.find("dependencies")
    if start < 0:
        return []
    end = min(
        (at for mark in ("\n]", "\n  }") if (at := facts.find(mark, start)) > 0), default=len(facts)
    )
    return list(dict.fromkeys(_NEEDS.findall(facts[start:end])))
