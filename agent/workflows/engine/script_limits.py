"""What a script may use of this machine; beyond it the run fails with the limit's name."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """`heap_mb` is the setting `workflows.memoryMb`; seconds are of the processor.

    But for `patience`: a worker that has said nothing for so long is ended. A machine may be busy.
    """

    heap_mb: int = 64
    stack_kb: int = 512
    between_messages: float = 5.0
    whole_run: float = 60.0
    address_space_mb: int = 512
    patience: float = 120.0
