"""Combinations of flags that mean nothing, each with the sentence that says so."""

from __future__ import annotations

from gatewright.agent.launch.options import LaunchOptions
from gatewright.tools.system.patterns import later

ID = later(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def canonical_mode(name: str) -> str:
    """As modes are compared: without case, hyphens and underscores."""
    return name.strip().lower().replace("-", "").replace("_", "")


def check(options: LaunchOptions) -> str:
    """What is wrong with these options together, or an empty string."""
    return next((sentence for wrong, sentence in _contradictions(options) if wrong), "")


def _contradictions(o: LaunchOptions) -> tuple[tuple[bool, str], ...]:
    resumes = o.continue_session or o.resume is not None
    streams = o.output_format == "stream-json"
    return (
        (
            o.continue_session and o.resume is not None,
            "--continue and --resume contradict each other: give one of them.",
        ),
        (
            bool(o.session_id) and resumes and not o.fork_session,
            "--session-id names a new session; with --continue or --resume add --fork-session.",
        ),
        (
            bool(o.session_id) and not ID.fullmatch(o.session_id),
            "--session-id takes a UUID, as uuidgen prints one.",
        ),
        (
            o.fork_session and not resumes,
            "--fork-session needs a session to copy: add --continue or --resume.",
        ),
        (o.plain and o.print_mode, "--plain converses and --print does not: give one of them."),
        (
            o.input_format == "stream-json" and not streams,
            "--input-format stream-json needs --output-format stream-json.",
        ),
        (
            o.include_partial_messages and not streams,
            "--include-partial-messages needs --output-format stream-json.",
        ),
        (
            o.include_session_events and o.input_format != "stream-json",
            "--include-session-events needs --input-format stream-json.",
        ),
        (
            o.replay_user_messages and o.input_format != "stream-json",
            "--replay-user-messages needs --input-format stream-json.",
        ),
        (
            o.system_prompt is not None and bool(o.system_prompt_file),
            "--system-prompt and --system-prompt-file contradict each other: give one of them.",
        ),
        (
            bool(o.append_system_prompt) and bool(o.append_system_prompt_file),
            "--append-system-prompt and --append-system-prompt-file contradict each other: "
            "give one of them.",
        ),
        (bool(o.replay) and o.model not in ("", "demo"), "--replay works with --model demo only."),
        (
            o.auto_continue and canonical_mode(o.mode) not in ("", "autoinproject"),
            "--auto-continue works in the mode autoInProject: leave the other mode out.",
        ),
        (o.max_turns == 0, "--max-turns must be at least 1."),
        (o.max_budget_usd == 0, "--max-budget-usd must be above 0."),
        (
            o.setting_sources is not None
            and not set(o.setting_sources) <= {"user", "project", "local"},
            "--setting-sources takes a list of user, project and local.",
        ),
    )
