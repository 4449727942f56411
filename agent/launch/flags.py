"""Every command-line flag as one table: the fast parser and the typer application both read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

Kind: TypeAlias = Literal["switch", "text", "optional", "integer", "number", "list", "repeat"]
# list: several values in one, parted by commas or spaces; repeat: each value as it is
More: TypeAlias = Literal["", "tools", "directories", "files", "areas"]


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """`names[0]` is the one help shows; the other spelling (camelCase or kebab-case) is derived."""

    names: tuple[str, ...]
    field: str
    kind: Kind
    help: str
    group: str = ""
    value: str | bool = True  # what a switch sets
    metavar: str = ""
    choices: tuple[str, ...] = ()
    hidden: bool = False
    more: More = ""  # what a word further behind it must be to be a value too, and no prompt
    presets: tuple[str, ...] = ()  # words that stand for several of its values

    @property
    def spellings(self) -> tuple[str, ...]:
        names = list(self.names)
        for name in self.names:
            for other in (camel(name), kebab(name)):
                if other not in names:
                    names.append(other)
        return tuple(names)


def camel(name: str) -> str:
    if not name.startswith("--"):
        return name
    first, *rest = name[2:].split("-")
    return "--" + first + "".join(part[:1].upper() + part[1:] for part in rest)


def kebab(name: str) -> str:
    if not name.startswith("--"):
        return name
    return "--" + "".join(f"-{c.lower()}" if c.isupper() else c for c in name[2:])


def _switch(names: str, field: str, help: str, *, value: str | bool = True) -> Flag:
    return Flag(names=tuple(names.split()), field=field, kind="switch", help=help, value=value)


def _choice(names: str, field: str, choices: str, help: str) -> Flag:
    return Flag(
        names=tuple(names.split()),
        field=field,
        kind="text",
        help=help,
        choices=tuple(choices.split()),
    )


def _value(
    names: str, field: str, metavar: str, help: str, *, kind: Kind = "text", more: More = ""
) -> Flag:
    parts = tuple(names.split())
    return Flag(names=parts, field=field, kind=kind, help=help, metavar=metavar, more=more)


def _unlisted(flag: Flag) -> Flag:
    """Taken, because clients and scripts of others give it, but offered to nobody."""
    return msgspec.structs.replace(flag, hidden=True)


def _group(name: str, *flags: Flag) -> tuple[Flag, ...]:
    return tuple(msgspec.structs.replace(flag, group=name) for flag in flags)


FLAGS: tuple[Flag, ...] = (
    *_group(
        "Print mode",
        _switch(
            "--print -p",
            "print_mode",
            "Answer on standard output and exit; standard input is read too.",
        ),
        _choice(
            "--output-format",
            "output_format",
            "text json stream-json",
            "What to print: the answer, one result object, or every message as it comes.",
        ),
        _choice(
            "--input-format", "input_format", "text stream-json", "How standard input is read."
        ),
        _switch(
            "--include-partial-messages",
            "include_partial_messages",
            "With stream-json: pieces of messages as they arrive.",
        ),
        _unlisted(
            _switch(
                "--include-hook-events", "include_hook_events", "With stream-json: what hooks did."
            )
        ),
        _switch(
            "--replay-user-messages",
            "replay_user_messages",
            "With stream-json both ways: echo the messages that were taken up.",
        ),
        _switch(
            "--no-stdin",
            "no_stdin",
            "Read nothing but the prompt, though a pipe is open beside it.",
        ),
        _value("--json-schema", "json_schema", "SCHEMA", "JSON Schema the answer must satisfy."),
    ),
    *_group(
        "Model and limits",
        _value(
            "--model -m",
            "model",
            "NAME",
            "provider/model or an alias; demo needs no key and no network.",
        ),
        _value(
            "--fallback-model",
            "fallback_model",
            "NAMES",
            "Models to try when the first is overloaded, parted by commas.",
        ),
        _choice(
            "--effort",
            "effort",
            "none minimal low medium high xhigh max",
            "How much the model thinks.",
        ),
        _unlisted(
            _choice(
                "--thinking",
                "thinking",
                "adaptive enabled disabled",
                "Whether the model thinks; --effort says how much.",
            )
        ),
        _unlisted(
            _choice(
                "--thinking-display",
                "thinking_display",
                "summarized omitted",
                "How thinking is shown.",
            )
        ),
        _unlisted(_value("--betas", "betas", "NAMES", "Features of the API to try.", kind="list")),
        _unlisted(_value("--task-budget", "task_budget", "N", "Tokens to spend.", kind="integer")),
        _value(
            "--max-thinking-tokens",
            "max_thinking_tokens",
            "N",
            "Think no more than that: the highest --effort within it.",
            kind="integer",
        ),
        _value("--max-turns", "max_turns", "N", "Most requests to the model.", kind="integer"),
        _value(
            "--max-budget-usd", "max_budget_usd", "USD", "Most dollars to spend.", kind="number"
        ),
        _unlisted(
            _value("--replay", "replay", "FILE", "With --model demo: play a recorded session.")
        ),
        _value(
            "--system-prompt", "system_prompt", "TEXT", "Use this system prompt instead of ours."
        ),
        _value("--system-prompt-file", "system_prompt_file", "FILE", "The same from a file."),
        _value(
            "--append-system-prompt",
            "append_system_prompt",
            "TEXT",
            "Add this to the system prompt.",
        ),
        _value(
            "--append-system-prompt-file",
            "append_system_prompt_file",
            "FILE",
            "The same from a file.",
        ),
        _switch("--dump-system-prompt", "dump_system_prompt", "Print the system prompt and exit."),
    ),
    *_group(
        "Permissions",
        _value(
            "--permission-mode --mode",
            "mode",
            "MODE",
            "default, acceptEdits, plan, auto, autoInProject, dontAsk or bypassPermissions.",
        ),
        _switch(
            "--dangerously-skip-permissions -y",
            "mode",
            "The mode bypassPermissions: nothing asks but what is dangerous and the hard floor.",
            value="bypassPermissions",
        ),
        _switch(
            "--auto --auto-continue",
            "mode",
            "The mode autoInProject: edits and commands inside the project do not ask.",
            value="autoInProject",
        ),
        _switch(
            "--enable-auto-mode",
            "mode",
            "The mode auto: a classifier answers what would be asked.",
            value="auto",
        ),
        _switch(
            "--allow-dangerously-skip-permissions",
            "allow_bypass",
            "Put bypassPermissions among the modes of Shift+Tab.",
        ),
        _value(
            "--allowedTools",
            "allowed_tools",
            "RULES",
            'Rules that need no asking, such as "Bash(git log:*)" Edit.',
            kind="list",
            more="tools",
        ),
        _value(
            "--disallowedTools",
            "disallowed_tools",
            "RULES",
            "Rules for what never runs.",
            kind="list",
            more="tools",
        ),
        msgspec.structs.replace(
            _value(
                "--tools",
                "tools",
                "NAMES",
                'Offer only these tools, or those of core or read; "" offers none.',
                kind="list",
                more="tools",
            ),
            presets=("core", "read"),
        ),
        _value(
            "--add-dir",
            "add_dirs",
            "DIR",
            "Further directories that count as inside the project.",
            kind="repeat",
            more="directories",
        ),
        _unlisted(
            _value(
                "--permission-prompt-tool",
                "permission_prompt_tool",
                "NAME",
                "Who answers questions in print mode: stdio, or an MCP tool.",
            )
        ),
        _switch("--trust", "trust", "Trust this project's configuration for this run."),
    ),
    *_group(
        "Session",
        _switch("--continue -c", "continue_session", "Go on with this directory's newest session."),
        _value(
            "--resume -r",
            "resume",
            "[SESSION]",
            "Go on with a session: its id, a part of it, its file, or words from it.",
            kind="optional",
        ),
        _switch("--fork-session", "fork_session", "With --continue or --resume: go on in a copy."),
        _value("--session-id", "session_id", "UUID", "The id of the new session."),
        _value("--name -n", "name", "TITLE", "What the session is called in lists."),
        _switch(
            "--no-session --no-session-persistence",
            "no_session",
            "Keep nothing of this session on disk.",
        ),
    ),
    *_group(
        "Settings and extensions",
        _value("--settings", "settings", "FILE|JSON", "More settings, stronger than the files."),
        _value(
            "--setting-sources",
            "setting_sources",
            "LIST",
            "Which settings files count: user, project, local.",
            kind="list",
        ),
        _unlisted(
            _value(
                "--mcp-config",
                "mcp_config",
                "FILE|JSON",
                "More MCP servers.",
                kind="repeat",
                more="files",
            )
        ),
        _unlisted(
            _switch("--strict-mcp-config", "strict_mcp_config", "Only the servers of --mcp-config.")
        ),
        _unlisted(_value("--plugin-dir", "plugin_dirs", "DIR", "A plugin.", kind="repeat")),
        _unlisted(_value("--agents", "agents", "JSON", "More subagents, by name.")),
        _switch(
            "--bare",
            "bare",
            "Nothing of the project or yours: no memory files, hooks, skills or servers.",
        ),
    ),
    *_group(
        "Other",
        _switch(
            "--plain", "plain", "Converse line by line: for screen readers and simple terminals."
        ),
        _value("--cwd -C", "cwd", "DIR", "Work in this directory."),
        _switch("--verbose", "verbose", "Say on standard error what happens."),
        _value(
            "--debug -d",
            "debug",
            "[AREAS]",
            "Write a detailed log, of these areas: providers,tools or !tui.",
            kind="optional",
            more="areas",
        ),
        _switch("--help -h", "help", "Print this and exit."),
        _switch("--version -v -V", "version", "Print the version and exit."),
    ),
)

BY_NAME: Mapping[str, Flag] = {name: flag for flag in FLAGS for name in flag.spellings}
