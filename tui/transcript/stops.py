"""What to tell the person when a turn did not simply complete, with a way out."""

from __future__ import annotations

from gatewright.agent.turn.stop import Stop

_TOLD: dict[Stop, tuple[str, str]] = {
    Stop.MAX_TURNS: (
        "Stopped at the limit of steps for one turn. Send anything to go on.",
        "warning",
    ),
    Stop.BUDGET_EXHAUSTED: ("The budget of this session is used up.", "warning"),
    Stop.ABORTED_STREAMING: ("Interrupted. Say what to do instead.", "dim"),
    Stop.ABORTED_TOOLS: ("Interrupted. Say what to do instead.", "dim"),
    Stop.USER_REFUSED: ("Not run. Say what to do instead.", "dim"),
    Stop.HOOK_STOPPED: ("A hook stopped the turn.", "warning"),
    Stop.PROMPT_TOO_LONG: (
        "The conversation no longer fits the model. /clear begins anew.",
        "error",
    ),
    Stop.MODEL_ERROR: ("The model could not answer. Send the message again.", "error"),
    Stop.PROVIDER_AUTH: ("The model's service refused the key. Check it, then try again.", "error"),
    Stop.LOOP_GUARD: ("Stopped: the same call was repeated without progress.", "warning"),
    Stop.MALFORMED_TOOL_USE: ("The model sent calls that cannot be read. Try again.", "error"),
}


def explain(stop: Stop, message: str) -> tuple[str, str] | None:
    """Text and role for an ending, or None when there is nothing to say."""
    told = _TOLD.get(stop)
    if told is None:
        return (message, "dim") if message else None
    text, role = told
    return message or text, role
