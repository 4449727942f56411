"""The tools of autonomy as models see them."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.tools.protocol import ToolSpec

CREATE, LIST, DELETE, SLEEP = "CronCreate", "CronList", "CronDelete", "Sleep"
MONITOR = "Monitor"

_WHEN = {
    "cron": {
        "type": "string",
        "description": "Minute hour day month weekday in local time, or @hourly, @daily, @weekly, "
        "@monthly. Choose an odd minute over 0 where it does not matter.",
    },
    "at": {"type": "string", "description": "Once, at a local date and time: 2026-03-29T09:30"},
    "every": {
        "type": "string",
        "description": "So long after the end of the last run: 90s, 5m, 2h",
    },
}

SPECS: Sequence[ToolSpec] = (
    ToolSpec(
        CREATE,
        "Have a prompt come to you by the clock: exactly one of cron, at and every. It is a job of "
        "this session and runs while that is open; a durable one outlives it and asks the person. "
        "It runs between turns and without the person, so write a prompt that stands alone. "
        "Recurring jobs end after some days.",
        {
            "type": "object",
            "properties": {
                **_WHEN,
                "prompt": {"type": "string"},
                "recurring": {
                    "type": "boolean",
                    "description": "false: only the next slot of cron",
                },
                "durable": {"type": "boolean", "description": "Only where the person asked for it"},
                "name": {"type": "string", "description": "In 2-5 words"},
            },
            "required": ["prompt"],
            "additionalProperties": False,
        },
    ),
    ToolSpec(
        LIST,
        "The jobs here, when each runs next, and how the last runs ended.",
        {"type": "object", "properties": {}, "additionalProperties": False},
    ),
    ToolSpec(
        DELETE,
        "End a job: it never runs again.",
        {
            "type": "object",
            "properties": {"id": {"type": "string"}},
            "required": ["id"],
            "additionalProperties": False,
        },
    ),
    ToolSpec(
        SLEEP,
        "Wait, in place of a sleep in the shell. Up to 270 seconds this call waits and ends early "
        "when the person writes or something you wait for has ended. Longer, or until a time, it "
        "ends your turn and the reason comes back to you as a prompt then.",
        {
            "type": "object",
            "properties": {
                "seconds": {"type": "number"},
                "until": {"type": "string", "description": "A local date and time, instead"},
                "reason": {"type": "string", "description": "What to look at then"},
            },
            "required": ["reason"],
            "additionalProperties": False,
        },
    ),
    ToolSpec(
        MONITOR,
        "Watch a command: each line that it prints comes to you as a notice while you do other "
        "things or nothing. For logs, builds, a loop that polls "
        "(while sleep 30; do ...; done): print only what is worth a notice. It runs as Bash would.",
        {
            "type": "object",
            "properties": {
                "command": {"type": "string"},
                "description": {"type": "string", "description": "In 5-10 words"},
                "match": {
                    "type": "string",
                    "description": "Only lines in which this regular expression is found. It has "
                    "to fit failures too, or silence looks like success.",
                },
                "timeout": {"type": "number", "description": "Seconds: 300, 1800 at most"},
                "persistent": {"type": "boolean", "description": "As long as the session"},
            },
            "required": ["command", "description"],
            "additionalProperties": False,
        },
    ),
)
