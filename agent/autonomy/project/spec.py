"""The tool of a project's list as models see it."""

from __future__ import annotations

from gatewright.tools.protocol import ToolSpec

UPDATE = "FeatureUpdate"
SPEC = ToolSpec(
    UPDATE,
    "Say something of a feature of the project's list (.gatewright/project/features.json, which is "
    "never edited): a note with facts that later features need, or that it cannot be done and why. "
    "Done it becomes by its check and the verification alone.",
    {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "note": {"type": "string", "description": "Added to what is noted"},
            "state": {
                "enum": ["pending", "blocked"],
                "description": "pending only where the person asked for it",
            },
        },
        "required": ["id"],
        "additionalProperties": False,
    },
)
