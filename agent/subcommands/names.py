"""The sub-commands by name: a first word that is none of these is a prompt."""

from __future__ import annotations

SUBCOMMANDS: dict[str, str] = {
    "doctor": "Check this machine, or a provider, and say what to do",
    "trust": "Trust a project, or stop trusting it",
    "config": "Show and change settings",
    "permissions": "List, change, test and explain permission rules",
    "sessions": "List, show, search, export, repair, delete and import sessions",
    "import": "Copy settings of Claude Code",
    "models": "List models with prices and where a key was found; --refresh asks providers",
    "login": "Try a provider's key and keep it, in the system's keyring where there is one",
    "logout": "Forget a stored key",
    "schema": "Print the JSON Schema of settings, or of print mode's lines",
    "agents": "List, check and write types of agents; what those that ran did",
    "skills": "List, show, check and write skills",
    "workflows": "List, show, check and run workflows; runs: list, resume, export",
    "schedule": "Prompts that run by the clock: list, add, rm, runs, run, install",
    "bg": "Begin a session in the background; clean: forget those that ended",
    "ps": "List sessions in the background, and what each is at",
    "attach": "Show a session that runs in the background, and work with it",
    "logs": "Print what a session in the background says; -f goes on",
    "stop": "Stop a session in the background: its turn ends, all of it is kept",
    "kill": "Kill a session in the background, with what it had started",
    "dream": "Propose how to tidy what sessions learnt here; /dream shows it and asks",
    "hooks": "List, check and try hooks",
    "acp": "Work inside an editor, which speaks the Agent Client Protocol with it",
    "mcp": "Add, list, try, approve and remove MCP servers; serve our tools to others",
    "lsp": "List language servers, say what to install for more, show the log of one",
    "plugin": "Install, update, list, switch, check and write plugins; marketplaces",
    "auto-mode": "What auto mode judges by; try and measure a judge",
    "sandbox": "Run a command confined, and explain the confinement",
    "completion": "Print completion for bash, zsh or fish",
    "debug": "Show how the program decides things",
}

_MODULES: dict[str, str] = {
    "acp": "editing.acp",
    "dream": "schedule.dream",
    "import": "import_",
    "auto-mode": "auto_mode.auto_group",
    "bg": "background.bg",
    "ps": "background.ps",
    "attach": "background.attach",
    "logs": "background.logs",
    "stop": "background.stop",
    "kill": "background.kill",
    "lsp": "lsp.lsp_group",
    "plugin": "plugins.plugin",
    "skills": "skills.skills_group",
    "workflows": "workflows.workflows_group",
    "schedule": "schedule.schedule_group",
}

# What others have and we have not, or have elsewhere: no prompt was meant by one of these words.
ELSEWHERE: dict[str, str] = {
    "plugins": "agent plugin installs and lists plugins.",
    "update": "Update it with what installed it: pip install --upgrade gatewright, for example.",
    "upgrade": "Update it with what installed it: pip install --upgrade gatewright, for example.",
    "install": "It is installed.",
    "auth": "agent login keeps a key, agent logout forgets it.",
    "setup-token": "agent login keeps a key.",
    "resume": "agent --resume goes on with a session, agent sessions list lists them.",
    "exec": 'agent -p "PROMPT" answers and exits.',
    "serve": "agent mcp serve offers its tools to MCP clients.",
}


def elsewhere(word: str) -> str:
    """What to do instead of a sub-command that is none; empty for every other word."""
    told = ELSEWHERE.get(word, "")
    return told and f"There is no command agent {word}. {told} As a prompt it is: agent -- {word}"


def module_of(name: str) -> str:
    return f"gatewright.agent.subcommands.{_MODULES.get(name, name)}"


def mistyped(word: str) -> str:
    """The sub-command a lone first word was probably meant to be, or an empty string."""
    if not word.isalpha():
        return ""
    from difflib import get_close_matches  # noqa: PLC0415  lazy: 3 ms, for a word that is none

    near = get_close_matches(word.lower(), SUBCOMMANDS, n=1, cutoff=0.75)
    return near[0] if near else ""
