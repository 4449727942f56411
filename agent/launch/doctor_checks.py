"""What `agent doctor` says: each check is a fact about this machine and what to do about it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gatewright.agent.commands.panels import Finding, Health
from gatewright.agent.providers.listing import LocalServer
from gatewright.agent.settings.layers.sources import Loaded
from gatewright.agent.settings.schema import Settings
from gatewright.tools.system.git import Caller, of_itself
from gatewright.tools.system.programs import SearchPath

MIN_COLUMNS = 40
MIN_PYTHON = (3, 11)
TIMEOUT = 5.0
MODELS_SHOWN = 5
SKILLS = 5  # files of them that are named


def python() -> Finding:
    number = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < MIN_PYTHON:
        return Finding("Python", Health.BAD, number, "Install Python 3.11 or newer.")
    return Finding("Python", Health.GOOD, f"{number} at {sys.executable}")


def terminal(env: Mapping[str, str]) -> Finding:
    term, size = env.get("TERM", ""), shutil.get_terminal_size()
    fact = f"{term or 'no TERM'}, {size.columns}x{size.lines}"
    if env.get("COLORTERM"):
        fact += f", {env['COLORTERM']}"
    if sys.__stdout__ is None or not sys.__stdout__.isatty():  # a screen has taken the other
        return Finding("Terminal", Health.GOOD, f"{fact}, output is piped: print mode only")
    if term in ("", "dumb"):
        return Finding("Terminal", Health.WARN, fact, "Use agent --plain in this terminal.")
    if size.columns < MIN_COLUMNS:
        return Finding("Terminal", Health.WARN, fact, f"Widen it to {MIN_COLUMNS} columns.")
    return Finding("Terminal", Health.GOOD, fact)


def encoding(env: Mapping[str, str]) -> Finding:
    locale = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or "none"
    if "utf" in locale.lower() or sys.flags.utf8_mode or sys.platform == "darwin":
        return Finding("Locale", Health.GOOD, locale)
    advice = "Set LANG=C.UTF-8 if characters look wrong."
    return Finding("Locale", Health.WARN, locale, advice)


def keys(
    settings: Settings, env: Mapping[str, str], names: Sequence[str], stored: Sequence[str]
) -> Finding:
    """`names` are variables that hold a key of a known provider, `stored` who logged in."""
    found = [name for name in names if env.get(name)]
    found += [f"{name} (logged in)" for name in stored]
    if found:
        return Finding("Keys", Health.GOOD, ", ".join(found))
    if settings.providers:
        listed = ", ".join(settings.providers)
        return Finding("Keys", Health.GOOD, f"none in the environment; providers: {listed}")
    advice = "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, run agent login, or try --model demo."
    return Finding("Keys", Health.WARN, "none found", advice)


def local(servers: Sequence[LocalServer]) -> Iterator[Finding]:
    for server in servers:
        models = ", ".join(server.models[:MODELS_SHOWN]) or "no models"
        more = len(server.models) - MODELS_SHOWN
        fact = f"{server.provider} at {server.base_url}: {models}"
        yield Finding("Local", Health.GOOD, f"{fact} and {more} more" if more > 0 else fact)


def ripgrep(path: str) -> Finding:
    if path:
        return Finding("ripgrep", Health.GOOD, path)
    advice = "Grep and Glob need it: install ripgrep 14 or newer."
    return Finding("ripgrep", Health.BAD, "not found", advice)


def git(caller: Caller) -> Finding:
    said = of_itself(caller, TIMEOUT)
    if said:
        return Finding("git", Health.GOOD, said)
    return Finding("git", Health.WARN, "not found", "Install git: branches and diffs need it.")


def search(found: SearchPath) -> Finding:
    """Where programs are looked for, and what is left out of that."""
    count = len(found.text.split(os.pathsep))
    fact = f"{count} directories" if count > 1 else found.text
    if not found.dropped:
        return Finding("PATH", Health.GOOD, fact)
    left = ", ".join(entry or "an empty entry" for entry in found.dropped)
    advice = "They lead into the project, whose programs nobody vouched for."
    return Finding("PATH", Health.WARN, f"{fact}, without {left}", advice)


def sandbox(level: str, why: str) -> Finding:
    """What kind works here, and why not the best one."""
    if why:
        advice = "Commands run with less or no confinement; agent sandbox explain says how."
        fact = f"{level}: {why}"
        return Finding("Sandbox", Health.WARN, fact, advice)
    return Finding("Sandbox", Health.GOOD, level)


def home(home: Path) -> Finding:
    nearest = home
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if os.access(nearest, os.W_OK):
        return Finding("Own files", Health.GOOD, str(home))
    advice = "Sessions are not kept: make it writable, or set GATEWRIGHT_HOME."
    return Finding("Own files", Health.BAD, f"{home} cannot be written", advice)


def project(root: Path, *, trusted: bool) -> Finding:
    state = "trusted" if trusted else "not trusted"
    return Finding("Project", Health.GOOD, f"{root}, {state}")


def settings(loaded: Loaded) -> Iterator[Finding]:
    files = [str(path) for path in loaded.files if path.exists()]
    yield Finding("Settings", Health.GOOD, ", ".join(files) or "no files, all defaults")
    for problem in loaded.problems:
        match problem.level:
            case "error":
                yield Finding("Settings", Health.BAD, problem.text(), "Correct that line.")
            case "warning":
                yield Finding("Settings", Health.WARN, problem.text(), "Correct that line.")
            case "untrusted":
                yield Finding("Settings", Health.WARN, problem.text(), "agent trust add trusts it.")


def mcp_servers(standing: tuple[Mapping[str, str], Sequence[str]]) -> Iterator[Finding]:
    """Nothing where nobody wrote one down."""
    states, problems = standing
    for problem in problems:
        yield Finding("MCP", Health.WARN, problem, "Correct that entry; agent mcp list shows all.")
    waiting = [name for name, state in states.items() if state == "unapproved"]
    if waiting:
        told = f"{', '.join(waiting)} of this project: not approved"
        yield Finding("MCP", Health.WARN, told, "agent mcp approve NAME lets one run.")
    if states and not waiting and not problems:
        yield Finding("MCP", Health.GOOD, f"{', '.join(states)}; agent mcp list tries them")


def skills(there: str, bad: Sequence[str], notes: str) -> Iterator[Finding]:
    """`bad` are files that cannot be used, `notes` says how much there is to say of the others."""
    for problem in bad[:SKILLS]:
        yield Finding("Skills", Health.WARN, problem)
    if len(bad) > SKILLS:
        told = f"{len(bad) - SKILLS} more files cannot be used"
        yield Finding("Skills", Health.WARN, told, "agent skills list names them.")
    more = f"; {notes}: agent skills list shows them" if notes else ""
    if notes or not bad:
        yield Finding("Skills", Health.GOOD, f"{there}{more}")


def workflows(missing: str, bad: Sequence[str]) -> Iterator[Finding]:
    """`missing` says why there is no engine, `bad` are scripts that cannot run."""
    if missing:
        yield Finding("Workflows", Health.WARN, missing)
    for problem in bad[:SKILLS]:
        yield Finding("Workflows", Health.WARN, problem)
    if len(bad) > SKILLS:
        told = f"{len(bad) - SKILLS} more scripts cannot run"
        yield Finding("Workflows", Health.WARN, told, "agent workflows validate names them.")


def plugins(rows: Sequence[tuple[str, str, str]]) -> Iterator[Finding]:
    """Each with its id, its state and why it is not on."""
    for id, state, why in rows:
        if state in ("stopped", "missing"):
            advice = f"agent plugin install {id}" if state == "missing" else "agent plugin list"
            yield Finding("Plugins", Health.WARN, f"{id}: {why or 'is not installed'}", advice)
    on = [id for id, state, _ in rows if state == "on"]
    if on:
        yield Finding("Plugins", Health.GOOD, f"{len(on)} on: {', '.join(on)}")
