"""Everything that happens in a session, as past-tense facts in plain values.

The class says whether an event is kept (`durable`). The transcript, the model's history and the
screen are all folds over these; adding one needs a case in each fold, which the type checker finds.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from gatewright.agent.record.events_of_agents import AgentFinished, AgentProgressed, AgentStarted
from gatewright.agent.record.events_of_calls import (
    Answered,
    Asked,
    AutoChanged,
    CheckStarted,
    Decided,
    DiagnosticsTold,
    LanguageServerStarted,
    SkillInvoked,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
)
from gatewright.agent.record.events_of_past import (
    Cleared,
    Compacted,
    FileSaved,
    FilesRestored,
    ImagesDropped,
    ResultsCleared,
    Rewound,
    Snipped,
    TreeSaved,
)
from gatewright.agent.record.events_of_schedules import JobChanged
from gatewright.agent.record.events_of_sessions import (
    DirectoryAdded,
    EffortChanged,
    HookAnswered,
    HookRan,
    HooksSeen,
    HookStarted,
    InstructionsLoaded,
    ModeChanged,
    ModelChanged,
    Moved,
    Noticed,
    QueueChanged,
    SessionStarted,
    TasksChanged,
    TitleChanged,
    Unconfined,
    UnknownEvent,
    UsageChanged,
    WorktreeChanged,
)
from gatewright.agent.record.events_of_turns import (
    AssistantMessage,
    AttemptPaid,
    InputDelta,
    InputRefused,
    MessageDropped,
    MessageRedrawn,
    RequestQueued,
    RetryScheduled,
    StreamSilent,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from gatewright.agent.record.events_of_workflows import (
    UltracodeSwitched,
    WorkflowEnded,
    WorkflowProgressed,
    WorkflowStarted,
)

AnyEvent: TypeAlias = (
    SessionStarted
    | UserMessage
    | AssistantMessage
    | AttemptPaid
    | ToolStarted
    | ToolFinished
    | Asked
    | Answered
    | Decided
    | CheckStarted
    | AutoChanged
    | SkillInvoked
    | DiagnosticsTold
    | LanguageServerStarted
    | Compacted
    | Cleared
    | ResultsCleared
    | Snipped
    | ImagesDropped
    | Rewound
    | ModeChanged
    | ModelChanged
    | EffortChanged
    | TitleChanged
    | FileSaved
    | TreeSaved
    | FilesRestored
    | AgentStarted
    | AgentFinished
    | AgentProgressed
    | WorkflowStarted
    | WorkflowProgressed
    | WorkflowEnded
    | UltracodeSwitched
    | JobChanged
    | HookAnswered
    | HookRan
    | HookStarted
    | HooksSeen
    | Noticed
    | TurnStarted
    | TurnEnded
    | TextDelta
    | ThinkingDelta
    | InputDelta
    | InputRefused
    | MessageDropped
    | MessageRedrawn
    | InstructionsLoaded
    | DirectoryAdded
    | WorktreeChanged
    | ToolProgressed
    | UsageChanged
    | RetryScheduled
    | RequestQueued
    | StreamSilent
    | QueueChanged
    | Moved
    | Unconfined
    | TasksChanged
    | UnknownEvent
)


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """An event with its place: `seq` counts within the process, `parent` is the branch."""

    seq: int
    uuid: str
    parent: str
    timestamp: float
    agent: str
    event: AnyEvent
